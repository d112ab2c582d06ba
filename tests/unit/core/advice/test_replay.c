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

/* What ran faster than its tasks can on the cores stated is refused, with both figures; tasks are not
 * made shorter. */
Test(replay, a_record_faster_than_its_tasks_is_no_basis)
{
    struct run_stage stage = stage_of_tasks(0, equal_tasks(8, 2.0), 8);
    struct run run = run_of_stages(&stage, 1, 8, 1, 2, 6.0, 2.0);
    struct replay replay;
    struct pv_error err = {0};
    cr_assert_eq(replay_prepare(&run, &arena, &scratch, &replay, &err), PV_E_TOO_FEW);
    cr_assert_str_eq(
        err.detail,
        "the run cannot be replayed: on the task slots of the executors that it is said to have "
        "had its tasks take at least 8 s, and its stages took 4 s");
}

/* Stages that overlapped although one reads what the other writes. */
Test(replay, stages_that_overlapped_against_their_graph_are_no_basis)
{
    struct run_stage stages[2] = {stage_of_tasks(0, equal_tasks(2, 10.0), 2),
                                  stage_of_tasks(1, equal_tasks(2, 10.0), 2)};
    const int64_t parent = 0;
    stages[1].parents = &parent;
    stages[1].n_parents = 1;
    stages[0].started_s = stages[1].started_s = 0.0;
    stages[0].duration_s = stages[1].duration_s = 11.0;
    struct run run = run_of_stages(stages, 2, 4, 4, 1, 11.0, 0.0);
    struct replay replay;
    struct pv_error err = {0};
    cr_assert_eq(replay_prepare(&run, &arena, &scratch, &replay, &err), PV_E_TOO_FEW);
    cr_assert(strstr(err.detail, "its stages take 20 s in the order that the graph demands, and "
                                 "took 11 s: they overlapped") != NULL,
              "%s", err.detail);
}

