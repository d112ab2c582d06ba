/* Masters that fail (pigeon_layout.h). What holds of all scenes at once is in test_pigeon_layout.c. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "pigeon_watch.h"

static const double tens[] = {10, 10, 10, 10};
static const uint32_t first_group[] = {0, 0, 0, 0};

static struct tasks_terms two_groups(const struct pigeon_layout *layout)
{
    struct tasks_terms terms = tasks_terms_default(TASKS_PIGEON);
    terms.groups = 2;
    terms.reserved_share = 0;
    terms.layout = layout;
    return terms;
}

/* --- somebody takes over --- */

/* One worker, messages of 0.5. The first task ends at 2, which is to be heard at 2.5; the master
 * fails at 2.2, which is noticed at 3.2; senders hear of the new one at 3.7, and it of them at 4.2. */
Test(pigeon_failures, messages_wait_for_the_second_master)
{
    static const enum pigeon_recovery recoveries[] = {PIGEON_SECOND_TAKES_OVER,
                                                      PIGEON_WORKER_TAKES_OVER};
    static const double ones[] = {1, 1};
    for (int i = 0; i < 2; i++) {
        const struct pigeon_failure failure = {0, recoveries[i], 2.2, 1, 0};
        const struct pigeon_layout layout = {.failures = &failure, .n_failures = 1};
        struct tasks_case one;
        tasks_case_init(&one, 1, 0.5);
        tasks_case_job(&one, 0, ones, 2);
        tasks_case_job(&one, 3, ones, 1);
        struct tasks_terms terms = tasks_terms_default(TASKS_PIGEON);
        terms.layout = &layout;
        tasks_case_run(&one, &terms);
        cr_expect_float_eq(tasks_case_finish(&one, 0), 4.2 + 0.5 + 1 + 0.5, 1e-12);
        cr_expect_float_eq(tasks_case_start(&one, 1), 4.7 + 1 + 0.5 + 0.5, 1e-12);
        tasks_case_fini(&one);
    }
}

/* The group has a queue and idle workers as before; a task that came meanwhile gets an idle one. */
Test(pigeon_failures, second_master_knows_all)
{
    const struct pigeon_failure failure = {0, PIGEON_SECOND_TAKES_OVER, 1, 3, 0};
    const struct pigeon_layout layout = {.failures = &failure, .n_failures = 1};
    struct tasks_case one;
    tasks_case_init(&one, 4, 0);
    tasks_case_job(&one, 0, tens, 1)->placement = first_group;
    tasks_case_job(&one, 2, tens, 1)->placement = first_group;
    tasks_case_job(&one, 5, tens, 1)->placement = first_group;
    struct tasks_terms terms = two_groups(&layout);
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_start(&one, 1), 4);
    cr_expect_eq(tasks_case_start(&one, 2), 10);
    tasks_case_fini(&one);
}

/* W = 3: after one short task another one is due before the long one; who takes over without the
 * master's counts lets two more pass. */
Test(pigeon_failures, counts_are_lost_with_both_masters)
{
    static const enum pigeon_recovery recoveries[] = {PIGEON_SECOND_TAKES_OVER,
                                                      PIGEON_WORKER_TAKES_OVER};
    static const double long_s[] = {3, 4};
    for (int i = 0; i < 2; i++) {
        const struct pigeon_failure failure = {0, recoveries[i], 1.5, 0, 0};
        const struct pigeon_layout layout = {.failures = &failure, .n_failures = 1};
        struct tasks_case one;
        tasks_case_init(&one, 1, 0);
        tasks_case_short(&one, 0, 1, 1);
        tasks_case_long(&one, 0, 1, 1);
        tasks_case_short(&one, 0, 6, 1);
        struct tasks_terms terms = tasks_terms_default(TASKS_PIGEON);
        terms.layout = &layout;
        terms.weight = 3;
        tasks_case_run(&one, &terms);
        cr_expect_eq(tasks_case_start(&one, 1), long_s[i], "%g", tasks_case_start(&one, 1));
        tasks_case_fini(&one);
    }
}

