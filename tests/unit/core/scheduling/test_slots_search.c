#include "core/scheduling/slots/slots_search.h"

#include <criterion/criterion.h>
#include <math.h>

#include "core/scheduling/slots/slots_cuts.h"
#include "core/scheduling/slots/slots_engine.h"

static const double sizes[] = {1, 2, 3, 4, 10, 20, 60};
enum { JOBS = sizeof sizes / sizeof *sizes };
static const struct slots_sizes ascending = {sizes, JOBS};

/* --- cuts --- */

Test(slots_cuts, of_equal_work_leave_every_queue_as_much)
{
    double cuts[3];
    double shares[4];
    /* By size: 1 + 2 + 3 + 4 + 10 = 20 of 100 and 20 more are below half, 60 are the rest. */
    cr_assert(slots_cuts_make(&ascending, true, SLOTS_CUT_EQUAL_WORK, 4, cuts));
    slots_cuts_shares(&ascending, true, cuts, 4, shares);
    for (size_t k = 0; k < 4; k++)
        cr_expect_float_eq(shares[k], 0.25, 1e-3, "%zu: %g", k, shares[k]);
}

Test(slots_cuts, work_falls_to_queues_by_size_or_by_service)
{
    const double cuts[] = {4, 20};
    double shares[3];
    slots_cuts_shares(&ascending, false, cuts, 3, shares);
    cr_expect_float_eq(shares[0], 0.10, 1e-12);
    cr_expect_float_eq(shares[1], 0.30, 1e-12);
    cr_expect_float_eq(shares[2], 0.60, 1e-12);
    slots_cuts_shares(&ascending, true, cuts, 3, shares);
    cr_expect_float_eq(shares[0], (1 + 2 + 3 + 4 * 4) / 100., 1e-12);
    cr_expect_float_eq(shares[1], (6 + 16 + 16) / 100., 1e-12);
    cr_expect_float_eq(shares[2], 40 / 100., 1e-12);
}

Test(slots_cuts, rise_below_the_largest_size_or_are_none)
{
    static const double same[] = {5, 5, 5};
    const struct slots_sizes equal = {same, 3};
    double cuts[4];
    for (size_t queues = 2; queues <= 5; queues++)
        for (int rule = 0; rule < SLOTS_CUT_RULES; rule++)
            for (int through = 0; through < 2; through++) {
                bool made = slots_cuts_make(&ascending, through != 0, (enum slots_cut_rule)rule,
                                            queues, cuts);
                for (size_t k = 0; made && k + 1 < queues; k++)
                    cr_expect(cuts[k] > (k > 0 ? cuts[k - 1] : 0) && cuts[k] < 60);
                made =
                    slots_cuts_make(&equal, through != 0, (enum slots_cut_rule)rule, queues, cuts);
                /* Jobs that are all alike may have service cut, but are of one size. */
                cr_expect_eq(made, through != 0 && rule == SLOTS_CUT_EQUAL_WORK);
            }
    cr_assert(slots_cuts_make(&ascending, false, SLOTS_CUT_GEOMETRIC, 3, cuts));
    cr_expect_float_eq(cuts[0], cbrt(60), 1e-3);
    cr_expect_float_eq(cuts[1], cbrt(3600), 1e-2);
    cr_assert(slots_cuts_make(&ascending, false, SLOTS_CUT_EQUAL_JOBS, 2, cuts));
    cr_expect_eq(cuts[0], 4);
}

Test(slots_cuts, partitions_add_up_to_1_and_leave_something_to_all)
{
    static const double work[] = {0, 0.0004, 0.3333333, 0.6662667};
    double partitions[4] = {0};
    for (double even = 0; even <= 1; even += 0.25) {
        double sum = 0;
        slots_cuts_partitions(work, 4, even, partitions);
        for (size_t k = 0; k < 4; k++) {
            cr_expect_geq(partitions[k], 0.01);
            sum += partitions[k];
        }
        cr_expect_float_eq(sum, 1, 1e-12);
    }
    for (size_t k = 0; k < 4; k++)
        cr_expect_float_eq(partitions[k], 0.25, 1e-12);
}

/* --- candidates --- */

static struct slots_job jobs[JOBS];
static struct slots_tasks tasks[JOBS];