/* A replay that is slower by less than the tolerance: the driver's time gives way, no task does. */
Test(replay, a_little_slower_is_within_the_tolerance)
{
    struct run_stage stage = stage_of_tasks(0, equal_tasks(8, 2.0), 8);
    stage.started_s = 2.0;
    stage.duration_s = 7.75;
    struct run run = run_of_stages(&stage, 1, 8, 1, 2, 10.0, 2.0);
    struct replay replay = prepare(&run);
    cr_assert_float_eq(replay.fixed_s, 2.0, 1e-12);
    cr_assert_float_eq(predict(&replay, 8, 1), 10.0, 1e-12);
    cr_assert_float_eq(predict(&replay, 8, 4), 4.0, 1e-12);
    stage.duration_s = 7.65;
    struct replay refused;
    cr_assert_eq(replay_prepare(&run, &arena, &scratch, &refused, NULL), PV_E_TOO_FEW);
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
    static const double none_s[] = {0.0, -1.0, (double)INFINITY, (double)NAN};
    run.executors = 4;
    for (size_t i = 0; i < sizeof none_s / sizeof *none_s; i++) {
        run.duration_s = none_s[i];
        err = (struct pv_error){0};
        cr_assert_eq(replay_prepare(&run, &arena, &scratch, &replay, &err), PV_E_TOO_FEW);
        cr_assert_str_eq(err.detail, REPLAY_NOT "duration_s unknown", "%g", none_s[i]);
    }
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

/* --- executors that come and go --- */

#define PROPERTY(k, v)                                                                             \
    {                                                                                              \
        .key = {k, sizeof k - 1}, .value = { v, sizeof v - 1 }                                     \
    }

static struct run_label dynamic[] = {PROPERTY("spark.dynamicAllocation.enabled", "true")};

static struct executor_lifetime seen(double added_s, double removed_s)
{
    return (struct executor_lifetime){
        .added_s = added_s, .removed_s = removed_s, .cores = 1, .resource_profile_id = RUN_UNKNOWN};
}

/* One stage of equal tasks from started_s on, for that long, and its executors of one core. */
static struct run run_on(struct run_stage *stage,
                         double started_s,
                         double lasts_s,
                         struct executor_lifetime executors[],
                         size_t n)
{
    stage->started_s = started_s;
    stage->duration_s = lasts_s;
    struct run run =
        run_of_stages(stage, 1, stage->n_tasks, (int64_t)n, 1, started_s + lasts_s + 1, started_s);
    run.executor_lifetimes = executors;
    run.n_executor_lifetimes = n;
    return run;
}

/*
 * 8 tasks of 100 s on single cores: 1, 2, 4 and the last executor come 11, 12, 13 and 14 s after the
 * stage, so that the last task ends after 114 s. Nothing of the 14 s is work.
 */
Test(replay, what_executors_took_to_come_is_not_taken_for_work)
{
    struct run_stage stage = stage_of_tasks(0, equal_tasks(8, 100.0), 8);
    const double nan = (double)NAN;
    struct executor_lifetime ramp[8] = {seen(16, nan), seen(17, nan), seen(17, nan), seen(18, nan),
                                        seen(18, nan), seen(18, nan), seen(18, nan), seen(19, nan)};
    struct run run = run_on(&stage, 5.0, 114.0, ramp, 8);
    for (int is_dynamic = 0; is_dynamic < 2; is_dynamic++) {
        run.spark_properties = dynamic;
        run.n_spark_properties = (size_t)is_dynamic;
        struct replay replay = prepare(&run);
        cr_assert_float_eq(replay.overhead_s, 0.0, 1e-9);
        cr_assert_float_eq(predict(&replay, 8, 8), 120.0, 1e-9);
        /* Four: half of 1, 3, 7 and 8, that is 1, 2, 4; the last four tasks follow the first. */
        cr_assert_float_eq(predict(&replay, 8, 4), 5.0 + 13.0 + 200.0 + 1.0, 1e-9);
    }
    run.n_executor_lifetimes = 0; /* not known: all of it is work, and none of it is lost */
    struct replay replay = prepare(&run);
    cr_assert_float_eq(predict(&replay, 8, 8), 120.0, 1e-6);
}

/* Start-up counts from the stage that waits: a stage that is submitted later has its executors
 * later. */
Test(replay, executors_come_after_the_stage_that_waited_for_them)
{
    struct run_stage stages[2] = {stage_of_tasks(0, equal_tasks(4, 10.0), 4),
                                  stage_of_tasks(1, equal_tasks(4, 10.0), 4)};
    const int64_t parent = 0;
    const double nan = (double)NAN;
    /* Two from the start, which take 20 s for the first stage; two more 5 s after the second one was
     * submitted: 10 tasks seconds each, ended after 15 s. */
    struct executor_lifetime executors[4] = {seen(0, nan), seen(0, nan), seen(25, nan),
                                             seen(25, nan)};
    stages[0].started_s = 0.0;
    stages[0].duration_s = 20.0;
    stages[1].parents = &parent;
    stages[1].n_parents = 1;
    stages[1].started_s = 20.0;
    stages[1].duration_s = 15.0;
    struct run run = run_of_stages(stages, 2, 8, 4, 1, 35.0, 0.0);
    run.executor_lifetimes = executors;
    run.n_executor_lifetimes = 4;
    struct replay replay = prepare(&run);
    cr_assert_float_eq(predict(&replay, 8, 4), 35.0, 1e-9);
    /* Half of each: 40 s on one, then 5 s until the second one comes, and 10, 20, 25 s. */
    cr_assert_float_eq(predict(&replay, 8, 2), 40.0 + 25.0, 1e-9);
    /* Twice: all four tasks at once, twice. */
    cr_assert_float_eq(predict(&replay, 8, 8), 10.0 + 10.0, 1e-9);
}

/* Half of a fixed number goes in the middle. No task failed: theirs ended first, the rest is done by
 * the others. Or tasks failed: theirs begin anew. */
Test(replay, executors_that_are_lost_take_no_more_tasks)
{
    struct run_stage stage = stage_of_tasks(0, equal_tasks(12, 10.0), 12);
    const double nan = (double)NAN;
    struct executor_lifetime executors[4] = {seen(0, nan), seen(0, nan), seen(0, 15), seen(0, 15)};
    /* 4 at 5, 4 at 15 (two of them on those that go), 2 at 25, 2 at 35: until 45. */
    struct run run = run_on(&stage, 5.0, 40.0, executors, 4);
    executors[2].removed_s = executors[3].removed_s = 16.0;
    run.tasks_failed = 0;
    struct replay replay = prepare(&run);
    cr_assert_float_eq(replay.overhead_s, 0.0, 1e-9);
    cr_assert_float_eq(predict(&replay, 12, 4), 46.0, 1e-9);
    run.tasks_failed =
        RUN_UNKNOWN; /* no evidence of a lost task: in 55 s, it would not be replayed */
    replay = prepare(&run);
    cr_assert_float_eq(replay.overhead_s, 0.0, 1e-9);
    cr_assert_float_eq(predict(&replay, 12, 4), 46.0, 1e-9);
    /* 4 at 5, 4 at 15, of which two are lost at 16; 2 at 25, 35 and 45: until 55. */
    stage.duration_s = 50.0;
    run.duration_s = 56.0;
    run.tasks_failed = 2;
    replay = prepare(&run);
    cr_assert_float_eq(replay.overhead_s, 0.0, 1e-9);
    cr_assert_float_eq(replay.fixed_s, 6.0, 1e-9);
    cr_assert_float_eq(predict(&replay, 12, 4), 56.0, 1e-9);
    /* Twice as many: 8 at 5, 4 at 15 on those that are idle the longest. */
    cr_assert_float_eq(predict(&replay, 12, 8), 26.0, 1e-9);
}

/* The platform took two of four executors away, in the case above with tasks that began again: that
 * does not happen again, so that 12 tasks take three waves. One that came instead is not one more. */
Test(replay, executors_that_the_platform_took_away_are_not_taken_away_again)
{
    struct run_stage stage = stage_of_tasks(0, equal_tasks(12, 10.0), 12);
    const double nan = (double)NAN;
    struct executor_lifetime executors[6] = {seen(0, nan), seen(0, nan),  seen(0, 16),
                                             seen(0, 16),  seen(30, nan), seen(31, nan)};
    struct run run = run_on(&stage, 5.0, 50.0, executors, 4);
    run.tasks_failed = 2;
    executors[2].lost = executors[3].lost = true;
    struct replay replay = prepare(&run);
    cr_assert_float_eq(replay.overhead_s, 0.0, 1e-9);
    cr_assert_float_eq(replay.lost_s, 20.0, 1e-9);
    cr_assert_float_eq(replay_own_s(&replay), 36.0, 1e-9);
    cr_assert_float_eq(predict(&replay, 12, 4), 36.0, 1e-9);
    cr_assert_float_eq(predict(&replay, 12, 12), 16.0, 1e-9);
    /* The two that were lost are back at 30 and 31 s: 4 at 5, 2 at 15 and 25, 4 at 30 and 35: until 45. */
    stage.duration_s = 40.0;
    run.duration_s = 46.0;
    run.n_executor_lifetimes = 6;
    replay = prepare(&run);
    cr_assert_float_eq(predict(&replay, 12, 4), 36.0, 1e-9);
    cr_assert_float_eq(replay.lost_s, 10.0, 1.0 + 1e-9);
    executors[3].lost = executors[2].lost = false; /* not known why: as it was */
    replay = prepare(&run);
    cr_assert_float_eq(replay.lost_s, 0.0, 1e-9);
    cr_assert_float_eq(predict(&replay, 12, 4), 46.0, 1e-9);
}

/* Executors that went since they were idle stay in a replay where tasks wait for them: a fourth of
 * them needs 40 s for what all did in 10, and has none to let go after 30. */
Test(replay, executors_that_were_idle_stay_while_tasks_wait)
{
    struct run_stage stages[2] = {stage_of_tasks(0, equal_tasks(8, 10.0), 8),
                                  stage_of_tasks(1, equal_tasks(1, 40.0), 1)};
    const double nan = (double)NAN;
    struct executor_lifetime executors[8];
    for (size_t i = 0; i < 8; i++)
        executors[i] = seen(0, i == 0 ? nan : 30.0);
    stages[0].started_s = stages[1].started_s = 0.0;
    stages[0].duration_s = 10.0;
    stages[1].duration_s = 50.0;
    struct run run = run_of_stages(stages, 2, 9, 8, 1, 50.0, 0.0);
    run.executor_lifetimes = executors;
    run.n_executor_lifetimes = 8;
    run.spark_properties = dynamic;
    run.n_spark_properties = 1;
    struct replay replay = prepare(&run);
    cr_assert_float_eq(predict(&replay, 9, 8), 50.0, 1e-9);
    cr_assert_float_eq(predict(&replay, 9, 2), 80.0, 1e-9);
}

static uint64_t random_below(uint64_t *state, uint64_t n)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state % n;
}

