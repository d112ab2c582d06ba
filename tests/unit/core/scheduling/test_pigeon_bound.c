/* Tasks that are bound to workers, and what schedulers know of queues (pigeon_layout.h). */
#include <criterion/criterion.h>

#include "core/scheduling/tasks/pigeon_length.h"
#include "pigeon_watch.h"

static const uint32_t first_worker[] = {0};
static const uint32_t second_worker[] = {1};
static const uint32_t either[] = {0, 1};
static const uint32_t other_way_round[] = {1, 0};
static const struct tasks_binding to_first[] = {
    {first_worker, 1}, {first_worker, 1}, {first_worker, 1}, {first_worker, 1}};
static const struct tasks_binding to_second[] = {{second_worker, 1}};
static const struct tasks_binding to_either[] = {{either, 2}, {either, 2}, {either, 2}};
static const struct tasks_binding to_other[] = {{other_way_round, 2}};
static const double tens[] = {10, 10, 10, 10};

static struct tasks_terms one_group(const struct pigeon_layout *layout)
{
    struct tasks_terms terms = tasks_terms_default(TASKS_PIGEON);
    terms.reserved_share = 0;
    terms.layout = layout;
    return terms;
}

/* --- at a master --- */

/* A bound task waits for its worker while another one is idle, and is served before what came
 * earlier to the queue of all; a free task takes that other one. */
Test(pigeon_bound, tasks_wait_for_their_worker)
{
    const struct pigeon_layout layout = {0};
    struct tasks_case one;
    tasks_case_init(&one, 2, 0);
    tasks_case_job(&one, 0, tens, 1)->bindings = to_first;
    tasks_case_job(&one, 1, tens, 1)->bindings = to_first;
    tasks_case_job(&one, 2, tens, 3);
    tasks_case_job(&one, 3, tens, 1)->bindings = to_first;
    struct tasks_terms terms = one_group(&layout);
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_start(&one, 0), 0);
    cr_expect_eq(tasks_case_start(&one, 1), 10);
    cr_expect_eq(tasks_case_start(&one, 2), 2);
    cr_expect_eq(tasks_case_start(&one, 3), 20);
    /* The second worker runs all three, at 2, 12 and 22. */
    cr_expect_eq(tasks_case_finish(&one, 2), 32);
    tasks_case_fini(&one);
}

/* Classes come first: a long bound task waits while short ones are there, and counts for W. */
Test(pigeon_bound, tasks_keep_their_class)
{
    const struct pigeon_layout layout = {0};
    static const double ones[] = {1, 1, 1, 1};
    struct tasks_case one;
    tasks_case_init(&one, 1, 0);
    tasks_case_short(&one, 0, 1, 1);
    struct tasks_job *job = tasks_case_job(&one, 0, ones, 1);
    job->is_long = true;
    job->bindings = to_first;
    tasks_case_short(&one, 0, 4, 1);
    struct tasks_terms terms = one_group(&layout);
    terms.weight = 3;
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_start(&one, 1), 3);
    tasks_case_fini(&one);
}

/* What a task needs may be on a reserved worker alone: there it runs, whatever its class. */
Test(pigeon_bound, reserved_workers_take_what_is_bound_to_them)
{
    const struct pigeon_layout layout = {0};
    struct tasks_case one;
    tasks_case_init(&one, 2, 0);
    struct tasks_job *job = tasks_case_job(&one, 0, tens, 1);
    job->is_long = true;
    job->bindings = to_second;
    tasks_case_long(&one, 0, 2, 10);
    struct tasks_terms terms = one_group(&layout);
    terms.reserved_share = 0.5;
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_finish(&one, 0), 10);
    cr_expect_eq(tasks_case_finish(&one, 1), 20);
    tasks_case_fini(&one);
}

/* Of several workers a task gets the first idle one, else the one with the shortest queue of its
 * own: the third of these waits at the first worker, which has none, like the second one. */
