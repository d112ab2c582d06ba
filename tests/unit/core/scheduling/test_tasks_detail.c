#include "core/scheduling/tasks/tasks_detail.h"

#include <criterion/criterion.h>
#include <math.h>

#include "base/rounding.h"
#include "core/scheduling/tasks/pigeon_layout.h"
#include "core/scheduling/tasks/tasks_explain.h"
#include "core/scheduling/tasks/tasks_policy.h"
#include "tasks_cases.h"

/* Three workers of one master, one of them reserved: two short tasks of 4 at 0, a long one of 10 at
 * 1, which waits until a general worker is free at 4. The third short one finds the reserved one idle
 * at 2. */
struct made {
    struct tasks_case one;
    struct arena kept;
    struct tasks_terms terms;
    struct tasks_comparison comparison;
    struct queue_lengths queues;
    struct job_distribution distributions[TASKS_CLASSES];
    struct tasks_detail detail;
    struct tasks_cell cell;
};

static const bool draws[] = {false};

static void make(struct made *made)
{
    static const double fours[] = {4, 4};
    static const double ten[] = {10};
    static const double three[] = {3};
    struct arena scratch;
    arena_init(&scratch, 0);
    arena_init(&made->kept, 0);
    tasks_case_init(&made->one, 3, 0);
    tasks_case_job(&made->one, 0, fours, 2);
    tasks_case_job(&made->one, 1, ten, 1)->is_long = true;
    tasks_case_job(&made->one, 2, three, 1);
    cr_assert_eq(tasks_model_complete(&made->one.model, &made->one.arena, NULL), PV_OK);
    made->terms = tasks_terms_default(TASKS_CENTRALISED);
    made->comparison =
        (struct tasks_comparison){.plan = {.n_policies = 1, .draws = draws, .repetitions = 1},
                                  .model = &made->one.model,
                                  .policies = &made->terms};
    made->detail =
        (struct tasks_detail){.queues = &made->queues, .distributions = made->distributions};
    made->cell = (struct tasks_cell){.detail = &made->detail};
    const struct policy_cell cell = {0, 0, 0};
    cr_assert_eq(tasks_comparison_run(&made->comparison, &cell, NULL, &scratch, &made->cell, NULL),
                 PV_OK);
    arena_fini(&scratch);
}

static void drop(struct made *made)
{
    tasks_case_fini(&made->one);
    arena_fini(&made->kept);
}

Test(tasks_detail, masters_by_hand)
{
    struct made made;
    make(&made);
    const struct tasks_masters_load *masters = &made.detail.masters;
    cr_expect_eq(masters->n, 1);
    cr_expect_eq(masters->shown[0].master, 0);
    /* Four tasks, three messages each, over 14 s. In the first second two arrive and are sent; from 4
     * on two workers are idle and the long task is sent. */
    cr_expect(rounding_equal(masters->shown[0].messages_per_s, 12.0 / 14));
    cr_expect(rounding_equal(masters->mean_messages_per_s, 12.0 / 14));
    cr_expect_eq(masters->shown[0].peak_messages_per_s, 4);
    cr_expect_eq(masters->reserved, 1);
    cr_expect(rounding_equal(masters->reserved_utilization, 3.0 / 14));
    drop(&made);
}

Test(tasks_detail, queues_and_distributions_by_hand)
{
    struct made made;
    double waiting_s[2] = {0, 0};
    double running_s[2] = {0, 0};
    make(&made);
    cr_assert(made.queues.n > 0 && made.queues.n <= QUEUE_BINS_MAX);
    for (uint32_t bin = 0; bin < made.queues.n; bin++) {
        double width_s = fmin(made.queues.bin_s, 14 - bin * made.queues.bin_s);
        for (int class = 0; class < 2; class ++) {
            waiting_s[class] += made.queues.waiting[class][bin] * width_s;
            running_s[class] += made.queues.running[class][bin] * width_s;
        }
    }
    cr_expect(rounding_equal(waiting_s[0], 0) && rounding_equal(waiting_s[1], 3));
    cr_expect(rounding_equal(running_s[0], 11) && rounding_equal(running_s[1], 10));
    cr_expect_eq(made.distributions[TASKS_ALL].jobs, 3);
    cr_expect_eq(made.distributions[TASKS_SHORT].jobs, 2);
    cr_expect_eq(made.distributions[TASKS_LONG].jobs, 1);
    cr_expect(rounding_equal(made.distributions[TASKS_SHORT].completion_s[25], 3.25));
    cr_expect(rounding_equal(made.distributions[TASKS_LONG].completion_s[0], 13));
    cr_expect(rounding_equal(made.distributions[TASKS_LONG].slowdown[101], 1.3));
    drop(&made);
}

