#include "core/scheduling/slots/fresh.h"
#include "core/scheduling/slots/slots_detail.h"

#include <criterion/criterion.h>
#include <math.h>

#include "base/rounding.h"
#include "core/scheduling/slots/slots_explain.h"

/* Two jobs of one map slot each, 2 s and 8 s, and one of 100 s that has both a map and a reduce. */
enum { JOBS = 3 };

static const struct slots_tasks two = {2, 1};
static const struct slots_tasks eight = {8, 1};
static const struct slots_tasks sixty = {60, 1};
static const struct slots_tasks forty = {40, 1};
static const struct slots_job jobs[JOBS] = {
    {.arrival_s = 10, .task_lists = {{&two, 1}, {NULL, 0}}, .predicted_size_s = NAN},
    {.arrival_s = 10, .task_lists = {{&eight, 1}, {NULL, 0}}, .predicted_size_s = NAN},
    {.arrival_s = 10, .task_lists = {{&sixty, 1}, {&forty, 1}}, .predicted_size_s = NAN}};
static const bool draws[2] = {false, false};
static struct slots_terms policies[2] = {{.policy = &slots_policy_fifo},
                                         {.policy = &slots_policy_fair}};

struct made {
    struct arena arena;
    struct slots_comparison comparison;
    double runtime_s[JOBS];
    struct slots_detail details[2];
    struct queue_lengths queues;
    struct job_distribution distribution;
    struct slots_cell cells[2];
    const struct policy_load *load;
};

static void make(struct made *made)
{
    const struct policy_cell cells[2] = {{0, 0, 0}, {0, 1, 0}};
    struct arena scratch;
    arena_init(&made->arena, 0);
    arena_init(&scratch, 0);
    made->comparison =
        (struct slots_comparison){.plan = {.n_policies = 2, .draws = draws, .repetitions = 1},
                                  .cluster = {.slots = {1, 1}, .slow_start = 1},
                                  .jobs = jobs,
                                  .n_jobs = JOBS,
                                  .policies = policies,
                                  .runtime_s = made->runtime_s};
    cr_assert_eq(slots_comparison_complete(&made->comparison, &made->arena, NULL), PV_OK);
    cr_assert_eq(slots_runtimes_alone(&made->comparison.cluster, jobs, JOBS, NULL, &scratch,
                                      made->runtime_s, NULL),
                 PV_OK);
    made->details[0] =
        (struct slots_detail){.queues = &made->queues, .distribution = &made->distribution};
    made->details[1] = (struct slots_detail){.n_classes = 0};
    for (size_t i = 0; i < 2; i++) {
        made->cells[i] = (struct slots_cell){.detail = &made->details[i]};
        cr_assert_eq(slots_comparison_run(&made->comparison, &cells[i], NULL, &scratch,
                                          &made->cells[i], NULL),
                     PV_OK);
    }
    made->load = slots_comparison_conclude(&made->comparison, made->cells, POLICY_SLOWDOWN_P95,
                                           &made->arena);
    cr_assert_not_null(made->load);
    arena_fini(&scratch);
}

/* Under fifo they end 2, 10 and 110 s after they arrive: slowdowns 1, 10/8 and 1.1. */
Test(slots_detail, classes_and_distributions_by_hand)
{
    struct made made;
    make(&made);
    const struct slots_detail *detail = &made.details[0];
    cr_assert_eq(detail->n_classes, 3);
    cr_expect(rounding_equal(detail->classes[0].mean, 1));
    cr_expect(rounding_equal(detail->classes[1].mean, 1.25));
    cr_expect(rounding_equal(detail->classes[2].mean, 1.1));
    cr_expect(rounding_equal(detail->classes[2].work_share, 100.0 / 110));
    cr_expect_eq(made.distribution.jobs, 3);
    cr_expect_eq(job_distribution_percent(99), 99);
    cr_expect_eq(job_distribution_percent(100), 99.9);
    cr_expect_eq(job_distribution_percent(101), 100);
    cr_expect(rounding_equal(made.distribution.completion_s[0], 2));
    cr_expect(rounding_equal(made.distribution.completion_s[50], 10));
    cr_expect(rounding_equal(made.distribution.completion_s[75], 60));
    cr_expect(rounding_equal(made.distribution.completion_s[100], 10 + 0.998 * 100));
    cr_expect(rounding_equal(made.distribution.completion_s[101], 110));
    cr_expect(rounding_equal(job_distribution_variability(&made.distribution, 50), 1));
    cr_expect(rounding_equal(job_distribution_variability(&made.distribution, 90), 1.22 / 1.1));
    arena_fini(&made.arena);
}

