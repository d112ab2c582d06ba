#include "core/scheduling/slots/slots_outcome.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "slots_cases.h"

static const struct slots_terms fifo = {.policy = &slots_policy_fifo};

static bool close_to(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fmax(1, fabs(b));
}

/* A's maps run 1-4, 1-3 and 3-7, its reduce 7-8; B's map 4-5, its reduce 8-10. */
Test(slots_outcome, two_jobs_by_hand)
{
    struct slots_case two = {.cluster = {.slots = {2, 1}, .slow_start = 0.05},
                             .given = {{.arrival_s = 1, .maps = {3, 2, 4}, .reduces = {1}},
                                       {.arrival_s = 3, .maps = {1}, .reduces = {2}}}};
    struct slots_job_times times[CASE_JOBS_MAX];
    double runtime_s[2];
    double slowdown[2];
    struct slots_outcome outcome;
    struct arena scratch;
    arena_init(&scratch, 0);
    slots_case_run(&two, &fifo, times);
    cr_expect_eq(times[0].finish_s, 8);
    cr_expect_eq(times[1].start_s, 4);
    cr_expect_eq(times[1].map_end_s, 5);
    cr_expect_eq(times[1].finish_s, 10);
    cr_assert_eq(slots_runtimes_alone(&two.cluster, two.jobs, 2, NULL, &scratch, runtime_s, NULL),
                 PV_OK);
    cr_expect_eq(runtime_s[0], 7);
    cr_expect_eq(runtime_s[1], 3);
    cr_assert_eq(slots_summarize(&two.cluster, two.jobs, 2, times, runtime_s, &scratch, slowdown,
                                 &outcome, NULL),
                 PV_OK);
    cr_expect_eq(slowdown[0], 1);
    cr_expect(close_to(slowdown[1], 7.0 / 3));
    cr_expect_eq(outcome.makespan_s, 9);
    cr_expect(close_to(outcome.utilization, 13.0 / 27));
    /* rates 10/7 and 3/7 */
    cr_expect(close_to(outcome.fairness, 13.0 * 13 / (2 * 109)));
    cr_expect_eq(outcome.completion_s.mean, 7);
    cr_expect_eq(outcome.completion_s.p99, 7);
    cr_expect(close_to(outcome.slowdown.mean, 5.0 / 3));
    cr_expect(close_to(outcome.slowdown.p50, 5.0 / 3));
    cr_expect(close_to(outcome.slowdown.p90, 1 + 0.9 * 4 / 3));
    cr_expect(close_to(outcome.slowdown.p95, 1 + 0.95 * 4 / 3));
    cr_expect(close_to(outcome.slowdown.p99, 1 + 0.99 * 4 / 3));
    cr_expect(close_to(outcome.slowdown_variability_95, (1 + 0.95 * 4 / 3) / (5.0 / 3)));
    arena_fini(&scratch);
}

Test(slots_outcome, the_size_does_not_depend_on_how_tasks_are_packed)
{
    struct slots_case listed = {.cluster = {.slots = {1, 1}, .slow_start = 0},
                                .given = {{.arrival_s = 0,
                                           .maps = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.3, 0.3},
                                           .reduces = {0.7, 0.7, 0.7}}}};
    struct slots_case packed = listed;
    slots_case_prepare(&listed, false);
    slots_case_prepare(&packed, true);
    cr_expect_eq(packed.jobs[0].task_lists[SLOTS_MAP].n, 2);
    cr_expect_eq(packed.tasks[0][SLOTS_MAP][1].count, 2);
    cr_expect_eq(slots_tasks_count(&packed.jobs[0].task_lists[SLOTS_MAP]), 9);
    cr_expect_eq(slots_job_size(&listed.jobs[0]), slots_job_size(&packed.jobs[0]));
}

static bool stop(void *context, size_t tasks)
{
    *(size_t *)context = tasks;
    return false;
}

Test(slots_outcome, runtimes_alone_can_be_cancelled)
{
    struct slots_case one = {.cluster = {.slots = {2, 1}, .slow_start = 0.05},
                             .given = {{.arrival_s = 1, .maps = {3, 2, 4}, .reduces = {1}}}};
    size_t reported = 0;
    const struct slots_progress progress = {stop, &reported};
    double runtime_s;
    struct arena scratch;
    arena_init(&scratch, 0);
    slots_case_prepare(&one, true);
    cr_expect_eq(
        slots_runtimes_alone(&one.cluster, one.jobs, 1, &progress, &scratch, &runtime_s, NULL),
        PV_E_CANCELLED);
    cr_expect_eq(reported, 4);
    arena_fini(&scratch);
}