Test(pigeon_bound, masters_choose_among_workers)
{
    const struct pigeon_layout layout = {0};
    struct tasks_case one;
    tasks_case_init(&one, 2, 0);
    tasks_case_job(&one, 0, tens, 3)->bindings = to_either;
    tasks_case_job(&one, 1, tens, 1)->bindings = to_either;
    struct tasks_terms terms = one_group(&layout);
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_finish(&one, 0), 20);
    cr_expect_eq(tasks_case_start(&one, 1), 10);
    tasks_case_fini(&one);
}

/* --- schedulers and reports --- */

/* Two groups of a worker each, with four tasks of 10 bound to the first worker, one of which runs.
 * A job that comes at `at_s` may go to either: where does it start? */
static double start_of_choice(double at_s, double report_every_s, double communication_s)
{
    const struct pigeon_layout layout = {.report_every_s = report_every_s};
    struct tasks_case one;
    tasks_case_init(&one, 2, communication_s);
    tasks_case_job(&one, 0, tens, 4)->bindings = to_first;
    tasks_case_job(&one, at_s, tens, 1)->bindings = to_either;
    struct tasks_terms terms = one_group(&layout);
    terms.groups = 2;
    tasks_case_run(&one, &terms);
    double start_s = tasks_case_start(&one, 1);
    tasks_case_fini(&one);
    return start_s;
}

/* Before the first report, at 8, has come, a scheduler knows of nothing and takes the first worker,
 * where the task starts after the four. */
Test(pigeon_bound, schedulers_know_what_was_reported)
{
    cr_expect_eq(start_of_choice(7, 8, 0), 40);
    cr_expect_eq(start_of_choice(8, 8, 0), 8);
    cr_expect_eq(start_of_choice(9, 8, 0), 9);
    cr_expect_eq(start_of_choice(9, 0, 0), 40);
    /* A report takes a message, as a task does. Tasks of 10 follow each other in 11. */
    cr_expect_eq(start_of_choice(8.25, 8, 0.5), 45);
    cr_expect_eq(start_of_choice(8.75, 8, 0.5), 9.75);
}

/* One job's tasks are not all sent where the last report saw no queue. */
Test(pigeon_bound, schedulers_know_what_they_have_sent)
{
    const struct pigeon_layout layout = {.report_every_s = 100};
    struct tasks_case one;
    tasks_case_init(&one, 2, 0);
    tasks_case_job(&one, 0, tens, 2)->bindings = to_either;
    tasks_case_job(&one, 0, tens, 1)->bindings = to_other;
    struct tasks_terms terms = one_group(&layout);
    terms.groups = 2;
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_finish(&one, 0), 10);
    /* Another job's scheduler does not know: it takes its first one. */
    cr_expect_eq(tasks_case_start(&one, 1), 10);
    tasks_case_fini(&one);
}

/* The queue of all counts by its worker's part, and all by power: a task that may run on one worker
 * of four with four waiting, or one alone with two, goes to the first. */
Test(pigeon_bound, loads_are_by_worker_and_power)
{
    static const uint32_t workers[] = {4, 0};
    static const struct tasks_binding binding[] = {{workers, 2}};
    static const uint32_t first[] = {0, 0, 0, 0, 0, 0, 0, 0};
    static const uint32_t second[] = {1, 1, 1};
    static const double hundreds[] = {100, 100, 100, 100, 100, 100, 100, 100};
    static const double powers[] = {1, 4};
    static const uint32_t expected[] = {0, 4};
    for (int i = 0; i < 2; i++) {
        const struct pigeon_group groups[] = {{4, 1}, {1, powers[i]}};
        const struct pigeon_layout layout = {.groups = groups, .n_groups = 2, .report_every_s = 1};
        struct tasks_case one;
        struct pigeon_watch watch;
        tasks_case_init(&one, 5, 0);
        tasks_case_job(&one, 0, hundreds, 8)->placement = first;
        tasks_case_job(&one, 0, hundreds, 3)->placement = second;
        tasks_case_job(&one, 2, hundreds, 1)->bindings = binding;
        cr_assert_eq(tasks_model_complete(&one.model, &one.arena, NULL), PV_OK);
        struct tasks_terms terms = one_group(&layout);
        pigeon_watch_init(&watch, &one.model, &terms, &one.arena);
        cr_assert_eq(pigeon_watch_run(&watch, 1, &one.arena, &one.result), PV_OK);
        cr_expect_str_eq(pigeon_watch_fault(&watch), "");
        for (size_t k = 0; k < watch.n; k++)
            if (watch.starts[k].job == 2)
                cr_expect_eq(watch.starts[k].place, expected[i]);
        tasks_case_fini(&one);
    }
}