/*
 * Executors that come and go at any instant, under each way to leave: a replay ends, on its own
 * executors after the recorded time, on others never before its longest chain and never with less
 * time than its work takes on as many cores.
 */
Test(replay, random_records_end)
{
    enum { STAGES = 4, TASKS = 9, SEEN = 12 };
    const double nan = (double)NAN;
    uint64_t state = 88172645463325252u;
    size_t replayed = 0, with_record = 0;
    for (int round = 0; round < 3000; round++) {
        struct arena_mark mark = arena_mark(&arena);
        struct run_stage stages[STAGES];
        struct executor_lifetime executors[SEEN];
        int64_t parents[STAGES];
        double at_s = 2.0;
        for (int64_t s = 0; s < STAGES; s++) {
            double *durations_s = equal_tasks(TASKS, 1.0);
            size_t n = 1 + random_below(&state, TASKS);
            for (size_t t = 0; t < n; t++)
                durations_s[t] = (double)(1 + random_below(&state, 20)) / 2.0;
            stages[s] = stage_of_tasks(s, durations_s, n);
            parents[s] = s - 1;
            stages[s].parents = &parents[s];
            stages[s].n_parents = s > 0 && random_below(&state, 3) > 0 ? 1 : 0;
            stages[s].started_s = at_s;
            stages[s].duration_s = 10.0 + (double)random_below(&state, 80);
            at_s += stages[s].n_parents == 1 || s == 0 ? stages[s].duration_s : 3.0;
        }
        int64_t most = 0;
        for (size_t i = 0; i < SEEN; i++) {
            double added_s = (double)random_below(&state, 60);
            executors[i] = seen(added_s, random_below(&state, 2) == 0
                                             ? nan
                                             : added_s + (double)random_below(&state, 60));
        }
        for (double t = 0; t < 130.0; t += 1.0) {
            int64_t there = 0;
            for (size_t i = 0; i < SEEN; i++)
                there += executors[i].added_s <= t && !(executors[i].removed_s <= t);
            most = there > most ? there : most;
        }
        double end_s = 0.0;
        for (size_t s = 0; s < STAGES; s++)
            end_s = fmax(end_s, stages[s].started_s + stages[s].duration_s);
        struct run run = run_of_stages(stages, STAGES, 9, most, 1, end_s + 1.0, 2.0);
        run.executor_lifetimes = executors;
        run.n_executor_lifetimes = SEEN;
        run.tasks_failed = (int64_t)random_below(&state, 2);
        run.spark_properties = dynamic;
        run.n_spark_properties = random_below(&state, 2);
        struct replay replay;
        enum pv_code code = replay_prepare(&run, &arena, &scratch, &replay, NULL);
        cr_assert(code == PV_OK || code == PV_E_TOO_FEW);
        replayed += code == PV_OK;
        with_record += code == PV_OK && replay.record.n > 0;
        for (int64_t m = 1; code == PV_OK && m <= 2 * most; m++) {
            struct replay_outcome outcome;
            struct replay_target target = {9, m, 1};
            cr_assert_eq(replay_predict(&replay, &target, &scratch, &outcome, NULL), PV_OK);
            if (replay.record.leave != ALLOCATION_LEAVE_DONE) /* others are there meanwhile */
                cr_assert_geq(outcome.duration_s,
                              replay.fixed_s + outcome.work_s / (double)m - 1e-6);
            if (m == most)
                cr_assert_float_eq(outcome.duration_s, run.duration_s, 1e-6 * run.duration_s,
                                   "round %d: %g", round, outcome.duration_s);
        }
        arena_rewind(&arena, mark);
    }
    cr_assert_gt(replayed, 1000);
    cr_assert_gt(with_record, 800);
}

