#include <criterion/criterion.h>
#include <math.h>

#include "core/deadline/clairvoyant_edf.h"
#include "edf_cases.h"

static struct arena scratch;
static struct arena results;

static void set_up(void)
{
    arena_init(&scratch, 0);
    arena_init(&results, 0);
}

static void tear_down(void)
{
    arena_fini(&scratch);
    arena_fini(&results);
}

TestSuite(edf_remedies, .init = set_up, .fini = tear_down, .timeout = 60);

static bool all_met(const struct edf_job jobs[], size_t n, size_t cores)
{
    struct edf_outcome outcomes[64];
    struct edf_metrics metrics;
    cr_assert_leq(n, 64);
    cr_assert_eq(edf_schedule(jobs, n, cores, &scratch, outcomes, &metrics, NULL, NULL), PV_OK);
    return metrics.delayed == 0;
}

static struct edf_remedies
find(const struct edf_job jobs[], size_t n, size_t cores, uint64_t budget)
{
    struct edf_remedies remedies;
    cr_assert_eq(edf_find_remedies(jobs, n, cores, budget, &results, &scratch, &remedies, NULL),
                 PV_OK);
    cr_assert_null(scratch.head, "scratch is back at its mark");
    return remedies;
}

/* Against trying every K there is: the least that meets all, and none where none does. Deadlines
 * with every digit, so that the bound is tried where rounding matters, and whole ones, where many
 * bounds are exact. */
Test(edf_remedies, min_total_cores_is_the_least_of_all)
{
    struct numbers numbers = {11};
    size_t found = 0;
    for (size_t round = 0; round < 6000; round++) {
        struct edf_case c;
        edf_case_make(&c, &numbers, round % 2 == 1);
        if (round % 3 == 0)
            edf_case_delay(&c, &numbers, round % 2 == 1);
        size_t least = 1;
        while (least <= c.tasks && !all_met(c.jobs, c.n, least))
            least++;
        struct edf_remedies remedies = find(c.jobs, c.n, 1, UINT64_MAX);
        cr_assert(remedies.exact);
        bool possible = least <= c.tasks || all_met(c.jobs, c.n, c.tasks + 1);
        cr_assert_eq(remedies.has_min_total_cores, possible, "round %zu", round);
        if (possible)
            cr_assert_eq(remedies.min_total_cores, least, "round %zu: %zu, least is %zu", round,
                         remedies.min_total_cores, least);
        found += possible && least > 1;
    }
    cr_assert_gt(found, 500, "the cases hardly try the search");
}

/* Deadlines equal to the critical path or to an exact number of rounds, at releases where doubles
 * are coarse: the bound must not overtake a schedule that rounding lets just fit. */
Test(edf_remedies, the_bound_survives_rounding)
{
    struct numbers numbers = {12};
    for (size_t round = 0; round < 3000; round++) {
        struct edf_case c;
        edf_case_make(&c, &numbers, true);
        if (round % 2 == 0)
            edf_case_delay(&c, &numbers, true);
        for (size_t j = 0; j < c.n; j++)
            c.jobs[j].release_s += round % 3 == 0 ? 1.7e9 : round % 3 == 1 ? 0.1 : 0;
        struct edf_outcome outcomes[CASE_JOBS];
        size_t cores = 1 + numbers_below(&numbers, 4);
        cr_assert_eq(edf_schedule(c.jobs, c.n, cores, &scratch, outcomes, NULL, NULL, NULL), PV_OK);
        for (size_t j = 0; j < c.n; j++)
            c.jobs[j].deadline_s = fmax(1e-9, outcomes[j].execution_s);
        size_t least = 1;
        while (!all_met(c.jobs, c.n, least) && least <= c.tasks)
            least++;
        struct edf_remedies remedies = find(c.jobs, c.n, 1, UINT64_MAX);
        bool possible = all_met(c.jobs, c.n, least);
        cr_assert_eq(remedies.has_min_total_cores, possible, "round %zu", round);
        cr_assert(!possible || remedies.min_total_cores == least, "round %zu: %zu, least is %zu",
                  round, remedies.min_total_cores, least);
    }
}

/* As many additions on the way to an instant as there are tasks: with one core the last of them ends
 * earlier in doubles than its work takes, and the deadline is that instant. */
Test(edf_remedies, the_bound_survives_the_rounding_of_many_tasks)
{
    enum { TASKS = 300000 };
    size_t tried = 0;
    for (int tenths = 1; tenths < 100; tenths++) {
        double end_s = 0;
        struct edf_stage stage = {.tasks = TASKS, .task_duration_s = 0.1 * tenths};
        for (size_t t = 0; t < TASKS; t++)
            end_s += stage.task_duration_s;
        if (!(end_s < stage.task_duration_s * TASKS * (1 - 4e-12)))
            continue;
        struct edf_job job = {.deadline_s = end_s, .stages = &stage, .n_stages = 1};
        cr_assert(all_met(&job, 1, 1), "%g s", stage.task_duration_s);
        struct edf_remedies remedies = find(&job, 1, 1, UINT64_MAX);
        cr_assert(remedies.has_min_total_cores && remedies.min_total_cores == 1, "%g s: %zu cores",
                  stage.task_duration_s, remedies.min_total_cores);
        if (++tried == 3)
            break;
    }
    cr_assert_gt(tried, 0, "no duration whose sum is rounded down");
}

