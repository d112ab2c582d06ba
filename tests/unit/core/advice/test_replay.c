#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "../history/sample_runs.h"
#include "core/advice/replay.h"

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

TestSuite(replay, .init = set_up, .fini = tear_down, .timeout = 60);

static struct replay prepare(const struct run *run)
{
    struct replay replay;
    struct pv_error err = {0};
    enum pv_code code = replay_prepare(run, &arena, &scratch, &replay, &err);
    cr_assert_eq(code, PV_OK, "%s", err.detail);
    return replay;
}

static double predict(const struct replay *replay, int64_t size, int64_t executors)
{
    struct replay_outcome outcome;
    struct replay_target target = {(double)size, executors, replay->run->cores_per_executor};
    cr_assert_eq(replay_predict(replay, &target, &scratch, &outcome, NULL), PV_OK);
    return outcome.duration_s;
}

static double *equal_tasks(size_t n, double each_s)
{
    double *durations_s = arena_array(&arena, n, sizeof *durations_s);
    for (size_t i = 0; i < n; i++)
        durations_s[i] = each_s;
    return durations_s;
}

/* n equal tasks on K cores take ceil(n/K) rounds, whatever the recorded K. */
Test(replay, equal_tasks_take_ceil_rounds)
{
    struct run_stage stage = stage_of_tasks(0, equal_tasks(24, 2.0), 24);
    struct run run = run_of_stages(&stage, 1, 24, 2, 3, 5.0 + 8.0, 5.0);
    struct replay replay = prepare(&run);
    for (int64_t m = 1; m <= 12; m++) {
        double want = 5.0 + 2.0 * ceil(24.0 / (3.0 * (double)m));
        cr_assert_float_eq(predict(&replay, 24, m), want, 1e-9, "m = %lld", (long long)m);
    }
}

/* A run replayed on its own configuration takes what it took: all sample runs, to a part in 10^9.
 */
Test(replay, reproduces_the_recorded_duration)
{
    for (size_t a = 0; a < sample_catalogue_n; a++) {
        const struct sample_application *application = &sample_catalogue[a];
        for (int i = 0; application->sizes[i] > 0; i++) {
            for (int j = 0; application->executors[j] > 0; j++) {
                int64_t size = application->sizes[i], m = application->executors[j];
                struct run run = sample_as_run(application, size, m, 7, &arena);
                struct replay replay = prepare(&run);
                cr_assert_float_eq(predict(&replay, size, m), run.duration_s,
                                   1e-9 * run.duration_s);
                cr_assert_geq(replay.overhead_s, 0.0);
                cr_assert_geq(replay.fixed_s, 0.0);
            }
        }
    }
}

/* Without the stages' instants the overhead a task takes up what initialization leaves. */
Test(replay, overhead_explains_the_rest)
{
    struct run_stage stage = stage_of_tasks(0, equal_tasks(40, 1.0), 40);
    struct run run = run_of_stages(&stage, 1, 40, 2, 2, 3.0 + 12.0, 3.0);
    struct replay replay = prepare(&run);
    cr_assert_float_eq(replay.overhead_s, 0.2, 1e-6); /* 10 rounds of 1.2 s are 12 s */
    cr_assert_float_eq(predict(&replay, 40, 5), 3.0 + 4.0 * 1.2, 1e-5);
}

/* Stages recorded faster than any replay on the stated cores: the ratio carries over. */
Test(replay, scales_down_when_the_record_is_faster)
{
    struct run_stage stage = stage_of_tasks(0, equal_tasks(8, 2.0), 8);
    struct run run = run_of_stages(&stage, 1, 8, 1, 2, 6.0, 2.0);
    struct replay replay = prepare(&run);
    cr_assert_float_eq(predict(&replay, 8, 1), 6.0, 1e-9);
    cr_assert_float_eq(predict(&replay, 8, 2), 4.0, 1e-9);
}

