#include "core/scheduling/tasks/pigeon_plan.h"

#include <criterion/criterion.h>
#include <math.h>

static const struct pigeon_terms terms = {.workers = 20000,
                                          .load = 0.8,
                                          .fanout = 50,
                                          .task_s = 0.1,
                                          .reserved_share = 0.05,
                                          .target_probability = 0.9};

static void expect_near(double a, double b)
{
    cr_expect(fabs(a - b) <= 1e-11 * fabs(b), "%.17g is not %.17g", a, b);
}

/* The textbook's recurrence, as long as the group is large. */
static double wait_by_recurrence(int64_t n, double load)
{
    double b = 1;
    for (int64_t i = 1; i <= n; i++)
        b = load * (double)n * b / ((double)i + load * (double)n * b);
    return b / (1 - load * (1 - b));
}

Test(pigeon_plan, waiting_is_as_by_the_recurrence_of_erlang)
{
    static const double loads[] = {1e-6, 0.01, 0.5, 0.8, 0.95, 0.999999};
    static const int64_t sizes[] = {1, 2, 7, 50, 200, 3000};
    for (size_t l = 0; l < sizeof loads / sizeof *loads; l++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            struct pigeon_terms here = terms;
            here.load = loads[l];
            struct pigeon_candidate found = pigeon_candidate_of(&here, sizes[s]);
            double wait = wait_by_recurrence(sizes[s], loads[l]);
            cr_expect(fabs(1 - wait - found.task_zero_queuing) < 1e-12);
            cr_expect(fabs(found.queuing_s * (double)sizes[s] * (1 - loads[l]) / here.task_s -
                           wait) <= 1e-11 * wait + 1e-290);
        }
}

/* M/M/1: a task waits with the probability of the load. */
Test(pigeon_plan, a_group_of_one)
{
    struct pigeon_candidate one = pigeon_candidate_of(&terms, 1);
    expect_near(one.task_zero_queuing, 0.2);
    expect_near(one.queuing_s, 0.8 * 0.1 / 0.2);
    cr_expect_eq(one.reserved_workers, 0);
    expect_near(one.master_tasks_per_s, 8);
}

Test(pigeon_plan, the_largest_group_there_can_be_takes_no_time)
{
    struct pigeon_terms large = terms;
    large.workers = 10000000;
    large.load = 0.999;
    struct pigeon_candidate found = pigeon_candidate_of(&large, 10000000);
    cr_expect(found.task_zero_queuing > 0.99 && found.task_zero_queuing < 1);
    large.load = 5e-324;
    cr_expect_eq(pigeon_candidate_of(&large, 10000000).task_zero_queuing, 1);
}

Test(pigeon_plan, reserved_workers_are_rounded_but_neither_none_nor_all)
{
    cr_expect_eq(pigeon_reserved_workers(50, 0.05), 3); /* 2.5 */
    cr_expect_eq(pigeon_reserved_workers(10, 0.01), 1);
    cr_expect_eq(pigeon_reserved_workers(10, 0), 0);
    cr_expect_eq(pigeon_reserved_workers(2, 0.5), 1);
    cr_expect_eq(pigeon_reserved_workers(1, 0.5), 0);
}

static size_t
recommend(const struct pigeon_terms *here, const int64_t sizes[], size_t n, bool *meets)
{
    struct pigeon_candidate candidates[8];
    for (size_t i = 0; i < n; i++)
        candidates[i] = pigeon_candidate_of(here, sizes[i]);
    return pigeon_recommend(here, candidates, n, meets);
}

Test(pigeon_plan, the_smallest_size_that_meets_the_target_in_any_order)
{
    static const int64_t sizes[] = {200, 25, 100, 50};
    bool meets;
    cr_expect_eq(recommend(&terms, sizes, 4, &meets), 3);
    cr_expect(meets);
    struct pigeon_terms hard = terms;
    hard.target_probability = 1;
    hard.load = 0.95;
    cr_expect_eq(recommend(&hard, sizes, 4, &meets), 0);
    cr_expect_not(meets);
    hard.equal_durations = true;
    hard.load = 0.99;
    hard.fanout = 1000000; /* none has a chance, so that all are equal: the smallest */
    cr_expect_eq(recommend(&hard, sizes, 4, &meets), 1);
}

/* Eq. 4.4 term by term, with probes few enough to multiply out. */
Test(pigeon_plan, sparrow_finds_enough_idle_workers)
{
    expect_near(sparrow_zero_queuing(1, 0.5), 0.75);
    expect_near(sparrow_zero_queuing(2, 0.5), 11.0 / 16);
    expect_near(sparrow_zero_queuing(1, 0.9), 0.19);
    cr_expect(sparrow_zero_queuing(1000000, 0.4) > 1 - 1e-12);
    cr_expect(sparrow_zero_queuing(1000000, 0.6) < 1e-12);
    cr_expect(fabs(sparrow_zero_queuing(1000000, 0.5) - 0.5) < 1e-3);
}

Test(pigeon_plan, warnings)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct findings warnings = {.arena = &arena};
    struct pigeon_terms few = terms;
    few.workers = 60;
    struct pigeon_candidate one = pigeon_candidate_of(&few, 50);
    pigeon_plan_warn(&few, &one, false, &warnings);
    cr_expect_eq(warnings.n, 3);
    cr_expect_not_null(finding_find(&warnings, "target_not_met"));
    cr_expect_not_null(finding_find(&warnings, "fanout_exceeds_groups"));
    cr_expect_eq(finding_value(finding_find(&warnings, "leftover_workers"), "count"), 10);
    arena_fini(&arena);
}
