#include "core/scheduling/tasks/tasks_simulation.h"

#include <criterion/criterion.h>

#include "tasks_cases.h"

/* One worker, messages of a second. The probes of A are there at 1; it asks, and begins at 3, ends
 * at 8, asks for the second reservation and hears at 10 that there is none; then it asks for B,
 * whose probes wait since 7. */
Test(sparrow, one_worker_by_hand)
{
    struct tasks_case one;
    tasks_case_init(&one, 1, 1);
    tasks_case_short(&one, 0, 1, 5);
    tasks_case_short(&one, 6, 1, 1);
    struct tasks_terms terms = tasks_terms_default(TASKS_SPARROW);
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_start(&one, 0), 3);
    cr_expect_eq(tasks_case_finish(&one, 0), 9);
    cr_expect_eq(tasks_case_start(&one, 1), 12);
    cr_expect_eq(tasks_case_finish(&one, 1), 14);
    tasks_case_fini(&one);
}

/* B's two probes are at both workers; the task goes to the one that is free, however early the
 * other one was probed. */
Test(sparrow, tasks_are_bound_late)
{
    struct tasks_case one;
    tasks_case_init(&one, 2, 0);
    tasks_case_short(&one, 0, 1, 10);
    tasks_case_short(&one, 1, 1, 1);
    struct tasks_terms terms = tasks_terms_default(TASKS_SPARROW);
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_start(&one, 1), 1);
    tasks_case_fini(&one);
}

/* One probe a task and one worker: reservations are served in order, long and short ones alike. */
Test(sparrow, reservations_are_first_in_first_out)
{
    struct tasks_case one;
    tasks_case_init(&one, 1, 0);
    tasks_case_long(&one, 0, 2, 10);
    tasks_case_short(&one, 1, 1, 1);
    tasks_case_short(&one, 2, 1, 0.5);
    struct tasks_terms terms = tasks_terms_default(TASKS_SPARROW);
    terms.probes_per_task = 1;
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_start(&one, 1), 20);
    cr_expect_eq(tasks_case_start(&one, 2), 21);
    tasks_case_fini(&one);
}

/* Eight probes on three workers: two each, and two at different ones; four tasks begin as three
 * workers can. */
Test(sparrow, more_probes_than_workers)
{
    struct tasks_case one;
    tasks_case_init(&one, 3, 0);
    tasks_case_short(&one, 0, 4, 1);
    struct tasks_terms terms = tasks_terms_default(TASKS_SPARROW);
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_finish(&one, 0), 2);
    tasks_case_fini(&one);
}

/* Two tasks of a job never share a worker while each has one probe. */
Test(sparrow, probes_of_a_job_are_at_different_workers)
{
    struct tasks_case one;
    tasks_case_init(&one, 20, 0);
    for (int j = 0; j < 50; j++)
        tasks_case_short(&one, 10.0 * j, 15, 1);
    struct tasks_terms terms = tasks_terms_default(TASKS_SPARROW);
    terms.probes_per_task = 1;
    tasks_case_run(&one, &terms);
    for (uint32_t j = 0; j < 50; j++)
        cr_expect_eq(tasks_case_finish(&one, j), 10.0 * j + 1);
    tasks_case_fini(&one);
}