/* All times k times as long: so is every prediction. */
Test(replay, scales_with_time)
{
    const struct sample_application *application = &sample_catalogue[0];
    struct run run = sample_as_run(application, 64, 4, 3, &arena);
    struct run slow = sample_as_run(application, 64, 4, 3, &arena);
    const double k = 3.0;
    slow.duration_s *= k;
    slow.initialization_s *= k;
    for (size_t s = 0; s < slow.n_stages; s++) {
        struct run_stage *stage = &slow.stages[s];
        double *durations_s = arena_array(&arena, (size_t)stage->n_tasks, sizeof *durations_s);
        for (int64_t t = 0; t < stage->n_tasks; t++)
            durations_s[t] = stage->task_durations_s[t] * k;
        stage->task_durations_s = durations_s;
        stage->started_s *= k;
        stage->duration_s *= k;
        stage->task_time_s *= k;
        stage->task_duration_s *= k;
    }
    struct replay a = prepare(&run), b = prepare(&slow);
    for (int64_t m = 1; m <= 32; m *= 2) {
        double want = k * predict(&a, 64, m);
        cr_assert_float_eq(predict(&b, 64, m), want, 1e-6 * want);
    }
}

/* The work of a stage whose tasks follow the cores is conserved; its count follows. */
Test(replay, stages_that_follow_the_cores_are_rescaled)
{
    struct run_stage stages[2];
    stages[0] = stage_of_tasks(0, equal_tasks(100, 1.0), 100);
    double *uneven = equal_tasks(8, 1.0);
    uneven[3] = 5.0;
    stages[1] = stage_of_tasks(1, uneven, 8);
    int64_t parent = 0;
    stages[1].parents = &parent;
    stages[1].n_parents = 1;
    struct run run = run_of_stages(stages, 2, 100, 4, 2, 30.0, 0.0);
    struct replay replay = prepare(&run);
    cr_assert_eq(replay.laws[0].follows, LAW_SIZE);
    cr_assert_eq(replay.laws[1].follows, LAW_CORES);

    struct replay_target target = {100, 12, 2};
    struct edf_job job;
    cr_assert_eq(replay_job(&replay, &target, &arena, &job, NULL), PV_OK);
    cr_assert_eq(job.stages[0].tasks, 100);
    cr_assert_eq(job.stages[1].tasks, 24);
    double work_s = 0.0;
    for (size_t t = 0; t < 24; t++)
        work_s += job.stages[1].task_durations_s[t];
    cr_assert_float_eq(work_s, 12.0, 1e-9);
}

/* Twice the size: twice the tasks where they follow N, twice the work where they do not. */
Test(replay, another_problem_size)
{
    struct run_stage stages[2];
    stages[0] = stage_of_tasks(0, equal_tasks(30, 1.0), 30);
    stages[1] = stage_of_tasks(1, equal_tasks(7, 2.0), 7);
    int64_t parent = 0;
    stages[1].parents = &parent;
    stages[1].n_parents = 1;
    struct run run = run_of_stages(stages, 2, 30, 5, 2, 5.0, 0.0);
    struct replay replay = prepare(&run);
    struct replay_target target = {60, 5, 2};
    struct edf_job job;
    cr_assert_eq(replay_job(&replay, &target, &arena, &job, NULL), PV_OK);
    cr_assert_eq(job.stages[0].tasks, 60);
    cr_assert_float_eq(job.stages[0].task_durations_s[0], 1.0, 1e-12);
    cr_assert_eq(job.stages[1].tasks, 7);
    cr_assert_float_eq(job.stages[1].task_durations_s[0], 4.0, 1e-12);
}

/* What is unknown is named; nothing is made up in its place. */
Test(replay, names_what_is_unknown)
{
    struct run_stage stage = stage_of_tasks(0, equal_tasks(4, 1.0), 4);
    struct run run = run_of_stages(&stage, 1, 4, RUN_UNKNOWN, 2, 5.0, 0.0);
    struct replay replay;
    struct pv_error err = {0};
    cr_assert_eq(replay_prepare(&run, &arena, &scratch, &replay, &err), PV_E_TOO_FEW);
    cr_assert(strstr(err.detail, "executors") != NULL, "%s", err.detail);
}

