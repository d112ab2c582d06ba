#include "actuator/executors.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actuator/words.h"

/* A target in memory: places "0" to "7", of which the first half is on worker w0 and the rest on w1. */
enum { PLACES = 8, PER_WORKER = 4, QUANTA = 40 };

struct targets {
    char has[PLACES][QUOTA_TEXT];
    enum target_outcome outcome[PLACES]; /* of writes; of reads, too, where it is TARGET_GONE */
    unsigned writes;
    double worst; /* the most that a worker has ever given away, in quanta */
};

static double quanta(const char *text)
{
    return strcmp(text, "max") == 0 ? (double)INFINITY : strtod(text, NULL);
}

static void watch(struct targets *targets)
{
    for (size_t worker = 0; worker < PLACES / PER_WORKER; worker++) {
        double sum = 0;
        for (size_t i = 0; i < PER_WORKER; i++)
            sum += quanta(targets->has[worker * PER_WORKER + i]);
        targets->worst = fmax(targets->worst, sum);
    }
}

static enum target_outcome
desk_read(void *context, const char *place, char text[QUOTA_TEXT], struct failure *failure)
{
    struct targets *targets = context;
    size_t i = strtoul(place, NULL, 10);
    (void)failure;
    if (targets->outcome[i] == TARGET_GONE)
        return TARGET_GONE;
    memcpy(text, targets->has[i], QUOTA_TEXT);
    return TARGET_DONE;
}

static enum target_outcome
desk_write(void *context, const char *place, const char *text, struct failure *failure)
{
    struct targets *targets = context;
    size_t i = strtoul(place, NULL, 10);
    targets->writes++;
    (void)failure;
    if (targets->outcome[i] != TARGET_DONE)
        return targets->outcome[i];
    (void)snprintf(targets->has[i], QUOTA_TEXT, "%s", text);
    watch(targets);
    return TARGET_DONE;
}

static void
desk_format(const void *context, double cores, const char *cpu_max, char text[QUOTA_TEXT])
{
    (void)context;
    (void)cpu_max;
    (void)snprintf(text, QUOTA_TEXT, "%.0f", cores * 20);
}

static struct targets targets;
static const struct target target = {.context = &targets,
                                     .reads_are_cheap = true,
                                     .read = desk_read,
                                     .write = desk_write,
                                     .format = desk_format,
                                     .cores = quanta};
static struct configuration configuration = {
    .pattern = "{executor}", .floor_cores = 0.25, .restore_on_leave = true};
static char ids[PLACES][8];
static struct grant grants[PLACES];
static struct quota_loop loop = {.grants = grants, .n = PLACES};
static struct executors *executors;

static void set_up(void)
{
    words_be_quiet();
    for (size_t i = 0; i < PLACES; i++) {
        (void)snprintf(ids[i], sizeof ids[i], "%zu", i);
        (void)snprintf(targets.has[i], QUOTA_TEXT, "%d", QUANTA / PER_WORKER);
        grants[i] = (struct grant){
            .id = ids[i], .application = "a", .worker = i < PER_WORKER ? "w0" : "w1", .cores = 0.5};
    }
    cr_assert(executors_open(&configuration, &target, false, false, &executors, NULL));
}

static void tear_down(void)
{
    executors_close(executors);
}

static struct executors_round apply(enum executors_goal goal)
{
    cr_assert(executors_grant(executors, &loop));
    return executors_apply(executors, goal);
}

/* Shares of each worker that add up to all of it. */
static void draw_grants(void)
{
    for (size_t worker = 0; worker < PLACES / PER_WORKER; worker++) {
        int left = QUANTA;
        for (size_t i = 0; i < PER_WORKER; i++) {
            int part = i + 1 == PER_WORKER ? left : rand() % (left + 1);
            grants[worker * PER_WORKER + i].cores = part / 20.0;
            left -= part;
        }
    }
}

Test(executors, never_add_up_to_more_than_the_worker_has, .init = set_up, .fini = tear_down)
{
    srand(7);
    for (int round = 0; round < 2000; round++) {
        draw_grants();
        /* Some cannot be written in this round; grants of the rest are then not all there yet. */
        for (size_t i = 0; i < PLACES; i++)
            targets.outcome[i] = round % 3 > 0 && rand() % 4 == 0 ? TARGET_FAILED : TARGET_DONE;
        (void)apply(GOAL_GRANTS);
        cr_assert_leq(targets.worst, QUANTA, "round %d", round);
    }
    memset(targets.outcome, 0, sizeof targets.outcome);
    cr_assert_eq(apply(GOAL_GRANTS).failed, 0);
    for (size_t i = 0; i < PLACES; i++)
        cr_assert_float_eq(quanta(targets.has[i]), grants[i].cores * 20, 1e-9);
}