Test(tasks_detail, policies_without_masters)
{
    struct made made;
    struct tasks_terms pigeon = tasks_terms_default(TASKS_PIGEON);
    struct tasks_terms sparrow = tasks_terms_default(TASKS_SPARROW);
    pigeon.groups = 7;
    cr_expect_eq(tasks_terms_masters(&pigeon), 7);
    cr_expect_eq(tasks_terms_masters(&sparrow), 0);
    make(&made);
    made.terms = sparrow;
    const struct policy_cell cell = {0, 0, 0};
    cr_assert_eq(tasks_comparison_run(&made.comparison, &cell, NULL, &made.kept, &made.cell, NULL),
                 PV_OK);
    cr_expect_eq(made.detail.masters.n, 0);
    drop(&made);
}

Test(tasks_detail, the_busiest_masters_are_shown)
{
    enum { MASTERS = 150 };
    struct tasks_master masters[MASTERS] = {{.messages = 0}};
    struct tasks_detail detail = {.queues = NULL};
    struct made made;
    make(&made);
    for (uint32_t m = 0; m < MASTERS; m++)
        masters[m] = (struct tasks_master){.messages = m < 75 ? m : 2 * m, .peak = m};
    const struct tasks_observation observation = {.observer = {.masters = masters},
                                                  .masters = MASTERS};
    struct tasks_result result;
    const struct trial trial = {1, 0};
    cr_assert_eq(tasks_simulate(&made.one.model, &made.terms, &trial, 0, NULL, &made.kept,
                                &made.kept, &result, NULL),
                 PV_OK);
    cr_assert_eq(
        tasks_detail_take(&observation, &made.one.model, &result, NULL, &made.kept, &detail, NULL),
        PV_OK);
    cr_expect_eq(detail.masters.n, MASTERS);
    cr_expect_eq(detail.masters.shown[0].master, 149);
    cr_expect_eq(detail.masters.shown[0].peak_messages_per_s, 149);
    cr_expect_eq(detail.masters.shown[MASTERS_SHOWN_MAX - 1].master, 50);
    cr_expect(rounding_equal(detail.masters.mean_messages_per_s,
                             (74 * 75 / 2 + 75 * (75 + 149)) / 14.0 / MASTERS));
    cr_expect(isnan(detail.masters.reserved_utilization));
    /* Of equal ones the first by number. */
    for (uint32_t m = 0; m < MASTERS; m++)
        masters[m] = (struct tasks_master){.messages = m % 3};
    cr_assert_eq(
        tasks_detail_take(&observation, &made.one.model, &result, NULL, &made.kept, &detail, NULL),
        PV_OK);
    for (uint32_t m = 0; m < MASTERS_SHOWN_MAX; m++)
        cr_expect_eq(detail.masters.shown[m].master, m < 50 ? 3 * m + 2 : 3 * (m - 50) + 1);
    drop(&made);
}

Test(tasks_detail, results_are_what_the_explanation_goes_by)
{
    struct made made;
    const struct strview names[] = {strview_of("central")};
    make(&made);
    const struct policy_load *load =
        tasks_comparison_conclude(&made.comparison, &made.cell, POLICY_SLOWDOWN_P95, &made.kept);
    const struct policy_results *results =
        tasks_results(&made.comparison, load, 0, POLICY_SLOWDOWN_P95, "short jobs", names, NULL,
                      SIZE_MAX, &made.kept);
    cr_assert_not_null(results);
    cr_expect_str_eq(results->of_jobs, "short jobs");
    cr_expect_str_eq(results->defaults, "reserved_share is 0.05 and weight 20");
    cr_expect(rounding_equal(results->at[0], 3.5), "the median of the short jobs");
    cr_expect(rounding_equal(results->at[4], 13), "that of the long ones");
    cr_expect(rounding_equal(results->at[8], 14), "the makespan");
    cr_expect_eq(results->masters.peak_messages_per_s, 4);
    cr_expect_eq(results->masters.reserved, 1);
    made.comparison.found = &made.terms;
    results = tasks_results(&made.comparison, load, 0, POLICY_SLOWDOWN_P95, "short jobs", names,
                            NULL, SIZE_MAX, &made.kept);
    cr_expect_str_eq(results->defaults, "", "of what a search has found none is by default");
    made.comparison.found = NULL;
    made.terms.weight = TASKS_WEIGHT_INFINITE;
    results = tasks_results(&made.comparison, load, 0, POLICY_SLOWDOWN_P95, "short jobs", names,
                            NULL, SIZE_MAX, &made.kept);
    cr_expect_str_eq(results->defaults, "");
    drop(&made);
}