static void make_jobs(void)
{
    for (size_t i = 0; i < JOBS; i++) {
        tasks[i] = (struct slots_tasks){sizes[JOBS - 1 - i], 1};
        jobs[i] = (struct slots_job){.predicted_size_s = (double)NAN};
        jobs[i].task_lists[SLOTS_MAP] = (struct slots_task_list){&tasks[i], 1};
    }
}

static struct slots_tried
candidates(const struct slots_family families[], size_t n, size_t slots, struct arena *arena)
{
    const struct slots_cluster cluster = {.slots = {slots, 0}, .slow_start = 1};
    struct slots_tried tried;
    make_jobs();
    cr_assert_eq(
        slots_search_candidates(&cluster, jobs, JOBS, families, n, 256, arena, &tried, NULL),
        PV_OK);
    return tried;
}

Test(slots_search, all_that_is_tried_can_be_simulated_and_differs)
{
    static const struct slots_family families[] = {{.policy = SLOTS_FIFO}, {.policy = SLOTS_FAIR},
                                                   {.policy = SLOTS_FBQ},  {.policy = SLOTS_TAGS},
                                                   {.policy = SLOTS_SITA}, {.policy = SLOTS_COMP}};
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t slots = 1; slots < 30; slots += 7) {
        const struct slots_cluster cluster = {.slots = {slots, 0}, .slow_start = 1};
        struct slots_tried tried = candidates(families, 6, slots, &arena);
        size_t of_policy[SLOTS_POLICIES] = {0};
        for (size_t i = 0; i < tried.n; i++) {
            struct slots_job_times times[JOBS];
            size_t p = 0;
            while (slots_policies[p] != tried.terms[i].policy)
                p++;
            of_policy[p]++;
            cr_assert_eq(
                slots_simulate(&cluster, jobs, JOBS, &tried.terms[i], NULL, &arena, times, NULL),
                PV_OK);
        }
        cr_expect_eq(of_policy[SLOTS_FIFO], 1);
        cr_expect_eq(of_policy[SLOTS_FAIR], 4); /* any number of jobs, 1, 2 and 4 of 7 */
        cr_expect_eq(of_policy[SLOTS_COMP], 4);
        cr_expect_geq(of_policy[SLOTS_FBQ], 12);
        cr_expect_eq(of_policy[SLOTS_SITA] > 0, slots > 1);
        cr_expect_eq(tried.left_out > 0, slots < 5);
    }
    arena_fini(&arena);
}

/* What is found is no worse than what it is compared with, where the search chooses the values. */
Test(slots_search, compared_policies_are_candidates_of_families_without_lists)
{
    static const double limits[] = {7.5};
    static const uint64_t two[] = {2};
    const struct slots_terms compared[] = {
        {.policy = &slots_policy_fbq, .limits_s = limits, .n_limits = 1},
        {.policy = &slots_policy_fair, .concurrency = 2}};
    struct slots_family family = {.policy = SLOTS_FBQ};
    struct slots_tried tried;
    struct arena arena;
    arena_init(&arena, 0);
    size_t without = candidates(&family, 1, 8, &arena).n;
    family.compared = compared;
    family.n_compared = 2;
    tried = candidates(&family, 1, 8, &arena);
    cr_assert_eq(tried.n, without + 1);
    cr_expect(tried.terms[without].n_limits == 1 && tried.terms[without].limits_s[0] == 7.5);
    const struct slots_cluster cluster = {.slots = {8, 0}, .slow_start = 1};
    cr_assert_eq(
        slots_search_candidates(&cluster, jobs, JOBS, &family, 1, without, &arena, &tried, NULL),
        PV_OK);
    cr_expect(tried.n == without && tried.left_out == 1);
    family.queues = two;
    family.n_queues = 1;
    tried = candidates(&family, 1, 8, &arena);
    for (size_t i = 0; i < tried.n; i++)
        cr_expect_neq(tried.terms[i].limits_s[0], 7.5);
    arena_fini(&arena);
}