/* Memory running out at any allocation is an ordinary error. */
Test(replay, survives_running_out_of_memory)
{
    struct run run = sample_as_run(&sample_catalogue[0], 32, 2, 1, &arena);
    bool finished = false;
    for (size_t limit = 1024; !finished && limit < ((size_t)1 << 24); limit *= 2) {
        struct arena small;
        arena_init(&small, limit);
        struct replay replay;
        struct replay_outcome outcome;
        struct replay_target target = {64, 9, 4};
        enum pv_code code = replay_prepare(&run, &small, &small, &replay, NULL);
        if (code == PV_OK)
            code = replay_predict(&replay, &target, &small, &outcome, NULL);
        cr_assert(code == PV_OK || code == PV_E_MEMORY);
        finished = code == PV_OK;
        arena_fini(&small);
    }
    cr_assert(finished);
}

/* --- runs with dynamic allocation --- */

#define PROPERTY(k, v)                                                                             \
    {                                                                                              \
        .key = {k, sizeof k - 1}, .value = { v, sizeof v - 1 }                                     \
    }

/*
 * 8 tasks of 100 s on single cores: 1, 2, 4 and the last executor are asked for after 1, 2, 3 and 4
 * seconds and take 10 s to start, so that the last task begins after 14 s: 5 + 14 + 100 s. On 8
 * executors from the start on it is 5 + 100.
 */
Test(replay, what_dynamic_allocation_took_is_not_taken_for_work)
{
    static struct run_label properties[] = {PROPERTY("spark.dynamicAllocation.enabled", "true"),
                                            PROPERTY("spark.shuffle.service.enabled", "true")};
    struct run_stage stage = stage_of_tasks(0, equal_tasks(8, 100.0), 8);
    stage.started_s = 5.0;
    stage.duration_s = 114.0;
    struct run run = run_of_stages(&stage, 1, 8, 8, 1, 119.0, 5.0);
    run.executor_startup_s = 10.0;
    struct replay replay = prepare(&run);
    cr_assert_float_eq(predict(&replay, 8, 8), 119.0, 1e-6, "without properties all of it is work");
    run.spark_properties = properties;
    run.n_spark_properties = 2;
    replay = prepare(&run);
    cr_assert(replay.allocation.is_dynamic);
    cr_assert_float_eq(predict(&replay, 8, 8), 105.0, 1e-6);
    struct replay_outcome outcome;
    const struct replay_target recorded = {8, 8, 1}, fewer = {8, 4, 1};
    cr_assert_eq(
        replay_predict_as(&replay, &recorded, &replay.allocation, &scratch, &outcome, NULL), PV_OK);
    cr_assert_float_eq(outcome.duration_s, 119.0, 1e-6);
    /* At most four executors: the last four tasks follow the first four, of which the fourth began
     * after 13 s. */
    cr_assert_eq(replay_predict_as(&replay, &fewer, &replay.allocation, &scratch, &outcome, NULL),
                 PV_OK);
    cr_assert_float_eq(outcome.duration_s, 5.0 + 13.0 + 200.0, 1e-6);
}

/* The driver's time doubles where the size grows fourfold: it does so again. */
Test(replay, time_outside_stages_grows_as_the_runs_show)
{
    struct run_stage stages[] = {stage_of_tasks(0, equal_tasks(3, 5.0), 3),
                                 stage_of_tasks(0, equal_tasks(3, 5.0), 3)};
    struct run runs[] = {run_of_stages(&stages[0], 1, 1, 1, 3, 15.0, 10.0),
                         run_of_stages(&stages[1], 1, 4, 1, 3, 25.0, 20.0)};
    struct replay replays[] = {prepare(&runs[0]), prepare(&runs[1])};
    for (size_t i = 0; i < 2; i++)
        cr_assert_eq(replay_learn(replays, 2, i, 2, &scratch, NULL), PV_OK);
    cr_assert_float_eq(replays[0].fixed_exponent, 0.5, 1e-9);
    cr_assert_float_eq(replay_fixed_s(&replays[1], 16), 40.0, 1e-6);
    cr_assert_float_eq(replay_fixed_s(&replays[0], 16), 40.0, 1e-6);
}

