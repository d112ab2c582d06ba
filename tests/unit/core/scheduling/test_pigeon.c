#include "core/scheduling/tasks/tasks_policy.h"

#include <criterion/criterion.h>

#include "tasks_cases.h"

static struct tasks_terms one_master(double reserved_share, uint64_t weight)
{
    struct tasks_terms terms = tasks_terms_default(TASKS_CENTRALISED);
    terms.reserved_share = reserved_share;
    terms.weight = weight;
    return terms;
}

/* --- the thesis's example, section 4.4.1, event by event --- */

/* After an instant: so many tasks have begun, and B and C first began then. */
struct moment {
    double at_s;
    uint64_t begun;
    double b_s;
    double c_s;
};

Test(pigeon, worked_example_event_by_event)
{
    static const double a[] = {20, 1, 1, 10, 10, 10};
    static const double two[] = {2};
    static const uint32_t groups[] = {0, 1};
    /* A2 ends, A3 ends, B and A4, A5 end, C, A1 and A6. Both of t = 10 are heard one by one. */
    static const struct moment moments[] = {{1, 5, HUGE_VAL, HUGE_VAL},
                                            {2, 6, 2, HUGE_VAL},
                                            {4, 6, 2, HUGE_VAL},
                                            {10, 7, 2, HUGE_VAL},
                                            {10, 8, 2, 10},
                                            {12, 8, 2, 10},
                                            {20, 8, 2, 10},
                                            {20, 8, 2, 10}};
    struct tasks_case one;
    double starts_s[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL};
    double finishes_s[3] = {0};
    struct event event;
    tasks_case_init(&one, 4, 0);
    tasks_case_job(&one, 0, a, 6);
    tasks_case_job(&one, 0, two, 1)->placement = &groups[0];
    tasks_case_job(&one, 0, two, 1)->placement = &groups[1];
    cr_assert_eq(tasks_model_complete(&one.model, &one.arena, NULL), PV_OK);
    struct tasks_terms terms = tasks_terms_default(TASKS_PIGEON);
    terms.groups = 2;
    terms.reserved_share = 0;
    one.result.start_s = starts_s;
    one.result.finish_s = finishes_s;
    struct tasks_run run = {
        .model = &one.model, .terms = &terms, .result = &one.result, .arena = &one.scratch};
    cr_assert(event_heap_init(&run.events, 4, &one.scratch));
    cr_assert(pigeon_policy.begin(&run));
    for (uint32_t j = 0; j < 3; j++)
        cr_assert(pigeon_policy.take_job(&run, j));
    cr_expect_eq(run.begun, 4);
    cr_expect_eq(starts_s[0], 0);
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        cr_assert(event_heap_pop(&run.events, &event));
        run.now_s = event.at;
        cr_assert(pigeon_policy.happen(&run, &event));
        cr_expect_eq(event.at, moments[i].at_s, "event %zu at %g", i, event.at);
        cr_expect_eq(run.begun, moments[i].begun, "after event %zu", i);
        cr_expect_eq(starts_s[1], moments[i].b_s);
        cr_expect_eq(starts_s[2], moments[i].c_s);
    }
    cr_expect_not(event_heap_pop(&run.events, &event));
    cr_expect_eq(finishes_s[0], 20);
    cr_expect_eq(finishes_s[1], 4);
    cr_expect_eq(finishes_s[2], 12);
    tasks_case_fini(&one);
}

Test(pigeon, worked_example_with_one_master)
{
    static const double a[] = {20, 1, 1, 10, 10, 10};
    struct tasks_case one;
    tasks_case_init(&one, 4, 0);
    tasks_case_job(&one, 0, a, 6);
    tasks_case_short(&one, 0, 1, 2);
    tasks_case_short(&one, 0, 1, 2);
    struct tasks_terms terms = one_master(0, 20);
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_finish(&one, 0), 20);
    cr_expect_eq(tasks_case_finish(&one, 1), 12);
    cr_expect_eq(tasks_case_finish(&one, 2), 13);
    tasks_case_fini(&one);
}

/* --- weights: one worker, long tasks of 10 and short ones of 1 --- */

struct weighted {
    uint64_t weight;
    double long_s; /* when the three long tasks are done */
    double short_s;
};

Test(pigeon, weights_by_hand)
{
    /* W = 3: L SS L SS L SS; W = 2: L S L S L SSSS; W = 1: LLL SSSSSS; infinite: L SSSSSS LL */
    static const struct weighted cases[] = {
        {3, 34, 36}, {2, 32, 36}, {1, 30, 36}, {7, 36, 16}, {TASKS_WEIGHT_INFINITE, 36, 16}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tasks_case one;
        tasks_case_init(&one, 1, 0);
        tasks_case_long(&one, 0, 3, 10);
        tasks_case_short(&one, 0, 6, 1);
        struct tasks_terms terms = one_master(0, cases[i].weight);
        tasks_case_run(&one, &terms);
        cr_expect_eq(tasks_case_finish(&one, 0), cases[i].long_s, "case %zu", i);
        cr_expect_eq(tasks_case_finish(&one, 1), cases[i].short_s, "case %zu", i);
        tasks_case_fini(&one);
    }
}