/* Whole seconds are exact at any instant: the same jobs at an epoch have the same remedies. */
Test(edf_remedies, the_instant_of_the_request_does_not_matter)
{
    struct numbers numbers = {16};
    for (size_t round = 0; round < 2000; round++) {
        struct edf_case c;
        edf_case_make(&c, &numbers, false);
        if (round % 2 == 0)
            edf_case_delay(&c, &numbers, false);
        const size_t cores = 1 + numbers_below(&numbers, 3);
        const struct edf_remedies here = find(c.jobs, c.n, cores, UINT64_MAX);
        for (size_t j = 0; j < c.n; j++)
            c.jobs[j].release_s += 1.7e9;
        const struct edf_remedies there = find(c.jobs, c.n, cores, UINT64_MAX);
        cr_assert(here.has_min_total_cores == there.has_min_total_cores &&
                      here.min_total_cores == there.min_total_cores,
                  "round %zu", round);
        for (size_t j = 0; j < c.n; j++)
            cr_assert(here.deadlines_s[j] == there.deadlines_s[j] ||
                          (isnan(here.deadlines_s[j]) && isnan(there.deadlines_s[j])),
                      "round %zu", round);
    }
}

static bool met_after(struct edf_case *c, size_t cores, const struct edf_remedies *remedies)
{
    for (size_t j = 0; j < c->n; j++) {
        double raised = remedies->deadlines_s[j];
        cr_assert(isnan(raised) || raised > c->jobs[j].deadline_s, "a deadline was not raised");
        if (!isnan(raised))
            c->jobs[j].deadline_s = raised;
    }
    return all_met(c->jobs, c->n, cores);
}

/* The raised deadlines are met together on the cores there are; nothing is raised that need not
 * be. With a budget that is cut short too, whatever the budget. */
Test(edf_remedies, raised_deadlines_are_met)
{
    struct numbers numbers = {13};
    size_t cut = 0;
    for (size_t round = 0; round < 6000; round++) {
        struct edf_case c;
        edf_case_make(&c, &numbers, round % 2 == 1);
        if (round % 5 < 2)
            edf_case_delay(&c, &numbers, round % 2 == 1);
        size_t cores = 1 + numbers_below(&numbers, 3);
        bool feasible = all_met(c.jobs, c.n, cores);
        uint64_t budget = round % 3 == 0 ? numbers_below(&numbers, 40) : UINT64_MAX;
        struct edf_remedies remedies = find(c.jobs, c.n, cores, budget);
        cr_assert(remedies.exact || budget < UINT64_MAX);
        for (size_t j = 0; feasible && j < c.n; j++)
            cr_assert(isnan(remedies.deadlines_s[j]));
        cut += !remedies.exact;
        cr_assert(met_after(&c, cores, &remedies), "round %zu", round);
    }
    cr_assert_gt(cut, 100, "the cases hardly cut the budget");
}

/* By hand, two rounds. On one core A (deadline 4) runs 0-3, B (5) 3-8, C (7) 8-10: B and C are
 * late, their deadlines become 8 and 10. All three are met then: A 3, B 8, C 10. Cores: A, B and C
 * need 3 + 5 + 2 seconds by 7; B alone 5 by 5: with 2 cores B starts at 0. */
Test(edf_remedies, by_hand)
{
    struct edf_stage stages[] = {{.tasks = 1, .task_duration_s = 3},
                                 {.tasks = 1, .task_duration_s = 5},
                                 {.tasks = 1, .task_duration_s = 2}};
    struct edf_job jobs[] = {{.deadline_s = 4, .stages = &stages[0], .n_stages = 1},
                             {.deadline_s = 5, .stages = &stages[1], .n_stages = 1},
                             {.deadline_s = 7, .stages = &stages[2], .n_stages = 1}};
    struct edf_remedies remedies = find(jobs, 3, 1, UINT64_MAX);
    cr_assert(isnan(remedies.deadlines_s[0]));
    cr_assert_eq(remedies.deadlines_s[1], 8);
    cr_assert_eq(remedies.deadlines_s[2], 10);
    cr_assert_eq(remedies.min_total_cores, 2);
    cr_assert(remedies.exact);
}

/* Start-up of 5 s, two tasks of 4 s on one core, 2 s of the driver, one task of 3 s, and 1 s of the
 * driver at the end: 5 + 8 + 2 + 3 + 1 = 19 s on one core, 15 s on two. */
