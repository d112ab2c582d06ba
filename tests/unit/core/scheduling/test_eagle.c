#include "core/scheduling/tasks/tasks_simulation.h"

#include <criterion/criterion.h>

#include "base/rng.h"
#include "core/scheduling/tasks/tasks_promise.h"
#include "tasks_cases.h"

static struct tasks_terms reserving(double share)
{
    struct tasks_terms terms = tasks_terms_default(TASKS_EAGLE);
    terms.reserved_share = share;
    return terms;
}

/* --- long jobs --- */

/* Workers 0 and 1 are promised 6 each, the mean; then worker 2 gets two tasks of 1. At 3 worker 1,
 * whose task of 2 has ended, is as free as worker 2, and comes first. */
Test(eagle, long_tasks_go_where_least_work_is_promised)
{
    static const double uneven[] = {10, 2};
    struct tasks_case one;
    tasks_case_init(&one, 3, 0);
    tasks_case_job(&one, 0, uneven, 2)->is_long = true;
    tasks_case_long(&one, 0, 1, 1);
    tasks_case_long(&one, 0, 1, 1);
    tasks_case_long(&one, 3, 1, 4);
    tasks_case_long(&one, 3, 1, 5);
    tasks_case_long(&one, 3, 1, 1);
    struct tasks_terms terms = reserving(0);
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_finish(&one, 0), 10);
    cr_expect_eq(tasks_case_start(&one, 1), 0);
    cr_expect_eq(tasks_case_start(&one, 2), 1);
    cr_expect_eq(tasks_case_start(&one, 3), 3);
    cr_expect_eq(tasks_case_start(&one, 4), 3);
    /* Promised are 6, 4 and 5: the last one waits for worker 1. */
    cr_expect_eq(tasks_case_start(&one, 5), 7);
    tasks_case_fini(&one);
}

Test(eagle, long_tasks_shun_reserved_workers)
{
    struct tasks_case one;
    tasks_case_init(&one, 2, 1);
    tasks_case_long(&one, 0, 2, 10);
    struct tasks_terms terms = reserving(0.5);
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_start(&one, 0), 1);
    cr_expect_eq(tasks_case_finish(&one, 0), 22);
    tasks_case_fini(&one);
}

/* --- probes --- */

/* Ten probes find the long task, go back and to the other worker, which begins at 4 as it would
 * without them. */
Test(eagle, probes_shun_long_tasks)
{
    struct tasks_case one;
    tasks_case_init(&one, 2, 1);
    tasks_case_long(&one, 0, 1, 100);
    tasks_case_short(&one, 1, 2, 1);
    struct tasks_terms terms = reserving(0.5);
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_start(&one, 1), 4);
    /* 4 to 5, asked at 6, answered at 7: 7 to 8, and the result. */
    cr_expect_eq(tasks_case_finish(&one, 1), 9);
    cr_expect_eq(tasks_case_finish(&one, 0), 102);
    tasks_case_fini(&one);
}

/* At 1 worker 0 awaits a long task, which it begins at 1.5: no probe made it ask for another. */
Test(eagle, probes_shun_long_tasks_under_way)
{
    struct tasks_case one;
    tasks_case_init(&one, 2, 1);
    tasks_case_short(&one, 0, 1, 1);
    tasks_case_long(&one, 0.5, 1, 100);
    struct tasks_terms terms = reserving(0.5);
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_start(&one, 1), 1.5);
    cr_expect_eq(tasks_case_start(&one, 0), 3);
    tasks_case_fini(&one);
}

/* Nine workers and one that is reserved have no long task, and share the work: probes that come back
 * for the first time go to all of them. */
Test(eagle, probes_go_on_to_all_workers_without_long_tasks)
{
    struct tasks_case one;
    tasks_case_init(&one, 200, 0.001);
    for (int j = 0; j < 19; j++)
        tasks_case_long(&one, 0, 10, 1000);
    tasks_case_short(&one, 1, 16, 1);
    tasks_case_short(&one, 100, 16, 1);
    struct tasks_terms terms = reserving(0.005);
    tasks_case_run(&one, &terms);
    cr_expect_lt(tasks_case_finish(&one, 19), 1 + 4);
    cr_expect_lt(tasks_case_finish(&one, 20), 100 + 4);
    tasks_case_fini(&one);
}

/* With every other worker long occupied, all short tasks run on the one that is reserved. */
Test(eagle, reserved_workers_are_the_last_resort)
{
    struct tasks_case one;
    tasks_case_init(&one, 10, 0.001);
    tasks_case_long(&one, 0, 9, 1000);
    tasks_case_short(&one, 1, 5, 1);
    struct tasks_terms terms = reserving(0.1);
    tasks_case_run(&one, &terms);
    cr_expect_lt(tasks_case_finish(&one, 1), 7);
    cr_expect_gt(tasks_case_finish(&one, 1), 6);
    tasks_case_fini(&one);
}