/* A log whose executors came when all was done cannot be right: it counts as if it said nothing. */
Test(replay, executors_that_came_too_late_for_their_tasks_are_not_believed)
{
    struct run_stage stage = stage_of_tasks(0, equal_tasks(4, 10.0), 4);
    const double nan = (double)NAN;
    struct executor_lifetime executors[2] = {seen(1e6, nan), seen(1e6, nan)};
    struct run run = run_on(&stage, 5.0, 20.0, executors, 2);
    struct replay replay = prepare(&run);
    cr_assert_eq(replay.record.n, 0);
    cr_assert_float_eq(predict(&replay, 4, 2), 26.0, 1e-9);
}

/* --- a stage that is divided again --- */

/* The longest of n tasks that the stage of `run` has on m executors, and their sum. */
static double longest_on(const struct run *run, int64_t m, size_t n, double *sum_s)
{
    struct replay replay = prepare(run);
    struct replay_target target = {run->problem_size, m, run->cores_per_executor};
    struct edf_job job;
    cr_assert_eq(replay_job(&replay, &target, &arena, &job, NULL), PV_OK);
    cr_assert_eq(job.stages[1].tasks, n, "%zu tasks", job.stages[1].tasks);
    double longest_s = 0.0;
    *sum_s = 0.0;
    for (size_t t = 0; t < n; t++) {
        longest_s = fmax(longest_s, job.stages[1].task_durations_s[t]);
        *sum_s += job.stages[1].task_durations_s[t];
    }
    return longest_s;
}

/* 7 tasks of 1 s and one of 5 s. More tasks keep the shape: the longest is 10/3 of the mean. Fewer
 * hold several: the longest one, and as many others as there are more to a task. */
