/* Which of two logs of one run is more complete, and what becomes of the one that comes later. */
#include "core/history/run_reach.h"

#include <criterion/criterion.h>
#include <math.h>

#include "core/history/log_damage.h"

/* Unfinished, 10 s long, 4 tasks, 1 stage, 1 job. */
static struct run telling(void)
{
    return (struct run){.duration_s = 10.0,
                        .jobs = 1,
                        .stages_completed = 1,
                        .tasks_succeeded = 3,
                        .tasks_failed = 1};
}

static struct run ended(void)
{
    struct run run = telling();
    run.ended = true;
    return run;
}

static struct arena arena;

static struct run damaged(struct run run, const char *code, double count)
{
    run.warnings.arena = &arena;
    struct finding *finding = finding_add(&run.warnings, code, "lost");
    if (count > 0)
        finding_number(finding, "count", count);
    return run;
}

static struct run with_digest(struct run run, const char *bytes)
{
    run.log_digest = (struct strview){bytes, RUN_DIGEST_BYTES};
    return run;
}

static const char one[RUN_DIGEST_BYTES] = {1}, two[RUN_DIGEST_BYTES] = {2},
                  three[RUN_DIGEST_BYTES] = {3}, four[RUN_DIGEST_BYTES] = {4};

static void check_more(struct run more, struct run less)
{
    cr_assert_gt(run_compare_reach(&more, &less), 0);
    cr_assert_lt(run_compare_reach(&less, &more), 0);
}

static void begin(void)
{
    arena_init(&arena, 0);
}

static void end(void)
{
    arena_fini(&arena);
}

TestSuite(run_reach, .init = begin, .fini = end);

Test(run_reach, an_end_reaches_further_than_anything)
{
    struct run open = telling();
    open.duration_s = 1000.0;
    check_more(ended(), open);
    check_more(damaged(ended(), "damaged_lines", 7), open);
}

Test(run_reach, the_later_last_event_reaches_further)
{
    struct run more = telling(), less = telling();
    less.duration_s = 9.999;
    less.tasks_succeeded = 100;
    check_more(more, less);
    check_more(damaged(more, "damaged_lines", 1), less);
    less.duration_s = (double)NAN;
    check_more(more, less);
    more.duration_s = (double)NAN;
    more.tasks_succeeded = 101;
    check_more(more, less);
}

Test(run_reach, an_intact_log_that_has_ended_comes_before_a_damaged_one)
{
    struct run more = ended();
    more.tasks_succeeded = 50;
    check_more(ended(), damaged(more, "damaged_lines", 1));
    check_more(ended(), damaged(more, "lost_events", 0));
    check_more(damaged(more, "missing_part", 5), damaged(ended(), "damaged_lines", 1));
    check_more(damaged(ended(), "truncated", 1), damaged(ended(), "damaged_lines", 2));
}

Test(run_reach, at_one_instant_counts_decide)
{
    struct run same = telling(), less = telling();
    cr_assert_eq(run_compare_reach(&same, &less), 0);
    less.tasks_failed = 0;
    check_more(telling(), less);
    less = telling();
    less.stages_completed = 0;
    check_more(telling(), less);
    less = telling();
    less.jobs = RUN_UNKNOWN;
    check_more(telling(), less);
    less.tasks_succeeded = less.tasks_failed = RUN_UNKNOWN;
    check_more(telling(), less);
    check_more(telling(), damaged(telling(), "damaged_lines", 1));
}

Test(run_reach, then_digests_decide)
{
    check_more(with_digest(telling(), one), telling());
    check_more(with_digest(telling(), two), with_digest(telling(), one));
}

Test(run_reach, a_task_that_is_lost_again_is_no_step_back)
{
    struct run before = telling(), after = telling();
    after.tasks_succeeded--;
    after.tasks_failed++;
    cr_assert_eq(run_compare_reach(&after, &before), 0);
}

Test(run_reach, sums_beyond_all_bounds_are_the_most_there_is)
{
    struct run huge = telling();
    huge.tasks_succeeded = huge.tasks_failed = INT64_MAX;
    check_more(huge, telling());
}

Test(run_reach, damage_is_counted_over_all_that_was_lost)
{
    struct run run = damaged(damaged(telling(), "damaged_lines", 3), "lost_events", 40);
    cr_assert_eq(log_damage(&run), 43);
    struct run sound = damaged(damaged(telling(), "mixed_executors", 3), "no_application_end", 1);
    cr_assert_eq(log_damage(&sound), 0);
}

static enum run_verdict verdict(struct run run, struct run stored)
{
    return run_log_verdict(&run, &stored);
}

