/* Runs of sessions without the time in which nobody was there. */
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
    cr_expect_float_eq(got, want, 1e-90, "%g, want %g", got, want);
}

/* The executor comes at 200 s; stages from 1000 to 1100, from 1050 to 1200, from 1250 to 1300 and from 2300 to 2400 s, an end at 3000 s. */
static struct run session(struct run_stage stages[4], struct executor_lifetime *executor)
{
    static const double from_s[4] = {1000, 1050, 1250, 2300}, lasts_s[4] = {100, 150, 50, 100};
    for (size_t i = 0; i < 4; i++)
        stages[i] =
            (struct run_stage){.id = (int64_t)i, .started_s = from_s[i], .duration_s = lasts_s[i]};
    *executor = (struct executor_lifetime){.added_s = 200, .removed_s = (double)NAN, .cores = 1};
    return (struct run){.duration_s = 3000,
                        .initialization_s = 1000,
                        .executor_lifetimes = executor,
                        .n_executor_lifetimes = 1,
                        .idle_s = 800 + 1000 + 600 + 50,
                        .away_s = 800 + 1000 + 600,
                        .core_s = 6000,
                        .stages = stages,
                        .n_stages = 4};
}

/* All of the gaps of 800, 1000 and 600 s, and none of that of 50 s. */
Test(run_idle, gaps_go_and_stages_move_together)
{
    struct run_stage stages[4];
    struct executor_lifetime first;
    struct run run = session(stages, &first);
    leave_out(&run);
    expect(run.duration_s, 600);
    expect(run.initialization_s, 200);
    expect(run.stages[0].started_s, 200);
    expect(run.stages[1].started_s, 250);
    expect(run.stages[2].started_s, 450);
    expect(run.stages[3].started_s, 500);
    expect(run.away_s, 0);
    expect(run.idle_s, 50);
    expect(stages[3].started_s, 2300); /* the run as it was keeps its own */
    leave_out(&run);
    expect(run.duration_s, 600);
}

/* SQL executions without stages took a quarter of the long gaps: 600 of 2400 s are work. */
Test(run_idle, work_without_stages_stays_in_the_gaps)
{
    struct run_stage stages[4];
    struct executor_lifetime first;
    struct run run = session(stages, &first);
    run.away_s = 1800;
    leave_out(&run);
    expect(run.duration_s, 1200);
    expect(run.initialization_s, 400);
    expect(run.stages[3].started_s, 500 + 200 + 250);
}

Test(run_idle, executors_move_with_the_stages)
{
    struct run_stage stages[4];
    struct executor_lifetime executors[3] = {{.added_s = 200, .removed_s = (double)NAN, .cores = 1},
                                             {.added_s = 1800, .removed_s = 2350, .cores = 1},
                                             {.added_s = 1100, .removed_s = 1120, .cores = 1}};
    struct executor_lifetime first;
    struct run run = session(stages, &first);
    run.executor_lifetimes = executors;
    run.n_executor_lifetimes = 3;
    leave_out(&run);
    expect(run.executor_lifetimes[0].added_s, 200);
    cr_expect(isnan(run.executor_lifetimes[0].removed_s));
    expect(run.executor_lifetimes[1].added_s, 500);
    expect(run.executor_lifetimes[1].removed_s, 550);
    expect(run.executor_lifetimes[2].added_s, 300);
    expect(run.executor_lifetimes[2].removed_s, 320);
    expect(run.core_s, 6000 - (2800 - 400) - (550 - 50));
    expect(executors[1].added_s, 1800);
}

/* Instants that are unknown leave the duration alone to be shortened; no time away changes nothing. */
Test(run_idle, what_is_unknown_stays_so)
{
    struct run_stage stages[4];
    struct executor_lifetime first;
    struct run run = session(stages, &first);
    stages[1].started_s = (double)NAN;
    leave_out(&run);
    expect(run.duration_s, 600);
    expect(run.stages[3].started_s, 2300);
    run = session(stages, &first);
    run.away_s = (double)NAN;
    leave_out(&run);
    expect(run.duration_s, 3000);
    cr_expect_eq(run.stages, stages);
    run.away_s = 4000;
    run.n_stages = 0;
    leave_out(&run);
    expect(run.duration_s, 0);
}