Test(executors, are_written_only_where_they_differ, .init = set_up, .fini = tear_down)
{
    cr_assert_eq(apply(GOAL_GRANTS).written, 0, "all have what they are granted");
    grants[2].cores = 0.25;
    cr_assert_eq(apply(GOAL_GRANTS).written, 1);
    cr_assert_eq(apply(GOAL_GRANTS).written, 0);
    cr_assert_eq(targets.writes, 1);
}

Test(executors,
     that_cannot_shrink_keep_others_of_their_worker_from_growing,
     .init = set_up,
     .fini = tear_down)
{
    grants[0].cores = 0;
    grants[1].cores = 1;
    grants[4].cores = 0;
    grants[5].cores = 1;
    targets.outcome[0] = TARGET_REFUSED;
    cr_assert_eq(apply(GOAL_GRANTS).failed, 2);
    cr_assert_str_eq(targets.has[1], "10");
    cr_assert_str_eq(targets.has[5], "20");
    targets.outcome[0] = TARGET_DONE;
    cr_assert_eq(apply(GOAL_GRANTS).failed, 0);
    cr_assert_str_eq(targets.has[1], "20");
}

Test(executors, count_for_the_worker_that_they_have_moved_to, .init = set_up, .fini = tear_down)
{
    grants[0].cores = 1;
    grants[1].cores = 0;
    (void)apply(GOAL_GRANTS);
    grants[0].worker = "w1";
    grants[0].cores = 0;
    grants[1].cores = 1;
    grants[5].cores = 1;
    targets.outcome[0] = TARGET_FAILED;
    (void)apply(GOAL_GRANTS);
    cr_assert_str_eq(targets.has[1], "20", "it is on w0 no longer");
    cr_assert_str_eq(targets.has[5], "10", "and what it still has is w1's");
}

Test(executors,
     that_are_gone_fail_nothing_and_come_back_as_others,
     .init = set_up,
     .fini = tear_down)
{
    configuration.restore_on_exit = true;
    grants[3].cores = 0.05;
    targets.outcome[3] = TARGET_GONE;
    cr_assert_eq(apply(GOAL_GRANTS).failed, 0);
    targets.outcome[3] = TARGET_DONE;
    (void)snprintf(targets.has[3], QUOTA_TEXT, "max");
    cr_assert_eq(apply(GOAL_GRANTS).written, 1);
    cr_assert_str_eq(targets.has[3], "1");
    (void)executors_restore(executors);
    cr_assert_str_eq(targets.has[3], "max");
}

Test(executors,
     have_a_floor_or_what_was_before_while_the_loop_is_stale,
     .init = set_up,
     .fini = tear_down)
{
    grants[0].cores = 0;
    grants[1].cores = 1;
    (void)apply(GOAL_GRANTS);
    (void)executors_apply(executors, GOAL_FLOOR);
    cr_assert_str_eq(targets.has[0], "5");
    cr_assert_str_eq(targets.has[1], "20");
    (void)executors_apply(executors, GOAL_BEFORE);
    cr_assert_str_eq(targets.has[0], "10");
    cr_assert_str_eq(targets.has[1], "10");
    (void)executors_apply(executors, GOAL_GRANTS);
    cr_assert_str_eq(targets.has[0], "0");
}

Test(executors, that_leave_get_back_what_they_had_or_keep_it, .init = set_up, .fini = tear_down)
{
    grants[7].cores = 0.1;
    (void)apply(GOAL_GRANTS);
    loop.n = PLACES - 1;
    (void)apply(GOAL_GRANTS);
    cr_assert_str_eq(targets.has[7], "10");
    loop.n = PLACES;
    (void)apply(GOAL_GRANTS);
    cr_assert_str_eq(targets.has[7], "2");
    configuration.restore_on_leave = false;
    loop.n = PLACES - 1;
    (void)apply(GOAL_GRANTS);
    cr_assert_str_eq(targets.has[7], "2");
}