/* Who has been idle longest is not known either: the first worker's turn comes first. */
Test(pigeon_failures, lists_are_lost_with_both_masters)
{
    static const enum pigeon_recovery recoveries[] = {PIGEON_SECOND_TAKES_OVER,
                                                      PIGEON_WORKER_TAKES_OVER};
    static const uint32_t places[] = {1, 0};
    for (int i = 0; i < 2; i++) {
        const struct pigeon_failure failure = {0, recoveries[i], 12, 1, 0};
        const struct pigeon_layout layout = {.failures = &failure, .n_failures = 1};
        struct tasks_case one;
        struct pigeon_watch watch;
        tasks_case_init(&one, 2, 0);
        tasks_case_job(&one, 0, tens, 1);
        tasks_case_job(&one, 14, tens, 1);
        cr_assert_eq(tasks_model_complete(&one.model, &one.arena, NULL), PV_OK);
        struct tasks_terms terms = tasks_terms_default(TASKS_PIGEON);
        terms.reserved_share = 0;
        terms.layout = &layout;
        pigeon_watch_init(&watch, &one.model, &terms, &one.arena);
        cr_assert_eq(pigeon_watch_run(&watch, 1, &one.arena, &one.result), PV_OK);
        cr_expect_eq(watch.starts[1].place, places[i]);
        tasks_case_fini(&one);
    }
}

/* A second failure before the first one is over makes it last longer, not shorter. */
Test(pigeon_failures, failures_of_one_group_may_meet)
{
    static const struct pigeon_failure failures[] = {{0, PIGEON_SECOND_TAKES_OVER, 1, 9, 0},
                                                     {0, PIGEON_SECOND_TAKES_OVER, 2, 20, 0},
                                                     {0, PIGEON_SECOND_TAKES_OVER, 3, 1, 0}};
    const struct pigeon_layout layout = {.failures = failures, .n_failures = 3};
    struct tasks_case one;
    tasks_case_init(&one, 2, 0);
    tasks_case_job(&one, 5, tens, 1)->placement = first_group;
    struct tasks_terms terms = two_groups(&layout);
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_start(&one, 0), 22);
    tasks_case_fini(&one);
}

/* --- nobody takes over --- */

/* Two groups of one worker. Of three tasks of the first one the running one ends, the others are
 * sent to the second group when the loss is known, at 3; what comes later goes there, too, until the
 * first group is back, at 15. */
Test(pigeon_failures, tasks_of_a_lost_group_are_sent_again)
{
    const struct pigeon_failure failure = {0, PIGEON_GROUP_LOST, 1, 2, 14};
    const struct pigeon_layout layout = {.failures = &failure, .n_failures = 1};
    struct tasks_case one;
    struct pigeon_watch watch;
    tasks_case_init(&one, 2, 0);
    tasks_case_job(&one, 0, tens, 3)->placement = first_group;
    tasks_case_job(&one, 2, tens, 1)->placement = first_group;
    tasks_case_job(&one, 4, tens, 1)->placement = first_group;
    tasks_case_job(&one, 16, tens, 1)->placement = first_group;
    cr_assert_eq(tasks_model_complete(&one.model, &one.arena, NULL), PV_OK);
    struct tasks_terms terms = two_groups(&layout);
    pigeon_watch_init(&watch, &one.model, &terms, &one.arena);
    cr_assert_eq(pigeon_watch_run(&watch, 1, &one.arena, &one.result), PV_OK);
    cr_expect_eq(one.result.finish_s[0], 23);
    cr_expect_eq(one.result.start_s[1], 23);
    cr_expect_eq(one.result.start_s[2], 33);
    cr_expect_eq(one.result.start_s[3], 16);
    cr_expect_str_eq(pigeon_watch_fault(&watch), "");
    for (size_t i = 0; i < watch.n; i++)
        cr_expect_eq(watch.starts[i].place,
                     watch.starts[i].start_s == 0 || watch.starts[i].start_s == 16 ? 0 : 1);
    tasks_case_fini(&one);
}

/* A message is 0.5: what schedulers send again at 3 is at the other group at 3.5; what one sent at
 * 2.9, which comes to the lost group at 3.4, with it. */