Test(edf_remedies, delays_are_part_of_the_job)
{
    const size_t first[] = {0}, second[] = {1};
    const struct edf_stage stages[] = {
        {.id = 0, .tasks = 2, .task_duration_s = 4, .delay_s = 5},
        {.id = 1, .parents = first, .n_parents = 1, .tasks = 1, .task_duration_s = 3, .delay_s = 2},
        {.id = 2, .parents = second, .n_parents = 1, .delay_s = 1}};
    struct edf_job job = {.deadline_s = 16, .stages = stages, .n_stages = 3};
    struct edf_outcome outcome;
    struct edf_remedies remedies = find(&job, 1, 1, UINT64_MAX);
    cr_assert_eq(edf_schedule(&job, 1, 1, &scratch, &outcome, NULL, NULL, NULL), PV_OK);
    cr_assert_eq(outcome.execution_s, 19);
    cr_assert(remedies.has_min_total_cores && remedies.min_total_cores == 2);
    cr_assert(remedies.deadlines_s[0] == 19 && remedies.too_long == 1);
    job.deadline_s = 14;
    remedies = find(&job, 1, 1, UINT64_MAX);
    cr_assert(!remedies.has_min_total_cores && remedies.exact);
    cr_assert(remedies.too_long == 0 && remedies.critical_path_s == 15);
    job.release_s = 100;
    remedies = find(&job, 1, 1, UINT64_MAX);
    cr_assert(remedies.too_long == 0 && remedies.critical_path_s == 15, "from its release on");
}

/* The schedule is not monotone in K: a case where K cores meet all deadlines and K + 1 do not must
 * still be answered by the least K. The random cases hold such; this finds one to be sure. */
Test(edf_remedies, more_cores_can_be_worse)
{
    struct numbers numbers = {14};
    size_t anomalies = 0;
    for (size_t round = 0; round < 20000 && anomalies < 3; round++) {
        struct edf_case c;
        edf_case_make(&c, &numbers, false);
        for (size_t cores = 1; cores < 6; cores++) {
            if (!all_met(c.jobs, c.n, cores) || all_met(c.jobs, c.n, cores + 1))
                continue;
            anomalies++;
            struct edf_remedies remedies = find(c.jobs, c.n, cores + 1, UINT64_MAX);
            cr_assert(remedies.has_min_total_cores);
            cr_assert_leq(remedies.min_total_cores, cores, "asked on more cores than it takes");
        }
    }
    cr_assert_gt(anomalies, 0, "no anomaly among the cases");
}

/* A million equal tasks count a batch a round, not a million: a modest budget finds the answer. */
Test(edf_remedies, equal_tasks_are_cheap)
{
    struct edf_stage stage = {.tasks = 1000000, .task_duration_s = 1};
    struct edf_job job = {.deadline_s = 100, .stages = &stage, .n_stages = 1};
    struct edf_remedies remedies = find(&job, 1, 1, 10000);
    cr_assert(remedies.has_min_total_cores);
    cr_assert_eq(remedies.min_total_cores, 10000);
    cr_assert(remedies.exact);
    cr_assert_eq(remedies.deadlines_s[0], 1000000);
}

/* The bound that rules out most decides where the search begins: with a start too low it tries more
 * numbers of cores than a small budget has replays for. The search
 * was exact as often as is asked for here. */
Test(edf_remedies, the_search_of_cores_begins_close_to_its_end)
{
    struct numbers numbers = {17};
    size_t exact = 0;
    for (size_t round = 0; round < 2000; round++) {
        struct edf_case c;
        edf_case_make(&c, &numbers, round % 2 == 1);
        if (round % 3 == 0)
            edf_case_delay(&c, &numbers, round % 2 == 1);
        exact += find(c.jobs, c.n, 1, 2 * c.tasks).exact;
    }
    cr_assert_geq(exact, 1655, "%zu", exact);
}

/* A budget of nothing cuts the search of cores and says so; critical paths need no budget. */
Test(edf_remedies, a_cut_search_says_so)
{
    struct edf_stage stage = {.tasks = 10, .task_duration_s = 2};
    struct edf_job job = {.deadline_s = 5, .stages = &stage, .n_stages = 1};
    struct edf_remedies remedies = find(&job, 1, 1, 0);
    cr_assert_not(remedies.has_min_total_cores);
    cr_assert_not(remedies.exact);
    cr_assert_geq(remedies.deadlines_s[0], 20);
    job.deadline_s = 1;
    remedies = find(&job, 1, 10, 1000);
    cr_assert_not(remedies.has_min_total_cores, "one task alone is too long");
    cr_assert(remedies.exact);
}

/* Running out of memory anywhere leaves the answer untouched. */
Test(edf_remedies, running_out_of_memory_is_an_error)
{
    struct edf_stage stage = {.tasks = 9000, .task_duration_s = 2};
    struct edf_job job = {.deadline_s = 5, .stages = &stage, .n_stages = 1};
    enum pv_code code = PV_E_MEMORY;
    for (size_t limit = 64; code == PV_E_MEMORY && limit < 1 << 24; limit *= 2) {
        struct arena small;
        arena_init(&small, limit);
        struct edf_remedies remedies = {.min_total_cores = 77};
        code = edf_find_remedies(&job, 1, 4, UINT64_MAX, &results, &small, &remedies, NULL);
        cr_assert_eq(remedies.min_total_cores, code == PV_OK ? 4500 : 77);
        arena_fini(&small);
    }
    cr_assert_eq(code, PV_OK);
}
