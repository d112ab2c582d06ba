/* Replays of runs whose tasks take several cores, a share of a GPU, or all slots at once. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "../history/sample_runs.h"
#include "core/advice/replay.h"
#include "core/advice/replay_curve.h"

static struct arena arena;
static struct arena scratch;

static void set_up(void)
{
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
}

static void tear_down(void)
{
    arena_fini(&arena);
    arena_fini(&scratch);
}

TestSuite(stage_slots, .init = set_up, .fini = tear_down, .timeout = 60);

static struct run_stage equal_stage(int64_t id, size_t n, double each_s)
{
    static const int64_t parents[] = {0, 1, 2, 3};
    double *durations_s = arena_array(&arena, n, sizeof *durations_s);
    for (size_t i = 0; i < n; i++)
        durations_s[i] = each_s;
    struct run_stage stage = stage_of_tasks(id, durations_s, n);
    if (id > 0) {
        stage.parents = &parents[id - 1];
        stage.n_parents = 1;
    }
    return stage;
}

static struct replay prepare(const struct run *run)
{
    struct replay replay;
    struct pv_error err = {0};
    enum pv_code code = replay_prepare(run, &arena, &scratch, &replay, &err);
    cr_assert_eq(code, PV_OK, "%s", err.detail);
    return replay;
}

static double predict(const struct replay *replay, int64_t executors, int64_t cores)
{
    struct replay_outcome outcome;
    struct replay_target target = {replay->run->problem_size, executors, cores};
    cr_assert_eq(replay_predict(replay, &target, &scratch, &outcome, NULL), PV_OK);
    return outcome.duration_s;
}

/* 63 tasks of 10 s, cpus cores each, on 4 executors of 8 cores; a start of 5 s. */
Test(stage_slots, a_task_takes_several_cores)
{
    for (int64_t cpus = 1; cpus <= 8; cpus++) {
        struct run_resources profile = {0,    4,         8,           RUN_UNKNOWN,
                                        cpus, {NULL, 0}, RUN_UNKNOWN, (double)NAN};
        struct run_stage stage = equal_stage(0, 63, 10.0);
        double recorded = 5.0 + 10.0 * ceil(63.0 / (4.0 * (double)(8 / cpus)));
        struct run run = run_of_stages(&stage, 1, 63, 4, 8, recorded, 5.0);
        run.resources = &profile;
        run.n_resources = 1;
        struct replay replay = prepare(&run);
        cr_assert_float_eq(replay.overhead_s, 0.0, 1e-9, "waiting is no overhead");
        for (int64_t m = 1; m <= 40; m++) {
            double slots = (double)m * (double)(8 / cpus);
            cr_assert_float_eq(predict(&replay, m, 8), 5.0 + 10.0 * ceil(63.0 / slots), 1e-9);
            slots = (double)m * (double)(16 / cpus);
            cr_assert_float_eq(predict(&replay, m, 16), 5.0 + 10.0 * ceil(63.0 / slots), 1e-9);
        }
    }
}

/* A quarter of a GPU a task: 4 tasks at once, however many cores there are. */
Test(stage_slots, a_share_of_a_gpu_bounds_them)
{
    struct run_resources profile = {0, 4, 8, RUN_UNKNOWN, 1, {"gpu", 3}, 1, 0.25};
    struct run_stage stage = equal_stage(0, 63, 10.0);
    struct run run = run_of_stages(&stage, 1, 63, 4, 8, 5.0 + 40.0, 5.0);
    run.resources = &profile;
    run.n_resources = 1;
    struct replay replay = prepare(&run);
    cr_assert_float_eq(predict(&replay, 8, 8), 5.0 + 20.0, 1e-9);
    cr_assert_float_eq(predict(&replay, 8, 16), 5.0 + 20.0, 1e-9);
    cr_assert_float_eq(predict(&replay, 8, 2), 5.0 + 40.0, 1e-9, "two cores take two tasks");
    run.asked.gpus_per_task = 0.125;
    replay = prepare(&run);
    cr_assert_float_eq(predict(&replay, 4, 8), 5.0 + 20.0, 1e-9, "as asked: 8 tasks on each");
}