/* As many parents, but other ones: another graph. */
Test(replay, graphs_with_other_parents_are_not_the_same)
{
    struct run_stage stages[2][3];
    struct replay replays[3];
    struct run runs[2];
    static const int64_t first[] = {0}, second[] = {1};
    for (size_t r = 0; r < 2; r++) {
        for (int64_t s = 0; s < 3; s++)
            stages[r][s] = stage_of_tasks(s, equal_tasks(4, 1.0), 4);
        stages[r][2].parents = r == 0 ? first : second;
        stages[r][2].n_parents = 1;
        runs[r] = run_of_stages(stages[r], 3, 4, 1, 4, 10.0, 1.0);
        replays[r] = prepare(&runs[r]);
    }
    replays[2] = prepare(&runs[0]);
    cr_assert(!replay_same_graph(&replays[0], &replays[1]));
    cr_assert(replay_same_graph(&replays[0], &replays[2]));
}

/* 16 tasks on 4 x 4 cores: both hypotheses agree there, and differ on 8 x 4. */
Test(replay, both_hypotheses_can_be_replayed)
{
    struct run_stage stage = stage_of_tasks(0, equal_tasks(16, 120.0), 16);
    struct run run = run_of_stages(&stage, 1, 64, 4, 4, 125.0, 5.0);
    struct replay replay = prepare(&run);
    const struct replay_target own = {64, 4, 4}, other = {64, 8, 4};
    cr_assert_eq(replay.undecided, 1);
    cr_assert_float_eq(replay.machines_probability, 0.5, 0.0);
    cr_assert(!replay_hypotheses_differ(&replay, &own));
    cr_assert(replay_hypotheses_differ(&replay, &other));
    replay_assume(&replay, REPLAY_MACHINES);
    cr_assert_float_eq(predict(&replay, 64, 8), 65.0, 1e-6);
    replay_assume(&replay, REPLAY_OTHERWISE);
    cr_assert_float_eq(predict(&replay, 64, 8), 125.0, 1e-6);
    cr_assert_float_eq(predict(&replay, 64, 4), 125.0, 1e-6);
}

/* A property that sets the number of tasks in one run only does not decide. */
Test(replay, sources_of_a_count_have_to_agree)
{
    static struct run_label properties[] = {PROPERTY("spark.sql.shuffle.partitions", "16")};
    static const int64_t first[] = {0};
    struct run_stage stages[2][2];
    struct run runs[2];
    struct replay replays[2];
    for (size_t r = 0; r < 2; r++) {
        stages[r][0] = stage_of_tasks(0, equal_tasks(37, 1.0), 37);
        stages[r][1] = stage_of_tasks(1, equal_tasks(16, 10.0), 16);
        stages[r][1].parents = first;
        stages[r][1].n_parents = 1;
        runs[r] = run_of_stages(stages[r], 2, 64, 4, 4, 20.0, 1.0);
    }
    runs[0].spark_properties = properties;
    runs[0].n_spark_properties = 1;
    for (size_t r = 0; r < 2; r++)
        replays[r] = prepare(&runs[r]);
    cr_assert_eq(replays[0].undecided, 0);
    cr_assert_eq(replays[1].undecided, 1);
    for (size_t r = 0; r < 2; r++) {
        cr_assert_eq(replay_learn(replays, 2, r, 2, &scratch, NULL), PV_OK);
        cr_assert_eq(replays[r].undecided, 1);
    }
}