Test(pigeon_failures, messages_under_way_are_sent_again)
{
    const struct pigeon_failure failure = {0, PIGEON_GROUP_LOST, 1, 2, HUGE_VAL};
    const struct pigeon_layout layout = {.failures = &failure, .n_failures = 1};
    static const double ones[] = {1};
    struct tasks_case one;
    tasks_case_init(&one, 4, 0.5);
    tasks_case_job(&one, 2.9, ones, 1)->placement = first_group;
    tasks_case_job(&one, 3.1, ones, 1)->placement = first_group;
    struct tasks_terms terms = two_groups(&layout);
    tasks_case_run(&one, &terms);
    cr_expect_float_eq(tasks_case_start(&one, 0), 4, 1e-12);
    cr_expect_float_eq(tasks_case_start(&one, 1), 4.1, 1e-12);
    tasks_case_fini(&one);
}

/* Free tasks go to other groups, a task with workers in two groups to the other one, one with
 * workers in the lost group alone waits until that is back. */
Test(pigeon_failures, bound_tasks_wait_for_their_group)
{
    static const uint32_t both[] = {0, 1};
    static const struct tasks_binding bindings[] = {{both, 1}, {both, 2}, {NULL, 0}};
    const struct pigeon_failure failure = {0, PIGEON_GROUP_LOST, 1, 1, 50};
    const struct pigeon_layout layout = {.failures = &failure, .n_failures = 1};
    struct tasks_case one;
    tasks_case_init(&one, 2, 0);
    tasks_case_job(&one, 5, tens, 1)->bindings = bindings;
    tasks_case_job(&one, 5, tens, 1)->bindings = bindings + 1;
    tasks_case_job(&one, 5, tens, 1)->bindings = bindings + 2;
    struct tasks_terms terms = two_groups(&layout);
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_start(&one, 0), 51);
    cr_expect_eq(tasks_case_start(&one, 1), 5);
    cr_expect_eq(tasks_case_start(&one, 2), 15);
    tasks_case_fini(&one);
}

/* Without any group tasks stay with their schedulers until there is one. */
Test(pigeon_failures, all_groups_may_be_away)
{
    static const struct pigeon_failure failures[] = {{0, PIGEON_GROUP_LOST, 1, 1, 40},
                                                     {1, PIGEON_GROUP_LOST, 2, 2, 30}};
    const struct pigeon_layout layout = {.failures = failures, .n_failures = 2};
    struct tasks_case one;
    tasks_case_init(&one, 2, 0);
    tasks_case_job(&one, 5, tens, 2);
    tasks_case_job(&one, 6, tens, 2)->placement = first_group;
    struct tasks_terms terms = two_groups(&layout);
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_start(&one, 0), 32);
    cr_expect_eq(tasks_case_start(&one, 1), 52);
    tasks_case_fini(&one);
}

/* A task that may run nowhere any more is a fault of what is asked. */
Test(pigeon_failures, workers_may_be_gone_for_good)
{
    static const uint32_t first[] = {0};
    static const struct tasks_binding binding[] = {{first, 1}};
    const struct pigeon_failure failure = {0, PIGEON_GROUP_LOST, 1, 1, HUGE_VAL};
    const struct pigeon_layout layout = {.failures = &failure, .n_failures = 1};
    const struct trial trial = {1, 0};
    struct pv_error err = {0};
    struct tasks_case one;
    tasks_case_init(&one, 2, 0);
    tasks_case_job(&one, 5, tens, 1)->bindings = binding;
    cr_assert_eq(tasks_model_complete(&one.model, &one.arena, NULL), PV_OK);
    struct tasks_terms terms = two_groups(&layout);
    cr_expect_eq(tasks_simulate(&one.model, &terms, &trial, 0, NULL, &one.arena, &one.scratch,
                                &one.result, &err),
                 PV_E_INVALID);
    cr_expect_not_null(strstr(err.detail, "failed for good"));
    tasks_case_fini(&one);
}

/* Lost groups change nothing before they fail, and a failure after the end changes nothing. */
Test(pigeon_failures, nothing_fails_too_early)
{
    const struct pigeon_failure failure = {0, PIGEON_GROUP_LOST, 31, 1, HUGE_VAL};
    const struct pigeon_layout layout = {.failures = &failure, .n_failures = 1};
    struct tasks_case one;
    tasks_case_init(&one, 2, 0);
    tasks_case_job(&one, 0, tens, 3)->placement = first_group;
    struct tasks_terms terms = two_groups(&layout);
    tasks_case_run(&one, &terms);
    cr_expect_eq(tasks_case_finish(&one, 0), 30);
    tasks_case_fini(&one);
}
