/* Runs of sessions without the time in which they waited for a person. */
#include <criterion/criterion.h>
#include <math.h>

#include "core/history/run_idle.h"

static struct arena arena;

static void set_up(void)
{
    arena_init(&arena, 0);
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(run_idle, .init = set_up, .fini = tear_down, .timeout = 20);

static void leave_out(struct run *run)
{
    struct pv_error err = {0};
    cr_assert_eq(run_leave_out_idle(run, &arena, &err), PV_OK, "%s", err.detail);
}

static void expect(double got, double want)
{
    cr_expect_float_eq(got, want, 1e-9, "%g, want %g", got, want);
}

/* The executor comes at 20 s; stages from 100 to 110, from 105 to 120, from 125 to 130 and from 230 to 240 s, an end at 300 s. */
static struct run session(struct run_stage stages[4], struct executor_lifetime *executor)
{
    static const double from_s[4] = {100, 105, 125, 230}, lasts_s[4] = {10, 15, 5, 10};
    for (size_t i = 0; i < 4; i++)
        stages[i] =
            (struct run_stage){.id = (int64_t)i, .started_s = from_s[i], .duration_s = lasts_s[i]};
    *executor = (struct executor_lifetime){.added_s = 20, .removed_s = (double)NAN, .cores = 1};
    return (struct run){.duration_s = 300,
                        .initialization_s = 100,
                        .executor_lifetimes = executor,
                        .n_executor_lifetimes = 1,
                        .idle_s = 80 + 100 + 60,
                        .core_s = 600,
                        .stages = stages,
                        .n_stages = 4};
}

/* All of the gaps of 80, 100 and 60 s, and none of that of 5 s. */
Test(run_idle, gaps_go_and_stages_move_together)
{
    struct run_stage stages[4];
    struct executor_lifetime first;
    struct run run = session(stages, &first);
    leave_out(&run);
    expect(run.duration_s, 60);
    expect(run.initialization_s, 20);
    expect(run.stages[0].started_s, 20);
    expect(run.stages[1].started_s, 25);
    expect(run.stages[2].started_s, 45);
    expect(run.stages[3].started_s, 50);
    expect(run.idle_s, 0);
    expect(stages[3].started_s, 230); /* the run as it was keeps its own */
    leave_out(&run);
    expect(run.duration_s, 60);
}

/* SQL executions without stages took a quarter of the long gaps: 60 of 240 s are work. */
Test(run_idle, work_without_stages_stays_in_the_gaps)
{
    struct run_stage stages[4];
    struct executor_lifetime first;
    struct run run = session(stages, &first);
    run.idle_s = 180;
    leave_out(&run);
    expect(run.duration_s, 120);
    expect(run.initialization_s, 40);
    expect(run.stages[3].started_s, 50 + 20 + 25);
}

Test(run_idle, executors_move_with_the_stages)
{
    struct run_stage stages[4];
    struct executor_lifetime executors[3] = {{.added_s = 20, .removed_s = (double)NAN, .cores = 1},
                                             {.added_s = 180, .removed_s = 235, .cores = 1},
                                             {.added_s = 110, .removed_s = 112, .cores = 1}};
    struct executor_lifetime first;
    struct run run = session(stages, &first);
    run.executor_lifetimes = executors;
    run.n_executor_lifetimes = 3;
    leave_out(&run);
    expect(run.executor_lifetimes[0].added_s, 20);
    cr_expect(isnan(run.executor_lifetimes[0].removed_s));
    expect(run.executor_lifetimes[1].added_s, 50);
    expect(run.executor_lifetimes[1].removed_s, 55);
    expect(run.executor_lifetimes[2].added_s, 30);
    expect(run.executor_lifetimes[2].removed_s, 32);
    expect(run.core_s, 600 - (280 - 40) - (55 - 5));
    expect(executors[1].added_s, 180);
}

/* Instants that are unknown leave the duration alone to be shortened; no idle time changes nothing. */
Test(run_idle, what_is_unknown_stays_so)
{
    struct run_stage stages[4];
    struct executor_lifetime first;
    struct run run = session(stages, &first);
    stages[1].started_s = (double)NAN;
    leave_out(&run);
    expect(run.duration_s, 60);
    expect(run.stages[3].started_s, 230);
    run = session(stages, &first);
    run.idle_s = (double)NAN;
    leave_out(&run);
    expect(run.duration_s, 300);
    cr_expect_eq(run.stages, stages);
    run.idle_s = 400;
    run.n_stages = 0;
    leave_out(&run);
    expect(run.duration_s, 0);
}