/* Nobody is reserved or free: a probe stays in the end, and the short task waits. */
Test(eagle, probes_stay_where_nobody_is_free)
{
    struct tasks_case one;
    tasks_case_init(&one, 2, 0);
    tasks_case_long(&one, 0, 2, 10);
    tasks_case_short(&one, 1, 1, 1);
    struct tasks_terms terms = reserving(0);
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_start(&one, 1), 10);
    tasks_case_fini(&one);
}

/* --- what waits at a worker --- */

/* One worker, messages of a second: it stays with A, 3 to 5, 7 to 9, 11 to 13, though B is shorter.
 * At 15 it knows that A has no more, and asks in vain for each of A's 19 reservations. */
Test(eagle, workers_stick_to_a_job)
{
    struct tasks_case one;
    tasks_case_init(&one, 1, 1);
    tasks_case_short(&one, 0, 3, 2);
    tasks_case_short(&one, 0, 1, 1);
    struct tasks_terms terms = reserving(0);
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_start(&one, 0), 3);
    cr_expect_eq(tasks_case_finish(&one, 0), 14);
    cr_expect_eq(tasks_case_start(&one, 1), 15 + 19 * 2 + 2);
    tasks_case_fini(&one);
}

Test(eagle, least_remaining_work_is_served_first)
{
    struct tasks_case one;
    tasks_case_init(&one, 1, 0);
    tasks_case_short(&one, 0, 1, 10);
    tasks_case_short(&one, 1, 2, 5);
    tasks_case_short(&one, 2, 1, 3);
    struct tasks_terms terms = reserving(0);
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_start(&one, 2), 10);
    cr_expect_eq(tasks_case_start(&one, 1), 13);
    cr_expect_eq(tasks_case_finish(&one, 1), 23);
    tasks_case_fini(&one);
}

/* A, with much work, waits before six jobs with little, on one worker. Five of them are served before
 * it; their other reservations, for which there are no tasks any more, do not count. */
Test(eagle, nothing_is_passed_over_more_than_five_times)
{
    struct tasks_case one;
    tasks_case_init(&one, 1, 0);
    tasks_case_short(&one, 0, 1, 10);
    tasks_case_short(&one, 1, 1, 100);
    for (int j = 0; j < 6; j++)
        tasks_case_short(&one, 2 + j, 1, 1);
    struct tasks_terms terms = reserving(0);
    tasks_case_run(&one, &terms);
    for (uint32_t j = 0; j < 5; j++)
        cr_expect_eq(tasks_case_start(&one, 2 + j), 10.0 + j);
    cr_expect_eq(tasks_case_start(&one, 1), 15);
    cr_expect_eq(tasks_case_start(&one, 7), 115);
    tasks_case_fini(&one);
}

/* The reservation came first and the second long task is the shorter one. */
Test(eagle, long_tasks_that_wait_go_first_and_in_order)
{
    struct tasks_case one;
    tasks_case_init(&one, 1, 0);
    tasks_case_short(&one, 0, 2, 5);
    tasks_case_short(&one, 1, 1, 0.5);
    tasks_case_long(&one, 2, 1, 5);
    tasks_case_long(&one, 3, 1, 1);
    struct tasks_terms terms = reserving(0);
    tasks_case_run(&one, &terms);
    /* It sticks to the job that it works for. */
    cr_expect_eq(tasks_case_finish(&one, 0), 10);
    cr_expect_eq(tasks_case_start(&one, 2), 10);
    cr_expect_eq(tasks_case_start(&one, 3), 15);
    cr_expect_eq(tasks_case_start(&one, 1), 16);
    tasks_case_fini(&one);
}

/* --- promises --- */

Test(eagle, promises_know_the_least)
{
    for (uint32_t n = 1; n < 20; n++) {
        struct arena arena;
        struct promises promises;
        struct rng rng = rng_make(n, 0);
        arena_init(&arena, 0);
        cr_assert(promises_init(&promises, n, &arena));
        cr_expect_eq(promises_least(&promises), 0);
        for (int i = 0; i < 200; i++) {
            uint32_t least = 0;
            uint32_t w = (uint32_t)(rng_next(&rng) % n);
            promises_set(&promises, w, (double)(rng_next(&rng) % 4));
            for (uint32_t k = 1; k < n; k++)
                if (promises.work_s[k] < promises.work_s[least])
                    least = k;
            cr_expect_eq(promises_least(&promises), least);
        }
        arena_fini(&arena);
    }
}

/* 0.1 + 0.2 is more than 0.3, but not by as much as counts. */
Test(eagle, promises_are_compared_with_rounding)
{
    struct arena arena;
    struct promises promises;
    arena_init(&arena, 0);
    cr_assert(promises_init(&promises, 2, &arena));
    promises_set(&promises, 0, 0.1 + 0.2);
    promises_set(&promises, 1, 0.3);
    cr_expect_eq(promises_least(&promises), 0);
    arena_fini(&arena);
}