/* 62 tasks of a core each, then 5 that take a whole executor of 4 cores and share the executors. */
Test(stage_slots, stages_of_two_profiles_on_the_same_executors)
{
    struct run_resources profiles[] = {
        {0, 4, 4, RUN_UNKNOWN, 1, {NULL, 0}, RUN_UNKNOWN, (double)NAN},
        {1, 0, 4, RUN_UNKNOWN, 4, {NULL, 0}, RUN_UNKNOWN, (double)NAN}};
    struct run_stage stages[] = {equal_stage(0, 62, 10.0), equal_stage(1, 5, 120.0)};
    stages[1].resource_profile_id = 1;
    struct run run = run_of_stages(stages, 2, 62, 4, 4, 5.0 + 40.0 + 240.0, 5.0);
    run.resources = profiles;
    run.n_resources = 2;
    struct replay replay = prepare(&run);
    for (int64_t m = 1; m <= 40; m++) {
        double want = 5.0 + 10.0 * ceil(62.0 / (4.0 * (double)m)) + 120.0 * ceil(5.0 / (double)m);
        cr_assert_float_eq(predict(&replay, m, 4), want, 1e-9, "m = %lld", (long long)m);
    }
}

/* 4 tasks of 3 cores or 6 tasks of 2 on an executor of 12: 12 units, of which they take 3 or 2. */
Test(stage_slots, units_are_the_least_that_all_stages_divide)
{
    struct run_resources profiles[] = {
        {0, 4, 12, RUN_UNKNOWN, 3, {NULL, 0}, RUN_UNKNOWN, (double)NAN},
        {1, 0, 12, RUN_UNKNOWN, 2, {NULL, 0}, RUN_UNKNOWN, (double)NAN}};
    struct run_stage stages[] = {equal_stage(0, 16, 10.0), equal_stage(1, 24, 10.0)};
    struct allocation_job job = {.job = NULL};
    stages[1].resource_profile_id = 1;
    struct run run = run_of_stages(stages, 2, 16, 4, 12, 25.0, 5.0);
    run.resources = profiles;
    run.n_resources = 2;
    struct replay replay = prepare(&run);
    cr_assert_eq(stage_slots_allocate(&replay.slots, 12, &arena, &job, NULL), PV_OK);
    cr_expect_eq(job.cores_per_executor, 12);
    cr_assert_not_null(job.task_units);
    cr_expect_eq(job.task_units[0], 3);
    cr_expect_eq(job.task_units[1], 2);
    cr_assert_float_eq(predict(&replay, 2, 12), 5.0 + 20.0 + 20.0, 1e-9);
}

/* 5, 7, 11, 13 and 17 tasks on an executor have more than 4096 units in common: the slots of each stage are
 * still right to a sixteenth, and so are those of one core a task on 10,000 cores. */
Test(stage_slots, many_different_slots_share_an_executor)
{
    static const int64_t cpus[] = {2000, 1428, 909, 769, 588, 1};
    struct run_resources profiles[6];
    struct run_stage stages[6];
    double recorded = 0.0;
    for (int64_t i = 0; i < 6; i++) {
        profiles[i] = (struct run_resources){i,       i == 0 ? 1 : 0, 10000,       RUN_UNKNOWN,
                                             cpus[i], {NULL, 0},      RUN_UNKNOWN, (double)NAN};
        stages[i] = equal_stage(0, 3 * (size_t)(10000 / cpus[i]) / 2, 10.0);
        stages[i].id = i;
        stages[i].resource_profile_id = i;
        recorded += 20.0;
    }
    static const int64_t parents[] = {0, 1, 2, 3, 4};
    for (int64_t i = 1; i < 6; i++) {
        stages[i].parents = &parents[i - 1];
        stages[i].n_parents = 1;
    }
    struct run run = run_of_stages(stages, 6, 8, 1, 10000, recorded, 0.0);
    run.resources = profiles;
    run.n_resources = 6;
    struct replay replay = prepare(&run);
    cr_assert_float_eq(replay.overhead_s, 0.0, 1e-9);
    cr_assert_float_eq(predict(&replay, 1, 10000), 120.0, 1e-9);
    cr_assert_float_eq(predict(&replay, 2, 10000), 60.0, 1e-9);
}