/* Of a policy whose classes have shares and weights of their own, none is as by default. */
Test(tasks_detail, classes_of_its_own_have_no_default_terms)
{
    static const struct pigeon_class classes[] = {{0.25, 4}, {0, 1}};
    static const struct pigeon_layout layout = {.classes = classes, .n_classes = 2};
    struct made made;
    const struct strview names[] = {strview_of("pigeon")};
    make(&made);
    const struct policy_load *load =
        tasks_comparison_conclude(&made.comparison, &made.cell, POLICY_SLOWDOWN_P95, &made.kept);
    made.terms = tasks_terms_default(TASKS_PIGEON);
    const struct policy_results *results =
        tasks_results(&made.comparison, load, 0, POLICY_SLOWDOWN_P95, "short jobs", names, NULL,
                      SIZE_MAX, &made.kept);
    cr_expect_str_eq(results->defaults, "reserved_share is 0.05 and weight 20");
    made.terms.layout = &layout;
    results = tasks_results(&made.comparison, load, 0, POLICY_SLOWDOWN_P95, "short jobs", names,
                            NULL, SIZE_MAX, &made.kept);
    cr_expect_str_eq(results->defaults, "");
    drop(&made);
}

/* Long jobs: one of 13 seconds; all: 4, 13 and 3.5 at the scheduler. */
Test(tasks_detail, what_long_jobs_pay_is_a_mean)
{
    struct made made;
    const struct strview names[] = {strview_of("central")};
    make(&made);
    const struct policy_load *load =
        tasks_comparison_conclude(&made.comparison, &made.cell, POLICY_SLOWDOWN_P95, &made.kept);
    const struct policy_results *results =
        tasks_results(&made.comparison, load, 0, POLICY_SLOWDOWN_P95, "short jobs", names, NULL,
                      SIZE_MAX, &made.kept);
    cr_assert_eq(results->n_costs, 3);
    cr_expect(rounding_equal(results->costs_at[0], 13), "long jobs");
    cr_expect(rounding_equal(results->costs_at[1], (4 + 13 + 3) / 3.0), "all jobs");
    cr_expect(rounding_equal(results->costs_at[2], 14), "the makespan");
    drop(&made);
}

Test(tasks_detail, what_a_search_found_beside_what_it_tried)
{
    struct tasks_terms terms[3] = {tasks_terms_default(TASKS_PIGEON),
                                   tasks_terms_default(TASKS_PIGEON),
                                   tasks_terms_default(TASKS_EAGLE)};
    const struct tasks_tried tried = {.terms = terms, .n = 3};
    const struct tasks_model model = {.workers = 4};
    struct policy_search_rank ranks[] = {{.candidate = 1}, {.candidate = 0, .excess = 0.1}};
    const struct policy_search_found found = {.ranks = ranks, .n = 2};
    terms[1].groups = 4;
    terms[1].weight = TASKS_WEIGHT_INFINITE;
    terms[1].reserved_share = 0.2;
    struct policy_searched searched = tasks_searched(&model, &tried, &found, 0.05);
    cr_expect_str_eq(searched.terms, "pigeon, groups 4, reserved_share 0.2, weight infinite");
    cr_assert_eq(searched.n_edges, 1, "neither more groups than workers nor more than infinite");
    cr_expect(searched.edges[0].largest);
    cr_expect_str_eq(searched.edges[0].term, "reserved_share");
    ranks[1].excess = 0;
    cr_expect_eq(tasks_searched(&model, &tried, &found, 0.05).n_edges, 0,
                 "another share does as well");
    ranks[0].candidate = 2;
    searched = tasks_searched(&model, &tried, &found, 0.05);
    cr_expect_str_eq(searched.terms, "eagle, reserved_share 0.1, probes_per_task 2");
    cr_expect_eq(searched.n_edges, 0, "nothing else was tried of it");
}