Test(run_reach, what_becomes_of_another_log_of_a_run)
{
    struct run longer = with_digest(telling(), one), shorter = with_digest(telling(), two);
    struct run whole = with_digest(ended(), one), contradicting = with_digest(ended(), two);
    struct run spoilt = damaged(contradicting, "damaged_lines", 1);
    longer.duration_s = 20.0;
    longer.log_digest.at = three;
    cr_expect_eq(verdict(longer, shorter), RUN_VERDICT_REPLACE);
    cr_expect_eq(verdict(shorter, longer), RUN_VERDICT_KEEP);
    cr_expect_eq(verdict(whole, longer), RUN_VERDICT_REPLACE);
    cr_expect_eq(verdict(longer, whole), RUN_VERDICT_KEEP);
    cr_expect_eq(verdict(whole, spoilt), RUN_VERDICT_REPLACE);
    cr_expect_eq(verdict(spoilt, whole), RUN_VERDICT_KEEP);
    cr_expect_eq(verdict(whole, contradicting), RUN_VERDICT_CONFLICT);
    cr_expect_eq(verdict(contradicting, whole), RUN_VERDICT_CONFLICT);
    cr_expect_eq(verdict(whole, whole), RUN_VERDICT_KEEP, "the same log");
}

static struct run of_cluster(struct run run, const char *cluster)
{
    run.log_beginning = (struct strview){cluster, 8};
    return run;
}

#define CLUSTER_A "\0\0\0\0\0\0\0a"
#define CLUSTER_B "\0\0\0\0\0\0\0b"
#define CLUSTER_LOST "\0\0\0\0\0\0\0\0"

Test(run_reach, another_run_is_inserted)
{
    struct run a = of_cluster(with_digest(ended(), one), CLUSTER_A);
    cr_expect_eq(verdict(a, of_cluster(with_digest(ended(), two), CLUSTER_B)), RUN_VERDICT_INSERT);
    struct run later = a;
    later.started_us = 1;
    later.log_digest.at = two;
    cr_expect_eq(verdict(later, a), RUN_VERDICT_INSERT);
}

/* It may be of cluster b as well. */
Test(run_reach, a_log_that_lost_its_cluster_gives_way_but_takes_no_place)
{
    struct run lost =
        of_cluster(damaged(with_digest(ended(), two), "damaged_lines", 1), CLUSTER_LOST);
    struct run whole = of_cluster(with_digest(ended(), one), CLUSTER_A);
    struct run part = of_cluster(with_digest(telling(), three), CLUSTER_A);
    cr_expect_eq(verdict(lost, whole), RUN_VERDICT_KEEP);
    cr_expect_eq(verdict(whole, lost), RUN_VERDICT_REPLACE);
    cr_expect_eq(verdict(lost, part), RUN_VERDICT_INSERT);
    cr_expect_eq(verdict(part, lost), RUN_VERDICT_INSERT);
}

Test(run_reach, a_whole_log_takes_the_place_of_all_that_it_covers)
{
    struct run lost =
        of_cluster(damaged(with_digest(ended(), two), "damaged_lines", 1), CLUSTER_LOST);
    struct run whole = of_cluster(with_digest(ended(), one), CLUSTER_A);
    struct run part = of_cluster(with_digest(telling(), three), CLUSTER_A);
    const struct run stored[] = {of_cluster(with_digest(telling(), four), CLUSTER_B), part, lost};
    bool gives_way[3];
    size_t which;
    cr_expect_eq(run_logs_verdict(&whole, stored, 3, &which, gives_way), RUN_VERDICT_REPLACE);
    cr_expect(which == 1 && !gives_way[0] && gives_way[1] && gives_way[2]);
    cr_expect_eq(run_logs_verdict(&lost, &whole, 1, &which, gives_way), RUN_VERDICT_KEEP);
    cr_expect_eq(run_logs_verdict(&lost, stored, 2, &which, gives_way), RUN_VERDICT_INSERT);
    cr_expect_eq(run_logs_verdict(&whole, stored, 0, &which, gives_way), RUN_VERDICT_INSERT);
}

Test(run_reach, what_becomes_of_a_run_without_a_digest)
{
    struct run whole = with_digest(ended(), one), open = with_digest(telling(), one);
    cr_expect_eq(verdict(whole, ended()), RUN_VERDICT_REPLACE,
                 "a log completes what was imported without");
    cr_expect_eq(verdict(ended(), ended()), RUN_VERDICT_CONFLICT,
                 "what has no digest itself completes nothing");
    cr_expect_eq(verdict(ended(), whole), RUN_VERDICT_CONFLICT);
    cr_expect_eq(verdict(open, ended()), RUN_VERDICT_KEEP);
    cr_expect_eq(verdict(ended(), open), RUN_VERDICT_REPLACE);
}
