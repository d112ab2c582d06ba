#include "core/history/run_reach.h"

#include <criterion/criterion.h>
#include <math.h>

/* Unfinished, 10 s long, 4 tasks, 1 stage, 1 job. */
static struct run telling(void)
{
    return (struct run){.duration_s = 10.0,
                        .jobs = 1,
                        .stages_completed = 1,
                        .tasks_succeeded = 3,
                        .tasks_failed = 1};
}

/* Further than `less`, and not the other way round. */
static void check_further(struct run more, struct run less)
{
    cr_assert(run_reaches(&more, &less));
    cr_assert(!run_reaches(&less, &more));
}

Test(run_reach, an_end_reaches_as_far_as_anything)
{
    struct run ended = telling(), open = telling();
    ended.ended = true;
    open.duration_s = 1000.0;
    check_further(ended, open);
    struct run other = ended;
    other.duration_s = 1.0;
    cr_assert(run_reaches(&ended, &other) && run_reaches(&other, &ended));
}

Test(run_reach, the_later_last_event_reaches_further)
{
    struct run more = telling(), less = telling();
    less.duration_s = 9.999;
    less.tasks_succeeded = 100;
    check_further(more, less);
    less.duration_s = (double)NAN;
    check_further(more, less);
    more.duration_s = (double)NAN;
    more.tasks_succeeded = 101;
    check_further(more, less);
}

Test(run_reach, at_one_instant_counts_decide)
{
    struct run same = telling(), less = telling();
    cr_assert(run_reaches(&same, &less) && run_reaches(&less, &same));
    less.tasks_failed = 0;
    check_further(telling(), less);
    less = telling();
    less.stages_completed = 0;
    check_further(telling(), less);
    less = telling();
    less.jobs = RUN_UNKNOWN;
    check_further(telling(), less);
    less.tasks_succeeded = less.tasks_failed = RUN_UNKNOWN;
    check_further(telling(), less);
}

Test(run_reach, a_task_that_is_lost_again_is_no_step_back)
{
    struct run before = telling(), after = telling();
    after.tasks_succeeded--;
    after.tasks_failed++;
    cr_assert(run_reaches(&after, &before));
}

Test(run_reach, sums_beyond_all_bounds_are_the_most_there_is)
{
    struct run huge = telling();
    huge.tasks_succeeded = huge.tasks_failed = INT64_MAX;
    check_further(huge, telling());
}

/* Another report of a log that is there: every combination of what is known of both. */
Test(run_reach, what_becomes_of_another_report_of_a_log)
{
    struct run longer = telling(), shorter = telling(), ended = telling();
    longer.duration_s = 20.0;
    ended.ended = true;
    const struct known_log open = {.ended = false}, same = {.ended = true, .same = true};
    const struct known_log done = {.ended = true}, imported = {.ended = true, .undigested = true};
    cr_expect_eq(run_log_verdict(&longer, true, &open, &shorter), RUN_VERDICT_REPLACE);
    cr_expect_eq(run_log_verdict(&shorter, true, &open, &longer), RUN_VERDICT_KEEP);
    cr_expect_eq(run_log_verdict(&ended, true, &open, &longer), RUN_VERDICT_REPLACE);
    cr_expect_eq(run_log_verdict(&ended, true, &same, &ended), RUN_VERDICT_KEEP);
    cr_expect_eq(run_log_verdict(&ended, true, &done, &ended), RUN_VERDICT_CONFLICT);
    cr_expect_eq(run_log_verdict(&longer, true, &done, &ended), RUN_VERDICT_CONFLICT);
    cr_expect_eq(run_log_verdict(&ended, true, &imported, &ended), RUN_VERDICT_REPLACE,
                 "a log completes what was imported without");
    cr_expect_eq(run_log_verdict(&ended, false, &imported, &ended), RUN_VERDICT_CONFLICT,
                 "what has no digest itself completes nothing");
    cr_expect_eq(run_log_verdict(&longer, true, &imported, &ended), RUN_VERDICT_CONFLICT);
}