/* Executors of a profile of their own: a third of all, with one slot each, whatever cores are asked. */
Test(stage_slots, stages_with_executors_of_their_own_run_beside_others)
{
    struct run_resources profiles[] = {
        {0, 4, 4, RUN_UNKNOWN, 1, {NULL, 0}, RUN_UNKNOWN, (double)NAN},
        {1, 2, 2, RUN_UNKNOWN, 2, {"gpu", 3}, 2, 2.0}};
    struct run_stage stages[] = {equal_stage(0, 62, 10.0), equal_stage(1, 6, 30.0)};
    stages[1].resource_profile_id = 1;
    stages[1].n_parents = 0;
    struct run run = run_of_stages(stages, 2, 62, 6, 4, 5.0 + 90.0, 5.0);
    run.resources = profiles;
    run.n_resources = 2;
    struct replay replay = prepare(&run);
    for (int64_t m = 3; m <= 30; m += 3) {
        double first = 10.0 * ceil(62.0 / (4.0 * 2.0 * (double)m / 3.0));
        double second = 30.0 * ceil(6.0 / ((double)m / 3.0));
        cr_assert_float_eq(predict(&replay, m, 4), 5.0 + fmax(first, second), 1e-9, "m = %lld",
                           (long long)m);
    }
}

/* The number of tasks of a barrier stage is the program's, also where it fits the machines. */
Test(stage_slots, a_barrier_stage_keeps_its_tasks)
{
    struct run_stage stages[] = {equal_stage(0, 30, 10.0), equal_stage(1, 8, 100.0)};
    stages[1].barrier = true;
    struct run run = run_of_stages(stages, 2, 30, 4, 2, 5.0 + 40.0 + 100.0, 5.0);
    struct replay replay = prepare(&run);
    for (int64_t m = 4; m <= 32; m++)
        cr_assert_float_eq(predict(&replay, m, 2), 105.0 + 10.0 * ceil(15.0 / (double)m), 1e-9);
    stages[1].barrier = false;
    replay = prepare(&run);
    cr_assert_lt(predict(&replay, 8, 2), 100.0, "one observation: the tasks may follow the cores");
}

Test(stage_slots, executors_with_too_few_cores_for_a_task_are_refused)
{
    struct run_resources profile = {0, 4, 2, RUN_UNKNOWN, 4, {NULL, 0}, RUN_UNKNOWN, (double)NAN};
    struct run_stage stage = equal_stage(0, 4, 10.0);
    struct run run = run_of_stages(&stage, 1, 4, 4, 2, 15.0, 5.0);
    struct replay replay;
    struct pv_error err = {0};
    run.resources = &profile;
    run.n_resources = 1;
    cr_assert_eq(replay_prepare(&run, &arena, &scratch, &replay, &err), PV_E_TOO_FEW);
    cr_assert_str_eq(err.detail,
                     "a task takes 4 CPUs (spark.task.cpus), more than the 2 cores of an "
                     "executor");
}

/* With dynamic allocation, on 4 executors of 4 cores at most, one asked for after 1 s, then 2, then 4;
 * startup 0: tasks that take 4 cores need an executor each. */