Test(replay, a_stage_divided_again_keeps_its_longest_task)
{
    struct run_stage stages[2];
    stages[0] = stage_of_tasks(0, equal_tasks(100, 1.0), 100);
    double *uneven = equal_tasks(8, 1.0);
    uneven[3] = 5.0;
    stages[1] = stage_of_tasks(1, uneven, 8);
    struct run run = run_of_stages(stages, 2, 100, 4, 2, 60.0, 0.0);
    double sum_s;
    for (int64_t m = 4; m <= 40; m++) {
        double n = 2.0 * (double)m;
        cr_assert_float_eq(longest_on(&run, m, (size_t)n, &sum_s), 5.0 * 8.0 / n, 1e-9, "%g", n);
        cr_assert_float_eq(sum_s, 12.0, 1e-9);
    }
    cr_assert_float_eq(longest_on(&run, 2, 4, &sum_s), 6.0, 1e-9);
    cr_assert_float_eq(sum_s, 12.0, 1e-9);
    cr_assert_float_eq(longest_on(&run, 1, 2, &sum_s), 8.0, 1e-9);
    cr_assert_float_eq(sum_s, 12.0, 1e-9);
}

/* --- several runs, and what is counted --- */

/* The same number of parents is not the same graph. */
Test(replay, graphs_are_the_same_where_their_parents_are)
{
    struct run runs[3];
    static struct run_stage stages[3][3];
    static const int64_t parents[3] = {0, 1, 0};
    for (size_t i = 0; i < 3; i++) {
        for (int64_t s = 0; s < 3; s++)
            stages[i][s] = stage_of_tasks(s, equal_tasks(4, 1.0), 4);
        stages[i][2].parents = &parents[i];
        stages[i][2].n_parents = 1;
        runs[i] = run_of_stages(stages[i], 3, 4, 2, 2, 10.0, 0.0);
    }
    struct replay first = prepare(&runs[0]), other = prepare(&runs[1]), again = prepare(&runs[2]);
    cr_assert_not(replay_same_graph(&first, &other));
    cr_assert(replay_same_graph(&first, &again));
    stages[2][2].n_parents = 0;
    again = prepare(&runs[2]);
    cr_assert_not(replay_same_graph(&first, &again));
}

/* 10 s of the driver at size 1 and 20 s at 4: it grows as the square root, 40 s at 16. */
Test(replay, the_drivers_share_grows_as_that_of_the_runs)
{
    static struct run_stage stages[2];
    struct replay replays[2];
    static struct run runs[2];
    for (size_t i = 0; i < 2; i++) {
        stages[i] = stage_of_tasks(0, equal_tasks(4, 3.0), 4);
        stages[i].started_s = 0.0;
        stages[i].duration_s = 6.0;
        runs[i] = run_of_stages(&stages[i], 1, i == 0 ? 1 : 4, 2, 1, i == 0 ? 16.0 : 26.0, 0.0);
        replays[i] = prepare(&runs[i]);
    }
    cr_assert_float_eq(replays[0].fixed_s, 10.0, 1e-9);
    cr_assert_float_eq(replays[1].fixed_s, 20.0, 1e-9);
    cr_assert_eq(replay_learn(replays, 2, 1, 2, &scratch, NULL), PV_OK);
    cr_assert_float_eq(replays[1].fixed_exponent, 0.5, 1e-9);
    cr_assert_float_eq(replay_fixed_s(&replays[1], 16.0), 40.0, 1e-6);
}

/* Two stages of 10 tasks with half a second of overhead each. */
Test(replay, tasks_and_their_overhead_are_counted)
{
    struct run_stage stages[2] = {stage_of_tasks(0, equal_tasks(10, 1.0), 10),
                                  stage_of_tasks(1, equal_tasks(10, 1.0), 10)};
    const int64_t parent = 0;
    stages[1].parents = &parent;
    stages[1].n_parents = 1;
    struct run run = run_of_stages(stages, 2, 10, 1, 10, 3.0, 0.0);
    struct replay replay = prepare(&run);
    struct replay_target target = {10, 1, 10};
    struct replay_outcome outcome;
    cr_assert_eq(replay_predict(&replay, &target, &scratch, &outcome, NULL), PV_OK);
    cr_assert_eq(outcome.tasks, 20);
    cr_assert_float_eq(outcome.overhead_per_task_s, 0.5, 1e-6);
    cr_assert_float_eq(outcome.work_s, 30.0, 1e-5);
    cr_assert_float_eq(outcome.recorded_work_s, 20.0, 1e-12);
    cr_assert_float_eq(outcome.longest_task_s, 1.5, 1e-6);
    cr_assert_float_eq(outcome.critical_path_s, 3.0, 1e-6);
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
