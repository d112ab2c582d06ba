/* Runs as jobs by hand: what each way of knowing task times gives, and what is not known. */
#include "core/workload/run_job.h"

#include <criterion/criterion.h>
#include <math.h>

static struct run_job made;
static bool known;

static void make(const struct run_stage stages[], size_t n)
{
    static struct arena arena;
    struct pv_error err = {.code = PV_OK};
    arena_fini(&arena);
    arena_init(&arena, 0);
    cr_assert_eq(run_job_make(stages, n, &arena, &made, &known, &err), PV_OK);
}

static struct run_stage stage_of(int64_t id)
{
    return (struct run_stage){.id = id,
                              .n_tasks = RUN_UNKNOWN,
                              .task_duration_s = (double)NAN,
                              .task_time_s = (double)NAN,
                              .metrics = {.input_bytes = RUN_UNKNOWN}};
}

static struct run_stage listed(int64_t id, const double durations_s[], int64_t n)
{
    struct run_stage stage = stage_of(id);
    stage.task_durations_s = durations_s;
    stage.n_tasks = n;
    return stage;
}

static struct run_stage averaged(int64_t id, double mean_s, int64_t n)
{
    struct run_stage stage = stage_of(id);
    stage.task_duration_s = mean_s;
    stage.n_tasks = n;
    return stage;
}

static void expect_run(enum workload_list list, size_t i, double duration_s, uint64_t count)
{
    cr_assert_gt(made.job.n_runs[list], i);
    cr_expect_float_eq(made.job.runs[list][i].duration_s, duration_s, 1e-12);
    cr_expect_eq(made.job.runs[list][i].count, count);
}

static const double three[] = {2, 2, 5};

Test(run_job, tasks_of_all_stages_are_one_bag_in_their_order)
{
    const struct run_stage stages[] = {listed(0, three, 3), averaged(1, 5, 4), averaged(3, 1.5, 2)};
    make(stages, 3);
    cr_assert(known);
    expect_run(WORKLOAD_TASKS, 0, 2, 2);
    expect_run(WORKLOAD_TASKS, 1, 5, 5); /* of two stages, equally long */
    expect_run(WORKLOAD_TASKS, 2, 1.5, 2);
    cr_expect(made.job.n_runs[WORKLOAD_TASKS] == 3 && made.job.n_runs[WORKLOAD_REDUCES] == 0);
    cr_expect(made.durations.recorded == 3 && made.durations.from_means == 6);
    cr_expect(made.durations.from_sketches == 0 && made.raised_tasks == 0);
    cr_expect(isnan(made.job.input_bytes) && isnan(made.job.predicted_size_s));
}

Test(run_job, a_mean_follows_from_the_time_of_all_tasks)
{
    struct run_stage stage = stage_of(0);
    stage.n_tasks = 4;
    stage.task_time_s = 10;
    make(&stage, 1);
    cr_assert(known);
    expect_run(WORKLOAD_TASKS, 0, 2.5, 4);
}

Test(run_job, a_sketch_says_where_durations_are_from)
{
    static const struct task_group groups[] = {{2, 2}, {1, 5}};
    struct run_stage stage = listed(0, three, 3);
    stage.task_sketch = groups;
    stage.n_task_sketch = 2;
    make(&stage, 1);
    cr_expect(made.durations.from_sketches == 3 && made.durations.recorded == 0);
}

Test(run_job, a_job_of_mapreduce_has_maps_and_reduces)
{
    struct run_stage stages[] = {listed(0, three, 3), averaged(1, 7, 2)};
    stages[0].name = strview_of("map");
    stages[0].metrics.input_bytes = 300;
    stages[1].name = strview_of("reduce");
    stages[1].metrics.input_bytes = 50;
    make(stages, 2);
    cr_assert(known);
    expect_run(WORKLOAD_TASKS, 1, 5, 1);
    expect_run(WORKLOAD_REDUCES, 0, 7, 2);
    cr_expect(made.job.n_runs[WORKLOAD_TASKS] == 2 && made.job.n_runs[WORKLOAD_REDUCES] == 1);
    cr_expect(made.job.input_bytes == 300);
    stages[1].name = strview_of("join"); /* of Spark */
    make(stages, 2);
    cr_expect(made.job.n_runs[WORKLOAD_TASKS] == 3 && made.job.n_runs[WORKLOAD_REDUCES] == 0);
    cr_expect(made.job.input_bytes == 350);
}

Test(run_job, stages_that_did_not_run_have_no_tasks)
{
    struct run_stage stages[] = {listed(0, three, 3), stage_of(1), averaged(2, (double)NAN, 0)};
    stages[1].skipped = true;
    make(stages, 3);
    cr_assert(known);
    cr_expect_eq(made.durations.recorded, 3);
    cr_expect_eq(made.job.n_runs[WORKLOAD_TASKS], 2);
}

Test(run_job, a_stage_of_which_too_little_is_known_makes_the_job_unknown)
{
    const struct run_stage with_count[] = {listed(0, three, 3), averaged(1, (double)NAN, 4)};
    const struct run_stage with_mean[] = {listed(0, three, 3), averaged(1, 4, RUN_UNKNOWN)};
    make(with_count, 2);
    cr_expect_not(known);
    make(with_mean, 2);
    cr_expect_not(known);
    make(NULL, 0);
    cr_expect_not(known);
    const struct run_stage empty = averaged(0, 3, 0);
    make(&empty, 1);
    cr_expect_not(known);
}

Test(run_job, a_task_that_took_no_time_took_a_millisecond)
{
    static const double durations_s[] = {0, 0, 2};
    const struct run_stage stage = listed(0, durations_s, 3);
    make(&stage, 1);
    expect_run(WORKLOAD_TASKS, 0, RUN_JOB_LEAST_S, 2);
    expect_run(WORKLOAD_TASKS, 1, 2, 1);
    cr_expect_eq(made.raised_tasks, 2);
}