/* Of lower classes nobody waits for: a short task goes where only long ones wait, free or bound. */
Test(pigeon_bound, loads_are_of_the_class_and_above)
{
    static const uint32_t second[] = {1, 1};
    static const struct tasks_binding binding[] = {{other_way_round, 2}};
    const struct pigeon_layout layout = {.report_every_s = 1};
    struct tasks_case one;
    tasks_case_init(&one, 2, 0);
    tasks_case_job(&one, 0, tens, 4)->bindings = to_first;
    tasks_case_job(&one, 0, tens, 2)->placement = second;
    one.jobs[0].is_long = true;
    tasks_case_job(&one, 3, tens, 1)->bindings = binding;
    struct tasks_terms terms = one_group(&layout);
    terms.groups = 2;
    terms.weight = TASKS_WEIGHT_INFINITE;
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_start(&one, 2), 10);
    tasks_case_fini(&one);
}

/* Free tasks of a job are spread as though it had no others: six on three groups of one worker. */
Test(pigeon_bound, free_tasks_are_spread_by_themselves)
{
    static const struct tasks_binding mixed[] = {{first_worker, 1}, {NULL, 0}, {NULL, 0},
                                                 {first_worker, 1}, {NULL, 0}, {NULL, 0},
                                                 {NULL, 0},         {NULL, 0}};
    static const double ones[] = {1, 1, 1, 1, 1, 1, 1, 1};
    const struct pigeon_layout layout = {0};
    uint32_t counts[3] = {0};
    struct tasks_case one;
    struct pigeon_watch watch;
    tasks_case_init(&one, 3, 0);
    tasks_case_job(&one, 0, ones, 8)->bindings = mixed;
    cr_assert_eq(tasks_model_complete(&one.model, &one.arena, NULL), PV_OK);
    struct tasks_terms terms = one_group(&layout);
    terms.groups = 3;
    pigeon_watch_init(&watch, &one.model, &terms, &one.arena);
    cr_assert_eq(pigeon_watch_run(&watch, 1, &one.arena, &one.result), PV_OK);
    cr_expect_str_eq(pigeon_watch_fault(&watch), "");
    for (size_t i = 0; i < watch.n; i++)
        counts[watch.starts[i].place]++;
    cr_expect(counts[0] == 4 && counts[1] == 2 && counts[2] == 2);
    tasks_case_fini(&one);
}

/* --- lengths --- */

Test(pigeon_bound, lengths_as_reported)
{
    struct pigeon_length length = {0, 0, 0, 0};
    pigeon_length_change(&length, 1, 10, 5);
    cr_expect_eq(pigeon_length_known(&length, 9, 8, 10), 0);
    /* At 10 it grows, after the report. */
    pigeon_length_change(&length, 10, 10, 2);
    cr_expect_eq(pigeon_length_known(&length, 10, 9.5, 10), 0);
    cr_expect_eq(pigeon_length_known(&length, 11, 10.5, 10), 5);
    cr_expect_eq(pigeon_length_known(&length, 20, 19.5, 10), 5);
    cr_expect_eq(pigeon_length_known(&length, 21, 20.5, 10), 7);
    pigeon_length_change(&length, 55, 10, -7);
    cr_expect_eq(pigeon_length_known(&length, 59, 58, 10), 7);
    cr_expect_eq(pigeon_length_known(&length, 60, 59, 10), 7);
    cr_expect_eq(pigeon_length_known(&length, 61, 60, 10), 0);
    cr_expect_eq(pigeon_length_known(&length, 900, 899, 10), 0);
    cr_expect_eq(pigeon_length_known(&length, 900, 899, 0), 0);
}
