/* The tasks of an application on a configuration, by hand. */
#include "core/advice/advised_job.h"

#include <criterion/criterion.h>
#include <gsl/gsl_errno.h>
#include <math.h>

#include "../history/sample_runs.h"

static struct arena arena;
static struct run_stage stages[2][2];
static int64_t parents[] = {0};
static double first_s[12], second_s[4];
static const struct replay_target same = {16, 1, 4};

/* On 4 cores: 6 s of start-up, 12 tasks of 4 s, 3 s of the driver, 4 tasks of 5 s, the ending. */
static struct run make_run(size_t which, int64_t size, double ending_s)
{
    struct run_stage *of = stages[which];
    of[0] = stage_of_tasks(0, first_s, 12);
    of[0].started_s = 6;
    of[0].duration_s = 12;
    of[1] = stage_of_tasks(1, second_s, 4);
    of[1].started_s = 21;
    of[1].duration_s = 5;
    of[1].parents = parents;
    of[1].n_parents = 1;
    return run_of_stages(of, 2, size, 1, 4, 26 + ending_s, 6);
}

static void set_up(void)
{
    gsl_set_error_handler_off();
    arena_init(&arena, 0);
    for (size_t t = 0; t < 12; t++)
        first_s[t] = 4;
    for (size_t t = 0; t < 4; t++)
        second_s[t] = 5;
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(advised_job, .init = set_up, .fini = tear_down, .timeout = 20);

static struct advised_job make(const struct run runs[], size_t n, double duration_s)
{
    struct advised_job made;
    struct pv_error err = {0};
    cr_assert_eq(advised_job_make(runs, n, &same, duration_s, &arena, &made, &err), PV_OK, "%s",
                 err.detail);
    return made;
}

static double task_s(const struct edf_stage *stage, size_t t)
{
    return stage->task_durations_s != NULL ? stage->task_durations_s[t] : stage->task_duration_s;
}

Test(advised_job, on_its_own_cores_it_is_the_run)
{
    struct run run = make_run(0, 16, 2);
    struct advised_job made = make(&run, 1, (double)NAN);
    cr_expect_eq(made.run, &run);
    cr_expect_float_eq(made.duration_s, 28, 1e-9);
    cr_expect_float_eq(made.fixed_s, 11, 1e-9);
    cr_expect_float_eq(made.initialization_s, 6, 1e-9);
    cr_expect_float_eq(made.delays_s[0], 0, 1e-9);
    cr_expect_float_eq(made.delays_s[1], 3, 1e-9);
    cr_expect_float_eq(made.ending_s, 2, 1e-9);
    cr_assert_eq(made.job.n_stages, 2);
    cr_assert_eq(made.job.stages[0].tasks, 12);
    cr_expect_float_eq(task_s(&made.job.stages[0], 11), 4, 1e-9);
    cr_expect_float_eq(task_s(&made.job.stages[1], 0), 5, 1e-9);
}

/* Predicted to take twice as long: tasks and what needs no core last twice as long. */
Test(advised_job, it_is_stretched_to_the_predicted_duration)
{
    struct run run = make_run(0, 16, 2);
    struct advised_job made = make(&run, 1, 56);
    cr_expect_float_eq(made.duration_s, 56, 1e-9);
    cr_expect_lt(made.duration_s, 56 - 1e-10, "by more than a schedule rounds");
    cr_expect_float_eq(made.fixed_s, 22, 1e-9);
    cr_expect_float_eq(made.initialization_s, 12, 1e-9);
    cr_expect_float_eq(made.delays_s[1], 6, 1e-9);
    cr_expect_float_eq(made.ending_s, 4, 1e-9);
    cr_expect_float_eq(task_s(&made.job.stages[0], 0), 8, 1e-9);
    cr_expect_float_eq(task_s(&made.job.stages[1], 3), 10, 1e-9);
}

/* For a schedule: delays before stages, and a last stage without tasks for the ending. */
Test(advised_job, a_schedule_has_its_delays)
{
    struct run run = make_run(0, 16, 2);
    struct advised_job made = make(&run, 1, (double)NAN);
    struct edf_job job;
    cr_assert_eq(advised_job_delay(&made, &same, &arena, &job, NULL), PV_OK);
    cr_assert_eq(job.n_stages, 3);
    cr_expect_float_eq(job.stages[0].delay_s, 6, 1e-9);
    cr_expect_float_eq(job.stages[1].delay_s, 3, 1e-9);
    const struct edf_stage *last = &job.stages[2];
    cr_expect(last->id == 2 && last->tasks == 0);
    cr_expect_float_eq(last->delay_s, 2, 1e-9);
    cr_assert_eq(last->n_parents, 1, "only what no other stage reads");
    cr_expect_eq(last->parents[0], 1);
    struct edf_outcome outcome;
    cr_assert_eq(edf_schedule(&job, 1, 4, &arena, &outcome, NULL, NULL, NULL), PV_OK);
    cr_expect_float_eq(outcome.execution_s, 28, 1e-9);
    /* Nothing after the last stage. */
    run = make_run(0, 16, 0);
    made = make(&run, 1, (double)NAN);
    cr_assert_eq(advised_job_delay(&made, &same, &arena, &job, NULL), PV_OK);
    cr_expect_eq(job.n_stages, 2);
}

/* Runs that cannot be replayed are passed over; of the others the nearest in size is taken, the first of
 * equals. */
Test(advised_job, the_nearest_run_is_taken)
{
    struct run runs[] = {make_run(0, 16, 2), make_run(1, 64, 2), make_run(1, 16, 2)};
    runs[0].has_stages = false;
    runs[0].n_stages = 0;
    cr_expect_eq(make(runs, 2, (double)NAN).run, &runs[1]);
    cr_expect_eq(make(runs, 3, (double)NAN).run, &runs[2]);
    runs[0] = make_run(0, 16, 2);
    cr_expect_eq(make(runs, 3, (double)NAN).run, &runs[0]);
    struct pv_error err = {0};
    struct advised_job made;
    runs[0].n_stages = 0;
    runs[0].has_stages = false;
    cr_assert_eq(advised_job_make(runs, 1, &same, (double)NAN, &arena, &made, &err), PV_E_TOO_FEW);
    cr_expect_str_eq(err.detail, "no run can be replayed");
}

/* Whether the first stage found executors: by the log, else by how dynamic allocation begins. */
Test(advised_job, the_first_stage_waited_for_executors_or_not)
{
    struct run run = make_run(0, 16, 2);
    cr_expect(make(&run, 1, (double)NAN).awaited_executors, "a fixed number");
    struct run_label dynamic[] = {
        {strview_of("spark.dynamicAllocation.enabled"), strview_of("true")},
        {strview_of("spark.dynamicAllocation.initialExecutors"), strview_of("0")}};
    run.spark_properties = dynamic;
    run.n_spark_properties = 2;
    cr_expect(!make(&run, 1, (double)NAN).awaited_executors);
    dynamic[1].value = strview_of("1");
    cr_expect(make(&run, 1, (double)NAN).awaited_executors);
    struct executor_lifetime one = {.added_s = 6, .removed_s = (double)INFINITY};
    run.executor_lifetimes = &one;
    run.n_executor_lifetimes = 1;
    cr_expect(make(&run, 1, (double)NAN).awaited_executors);
    one.added_s = 6.5;
    cr_expect(!make(&run, 1, (double)NAN).awaited_executors);
}