/* Short tasks taken while no long one waited do not count: the long one waits for two more. */
Test(pigeon, count_begins_anew_when_no_long_task_waits)
{
    struct tasks_case one;
    tasks_case_init(&one, 1, 0);
    tasks_case_short(&one, 0, 7, 1);
    tasks_case_long(&one, 2.5, 1, 1);
    struct tasks_terms terms = one_master(0, 3);
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_start(&one, 1), 5);
    cr_expect_eq(tasks_case_finish(&one, 0), 8);
    tasks_case_fini(&one);
}

/* --- reserved workers --- */

Test(pigeon, reserved_workers_take_short_tasks_alone)
{
    struct tasks_case one;
    tasks_case_init(&one, 4, 0);
    tasks_case_long(&one, 0, 4, 10);
    tasks_case_short(&one, 1, 2, 1);
    struct tasks_terms terms = one_master(0.25, 20);
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_start(&one, 1), 1);
    cr_expect_eq(tasks_case_finish(&one, 1), 3);
    cr_expect_eq(tasks_case_finish(&one, 0), 20);
    tasks_case_fini(&one);
}

Test(pigeon, short_tasks_take_general_workers_first)
{
    struct tasks_case one;
    tasks_case_init(&one, 4, 0);
    tasks_case_short(&one, 0, 1, 10);
    tasks_case_long(&one, 1, 3, 100);
    struct tasks_terms terms = one_master(0.25, 20);
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_finish(&one, 1), 110);
    tasks_case_fini(&one);
}

/* Both workers report at 1. Were the general one heard first, it would take the short task, and the
 * long one would wait for it. */
Test(pigeon, reserved_workers_are_heard_first)
{
    struct tasks_case one;
    tasks_case_init(&one, 2, 0);
    tasks_case_short(&one, 0, 2, 1);
    tasks_case_short(&one, 0, 1, 5);
    tasks_case_long(&one, 0, 1, 5);
    struct tasks_terms terms = one_master(0.5, TASKS_WEIGHT_INFINITE);
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_start(&one, 1), 1);
    cr_expect_eq(tasks_case_start(&one, 2), 1);
    tasks_case_fini(&one);
}

/* The worker reports at the instant when a short task arrives: it takes the long one that waits. */
Test(pigeon, idle_workers_are_heard_before_tasks)
{
    struct tasks_case one;
    tasks_case_init(&one, 1, 0);
    tasks_case_short(&one, 0, 1, 1);
    tasks_case_long(&one, 0, 1, 5);
    tasks_case_short(&one, 1, 1, 1);
    struct tasks_terms terms = one_master(0, TASKS_WEIGHT_INFINITE);
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_start(&one, 1), 1);
    cr_expect_eq(tasks_case_start(&one, 2), 6);
    tasks_case_fini(&one);
}

/* A message to the master, one to the worker; one that it is idle, and one with the next task. */
Test(pigeon, messages_take_time)
{
    struct tasks_case one;
    tasks_case_init(&one, 1, 0.5);
    tasks_case_short(&one, 1, 2, 3);
    struct tasks_terms terms = one_master(0, 20);
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_start(&one, 0), 2);
    cr_expect_eq(tasks_case_finish(&one, 0), 2 + 3 + 1 + 3 + 0.5);
    tasks_case_fini(&one);
}

/* --- groups --- */

/* Of five workers group 0 has three, group 1 two. */
Test(pigeon, groups_differ_by_one_worker)
{
    static const uint32_t first[] = {0, 0, 0};
    static const uint32_t second[] = {1, 1, 1};
    static const double ones[] = {1, 1, 1};
    struct tasks_case one;
    tasks_case_init(&one, 5, 0);
    tasks_case_job(&one, 0, ones, 3)->placement = first;
    tasks_case_job(&one, 0, ones, 3)->placement = second;
    struct tasks_terms terms = tasks_terms_default(TASKS_PIGEON);
    terms.groups = 2;
    terms.reserved_share = 0;
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_finish(&one, 0), 1);
    cr_expect_eq(tasks_case_finish(&one, 1), 2);
    tasks_case_fini(&one);
}

/* Seven tasks on five groups of one worker: each has one, and two different ones a second. */
Test(pigeon, tasks_left_go_to_different_groups)
{
    for (uint32_t jobs = 1; jobs < 20; jobs++) {
        struct tasks_case one;
        tasks_case_init(&one, 5, 0);
        for (uint32_t j = 0; j < jobs; j++)
            tasks_case_short(&one, 10.0 * j, 7, 1);
        struct tasks_terms terms = tasks_terms_default(TASKS_PIGEON);
        terms.groups = 5;
        tasks_case_run(&one, &terms);
        cr_expect_eq(tasks_case_finish(&one, jobs - 1), 10.0 * (jobs - 1) + 2);
        tasks_case_fini(&one);
    }
}