/* Service of queues begins anew, sizes do not. */
Test(slots_search, limits_are_those_of_cuts)
{
    static const uint64_t three[] = {3};
    static const struct slots_family families[] = {
        {.policy = SLOTS_FBQ, .queues = three, .n_queues = 1},
        {.policy = SLOTS_SITA, .queues = three, .n_queues = 1}};
    struct arena arena;
    double cuts[2];
    arena_init(&arena, 0);
    struct slots_tried tried = candidates(families, 2, 100, &arena);
    cr_assert(slots_cuts_make(&ascending, true, SLOTS_CUT_EQUAL_WORK, 3, cuts));
    cr_expect_eq(tried.terms[0].policy, &slots_policy_fbq);
    cr_expect_eq(tried.terms[0].limits_s[0], cuts[0]);
    cr_expect_float_eq(tried.terms[0].limits_s[0] + tried.terms[0].limits_s[1], cuts[1], 1e-12);
    for (size_t i = 0; i < tried.n; i++)
        if (tried.terms[i].policy == &slots_policy_sita) {
            cr_expect_lt(tried.terms[i].limits_s[0], tried.terms[i].limits_s[1]);
            cr_expect_eq(tried.terms[i].n_limits, 2);
        }
    arena_fini(&arena);
}

Test(slots_search, given_values_are_combined)
{
    static const double one[] = {5};
    static const double two[] = {5, 20};
    static const double halves[] = {0.5, 0.5};
    static const double uneven[] = {0.1, 0.9};
    static const struct slots_values limits[] = {{one, 1}, {two, 2}};
    static const struct slots_values partitions[] = {{halves, 2}, {uneven, 2}};
    static const struct slots_family family = {.policy = SLOTS_TAGS,
                                               .limits_s = limits,
                                               .n_limits_s = 2,
                                               .partitions = partitions,
                                               .n_partitions = 2};
    struct arena arena;
    arena_init(&arena, 0);
    struct slots_tried tried = candidates(&family, 1, 100, &arena);
    /* Both partitions with one limit; with two some that suit. */
    cr_expect_eq(tried.n, 2 + 3);
    cr_expect_eq(tried.terms[0].partitions, halves);
    cr_expect_eq(tried.terms[1].partitions, uneven);
    for (size_t i = 2; i < 5; i++)
        cr_expect_eq(tried.terms[i].limits_s, two);
    struct slots_tried few;
    const struct slots_cluster cluster = {.slots = {100, 0}, .slow_start = 1};
    cr_expect_eq(slots_search_candidates(&cluster, jobs, JOBS, &family, 1, 4, &arena, &few, NULL),
                 PV_E_LIMIT);
    arena_fini(&arena);
}

/* What a simulation counts for beside its tasks: an incident may change all that its node has slots for,
 * when it begins and when it ends, and does so of however few jobs. */
Test(slots_search, incidents_and_the_network_count)
{
    static const struct slots_node nodes[] = {{.slots = {4, 1}, .speed = 1}};
    static const struct slots_incident incidents[] = {
        {.at_s = 1, .until_s = 2, .speed_factor = 0.5},
        {.at_s = 3, .until_s = 4, .speed_factor = 0.5},
        {.at_s = 5, .until_s = 6, .down = true}};
    const struct slots_tried tried = {.n = 2};
    struct slots_comparison comparison = {.cluster = {.slots = {4, 1},
                                                      .nodes = nodes,
                                                      .n_nodes = 1,
                                                      .incidents = incidents,
                                                      .n_incidents = 3},
                                          .n_jobs = 1,
                                          .tasks = 100,
                                          .network_tasks = 50};
    static const struct slots_tasks hundred = {1, 100};
    const struct slots_job job = {.task_lists = {{&hundred, 1}, {NULL, 0}}};
    const uint32_t order[] = {0};
    struct policy_search_plan plan;
    struct arena arena;
    arena_init(&arena, 0);
    comparison.jobs = &job;
    comparison.order = order;
    cr_assert(slots_search_plan(&comparison, &tried, &arena, &plan));
    for (size_t i = 0; i < tried.n; i++) {
        cr_expect_eq(plan.setup[i], 3 * 2 * 5);
        cr_expect_eq(plan.weight[i], 1.5);
        cr_expect_eq(policy_search_price(&plan, i, 1), 30 + 150);
    }
    arena_fini(&arena);
}