/* Maps wait 2 + 10 task seconds, the reduce 70 until the last map has ended. */
Test(slots_detail, queues_by_hand)
{
    struct made made;
    double waiting_s[2] = {0, 0};
    double running_s[2] = {0, 0};
    make(&made);
    cr_expect_eq(made.queues.start_s, 10);
    cr_assert(made.queues.n > 0 && made.queues.n <= QUEUE_BINS_MAX);
    for (uint32_t bin = 0; bin < made.queues.n; bin++) {
        double from_s = bin * made.queues.bin_s;
        double width_s = fmin(made.queues.bin_s, 110 - from_s);
        for (int kind = 0; kind < 2; kind++) {
            waiting_s[kind] += made.queues.waiting[kind][bin] * width_s;
            running_s[kind] += made.queues.running[kind][bin] * width_s;
        }
    }
    cr_expect(rounding_equal(waiting_s[SLOTS_MAP], 2 + 10));
    cr_expect(rounding_equal(waiting_s[SLOTS_REDUCE], 70));
    cr_expect(rounding_equal(running_s[SLOTS_MAP], 70));
    cr_expect(rounding_equal(running_s[SLOTS_REDUCE], 40));
    arena_fini(&made.arena);
}

Test(slots_detail, the_largest_jobs_with_half_of_the_work_are_large)
{
    const struct slowdown_class classes[] = {{.count = 8, .mean = 2, .work_share = 0.2},
                                             {.count = 2, .mean = 7, .work_share = 0.35},
                                             {.count = 1, .mean = 1, .work_share = 0.45}};
    struct slots_size_slowdown both = slots_size_slowdown_of(classes, 3);
    cr_expect_eq(both.small, 2);
    cr_expect_eq(both.large, 5);
    cr_expect(isnan(slots_size_slowdown_of(classes + 2, 1).small));
    cr_expect_eq(slots_size_slowdown_of(classes + 2, 1).large, 1);
    cr_expect(isnan(slots_size_slowdown_of(classes, 0).large));
}

Test(slots_detail, results_are_what_the_explanation_goes_by)
{
    struct made made;
    const struct strview names[] = {strview_of("fifo"), strview_of("fair")};
    make(&made);
    const struct policy_results *results = slots_results(
        &made.comparison, made.load, 0, POLICY_SLOWDOWN_P95, names, NULL, SIZE_MAX, &made.arena);
    cr_assert_not_null(results);
    cr_expect(isnan(results->load) && !results->drawn_once && results->defaults[0] == '\0');
    cr_expect(rounding_equal(results->at[0], 10), "the median of the completion times");
    cr_expect(rounding_equal(results->at[4], 1.125), "small jobs");
    cr_expect(rounding_equal(results->at[5], 1.1), "large ones");
    cr_expect(rounding_equal(results->at[6], 110), "the makespan");
    cr_expect(rounding_equal(results->slowest[0], 1.1 + 0.98 * 0.15));
    arena_fini(&made.arena);
}

Test(slots_detail, usual_terms_are_said)
{
    struct slots_terms usual = {
        .policy = &slots_policy_fresh, .concurrency = 1, .tau1 = FRESH_TAU1, .tau2 = FRESH_TAU2};
    struct made made;
    const struct strview names[] = {strview_of("fresh"), strview_of("fair")};
    make(&made);
    made.comparison.policies = &usual;
    struct policy_load load = *made.load;
    load.choice.best = 0;
    const struct policy_results *results = slots_results(
        &made.comparison, &load, 0, POLICY_SLOWDOWN_P95, names, NULL, SIZE_MAX, &made.arena);
    cr_expect_str_eq(results->defaults, "tau1 is 0.8 and tau2 0.6");
    usual.tau2 = 1;
    results = slots_results(&made.comparison, &load, 0, POLICY_SLOWDOWN_P95, names, NULL, SIZE_MAX,
                            &made.arena);
    cr_expect_str_eq(results->defaults, "");
    arena_fini(&made.arena);
}

Test(slots_detail, what_a_search_found_beside_what_it_tried)
{
    struct slots_terms terms[] = {{.policy = &slots_policy_fair, .concurrency = 0},
                                  {.policy = &slots_policy_fair, .concurrency = 2},
                                  {.policy = &slots_policy_fair, .concurrency = 4},
                                  {.policy = &slots_policy_fbq, .n_limits = 1},
                                  {.policy = &slots_policy_fbq, .n_limits = 4}};
    const struct slots_tried tried = {.terms = terms, .n = 5};
    struct slots_family family = {.policy = SLOTS_FBQ};
    struct policy_search_rank rank = {.candidate = 1};
    const struct policy_search_found found = {.ranks = &rank, .n = 1};
    struct policy_searched searched = slots_searched(&tried, &family, 1, &found, 0.05);
    cr_expect_str_eq(searched.terms, "fair, concurrency 2");
    cr_assert_eq(searched.n_edges, 1);
    cr_expect(!searched.edges[0].largest);
    rank.candidate = 2;
    cr_expect_eq(slots_searched(&tried, &family, 1, &found, 0.05).n_edges, 0, "0 is any number");
    rank.candidate = 0;
    searched = slots_searched(&tried, &family, 1, &found, 0.05);
    cr_expect_str_eq(searched.terms, "fair");
    rank.candidate = 4;
    searched = slots_searched(&tried, &family, 1, &found, 0.05);
    cr_expect_str_eq(searched.terms, "fbq, queues 5");
    cr_assert_eq(searched.n_edges, 1);
    cr_expect(searched.edges[0].largest);
    family.n_limits_s = 2;
    cr_expect_eq(slots_searched(&tried, &family, 1, &found, 0.05).n_edges, 0,
                 "more cannot be listed beside limits");
}