Test(stage_slots, dynamic_allocation_counts_slots)
{
    struct edf_stage stage = {.tasks = 4, .task_duration_s = 100.0};
    const struct edf_job job = {.deadline_s = 1.0, .stages = &stage, .n_stages = 1};
    static const int64_t whole[] = {4}, single[] = {1};
    struct allocation_job tasks = {.job = &job, .cores_per_executor = 4, .task_units = whole};
    const struct allocation_policy policy = {.initial_executors = 1,
                                             .max_executors = 8,
                                             .allocation_ratio = 1.0,
                                             .idle_timeout_s = 60.0,
                                             .backlog_timeout_s = 1.0,
                                             .sustained_backlog_timeout_s = 1.0,
                                             .shuffle_timeout_s = (double)INFINITY};
    struct allocation_outcome outcome;
    cr_assert_eq(allocation_replay(&tasks, &policy, 1000, &arena, &scratch, &outcome, NULL), PV_OK);
    cr_assert_eq(outcome.peak_executors, 4);
    cr_assert_float_eq(outcome.duration_s, 102.0, 1e-9);
    tasks.task_units = single;
    cr_assert_eq(allocation_replay(&tasks, &policy, 1000, &arena, &scratch, &outcome, NULL), PV_OK);
    cr_assert_eq(outcome.peak_executors, 1);
    cr_assert_float_eq(outcome.duration_s, 100.0, 1e-9);
}

/* A stage whose tasks fit on no executor lets the next one pass: 1 executor of 4 cores. */
Test(stage_slots, a_stage_that_does_not_fit_lets_others_pass)
{
    struct edf_stage stages[] = {{.id = 0, .tasks = 1, .task_duration_s = 10.0},
                                 {.id = 1, .tasks = 1, .task_duration_s = 10.0},
                                 {.id = 2, .tasks = 3, .task_duration_s = 10.0}};
    const struct edf_job job = {.deadline_s = 1.0, .stages = stages, .n_stages = 3};
    static const int64_t units[] = {1, 4, 1};
    const struct allocation_job tasks = {.job = &job, .cores_per_executor = 4, .task_units = units};
    const struct allocation_policy policy = allocation_fixed(1);
    struct allocation_outcome outcome;
    cr_assert_eq(allocation_replay(&tasks, &policy, 1000, &arena, &scratch, &outcome, NULL), PV_OK);
    cr_assert_float_eq(outcome.duration_s, 20.0, 1e-9);
}

/* Twice the data on twice the executors with four times the slots may be faster than the run. */
Test(stage_slots, weak_scaling_is_of_slots)
{
    static const int64_t eight[] = {8};
    struct run_resources profile = {0, 4, 8, RUN_UNKNOWN, 2, {NULL, 0}, RUN_UNKNOWN, (double)NAN};
    struct run_stage stage = equal_stage(0, 400, 10.0);
    struct run run = run_of_stages(&stage, 1, 100, 4, 8, 5.0 + 250.0, 5.0);
    struct curve_question question = {200, 8, eight, 1, 100000, 1, 0};
    struct curve curve;
    run.resources = &profile;
    run.n_resources = 1;
    cr_assert_eq(replay_curve_make(&run, 1, &question, &arena, &scratch, &curve, NULL), PV_OK);
    cr_assert_float_eq(curve.points[0].duration_s, 5.0 + 13 * 20.0, 1e-6);
    run.asked.task_cores = 1;
    cr_assert_eq(replay_curve_make(&run, 1, &question, &arena, &scratch, &curve, NULL), PV_OK);
    cr_assert_lt(curve.points[0].duration_s, 160.0);
}

/* The greatest numbers that a record may hold do not overflow. */
Test(stage_slots, the_greatest_numbers_of_a_record)
{
    const int64_t most = 1000000000;
    struct run_resources profiles[] = {
        {0, 1, most, RUN_UNKNOWN, 1, {NULL, 0}, RUN_UNKNOWN, (double)NAN},
        {1, 0, most, RUN_UNKNOWN, 1, {"gpu", 3}, most - 1, 1.0}};
    struct run_stage stages[] = {equal_stage(0, 8, 10.0), equal_stage(1, 8, 10.0)};
    stages[1].resource_profile_id = 1;
    struct run run = run_of_stages(stages, 2, 8, most, most, 25.0, 5.0);
    run.resources = profiles;
    run.n_resources = 2;
    struct replay replay = prepare(&run);
    cr_assert_float_eq(predict(&replay, most, most), 25.0, 1e-9);
    cr_assert_float_eq(predict(&replay, 1, most), 25.0, 1e-9);
}
