/*
 * Iterative jobs that read cached data, with a known truth: errors and intervals of predictions from
 * one to five runs. The truth is a simulation of its own (greedy list scheduling of every task).
 */
#include <criterion/criterion.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <string.h>

#include "../history/sample_runs.h"
#include "base/rng.h"
#include "core/advice/replay_curve.h"
#include "core/deadline/job_from_run.h"
#include "core/history/cached_data.h"
#include "core/history/run_metrics.h"

enum { CORES = 4, ITERATIONS = 8, SIZES = 3, COUNTS = 5, HISTORIES = 10, RUNS_MAX = 5 };
enum { BLOCK = 1 << 27, BLOCKS_AN_EXECUTOR = 40 };

static const int64_t sizes[SIZES] = {100, 200, 400};
static const int64_t counts[COUNTS] = {4, 6, 8, 12, 16};

static struct arena arena;
static struct arena scratch;

static void set_up(void)
{
    gsl_set_error_handler_off();
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
}

static void tear_down(void)
{
    arena_fini(&arena);
    arena_fini(&scratch);
}

TestSuite(cached_data, .init = set_up, .fini = tear_down, .timeout = 120);

/* What a job of the family does, drawn once a history. */
struct job {
    double load_s;  /* mean time to compute a block */
    double short_s; /* mean time of a task that finds its block in the cache */
    double miss_s;  /* that a task takes longer which does not; half to twice load_s */
    double driver_s;
    double scatter; /* of task times */
    double noise;   /* of a whole run */
};

static struct job draw_job(struct rng *rng)
{
    double load_s = 2.0 + 4.0 * rng_uniform(rng);
    return (struct job){.load_s = load_s,
                        .miss_s = load_s * exp(log(2.0) * (2.0 * rng_uniform(rng) - 1.0)),
                        .short_s = 0.3 + 0.7 * rng_uniform(rng),
                        .driver_s = 0.2 + 0.5 * rng_uniform(rng),
                        .scatter = 0.1 + 0.15 * rng_uniform(rng),
                        .noise = 0.03};
}

/* Tasks in order, each on the core that is free first. */
static double list_schedule(const double tasks_s[], size_t n, size_t cores)
{
    double *free_s = arena_calloc(&scratch, cores, sizeof *free_s);
    double end_s = 0.0;
    for (size_t t = 0; t < n; t++) {
        size_t first = 0;
        for (size_t c = 1; c < cores; c++)
            first = free_s[c] < free_s[first] ? c : first;
        free_s[first] += tasks_s[t];
        end_s = fmax(end_s, free_s[first]);
    }
    return end_s;
}

/* Stage `id` of `blocks` tasks, of which the share `hit` finds its block in the cache. */
static struct run_stage run_a_stage(const struct job *job,
                                    int64_t id,
                                    int64_t blocks,
                                    double hit,
                                    int64_t executors,
                                    double *now_s,
                                    struct rng *rng)
{
    double *tasks_s = arena_array(&arena, (size_t)blocks, sizeof *tasks_s);
    double sum_s = 0.0;
    for (int64_t t = 0; t < blocks; t++) {
        double mean_s = id == 0 ? job->load_s : job->short_s;
        if (id > 0 && rng_uniform(rng) >= hit)
            mean_s += job->miss_s;
        sum_s += tasks_s[t] = rng_lognormal(rng, mean_s, job->scatter);
    }
    static const int64_t parents[ITERATIONS + 1] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    struct run_stage stage = {.id = id,
                              .parents = &parents[id > 0 ? id - 1 : 0],
                              .n_parents = id > 0,
                              .n_tasks = blocks,
                              .task_durations_s = tasks_s,
                              .task_time_s = sum_s,
                              .task_duration_s = sum_s / (double)blocks,
                              .started_s = *now_s,
                              .attempts = 1,
                              .cache_source_id = id > 0 ? 0 : RUN_UNKNOWN};
    stage.duration_s = list_schedule(tasks_s, (size_t)blocks, (size_t)(executors * CORES));
    *now_s += stage.duration_s + job->driver_s;
    return stage;
}

static struct run
run_a_job(const struct job *job, int64_t blocks, int64_t executors, struct rng *rng)
{
    struct run run = {.problem_size = (double)blocks,
                      .executors = executors,
                      .cores_per_executor = CORES,
                      .initialization_s = 6.0,
                      .started_us = RUN_NO_INSTANT,
                      .recorded_us = RUN_NO_INSTANT,
                      .succeeded = true,
                      .has_stages = true,
                      .n_stages = ITERATIONS + 1};
    run_clear_log(&run);
    run.succeeded = run.has_stages = true;
    run.storage_memory_bytes = (int64_t)BLOCK * BLOCKS_AN_EXECUTOR;
    double a_piece = ceil((double)blocks / (double)executors);
    double held = fmin((double)BLOCKS_AN_EXECUTOR, a_piece);
    run.metrics.peak_storage_memory_bytes = (int64_t)(held * (double)BLOCK);
    run.stages = arena_calloc(&arena, run.n_stages, sizeof *run.stages);
    double now_s = run.initialization_s;
    double hit = fmin(1.0, (double)(executors * BLOCKS_AN_EXECUTOR) / (double)blocks);
    struct job noisy = *job;
    double noise = rng_lognormal(rng, 1.0, job->noise);
    noisy.load_s *= noise;
    noisy.miss_s *= noise;
    noisy.short_s *= noise;
    for (int64_t id = 0; id <= ITERATIONS; id++)
        run.stages[id] = run_a_stage(&noisy, id, blocks, hit, executors, &now_s, rng);
    run.duration_s = now_s;
    return run;
}

struct tally {
    double errors;
    size_t n;
    size_t inside;
};

/* All sizes and counts, from `known` runs on different ones drawn at random. */
static void judge(size_t known, uint64_t history, struct tally *tally)
{
    struct rng rng = rng_make(7 + history, known);
    struct job job = draw_job(&rng);
    struct run runs[RUNS_MAX];
    bool taken[SIZES * COUNTS] = {false};
    for (size_t i = 0; i < known;) {
        size_t cell = (size_t)(rng_uniform(&rng) * SIZES * COUNTS);
        if (taken[cell])
            continue;
        taken[cell] = true;
        runs[i++] = run_a_job(&job, sizes[cell / COUNTS], counts[cell % COUNTS], &rng);
    }
    for (size_t cell = 0; cell < SIZES * COUNTS; cell++) {
        struct run truth = run_a_job(&job, sizes[cell / COUNTS], counts[cell % COUNTS], &rng);
        struct curve_question question = {.problem_size = truth.problem_size,
                                          .cores_per_executor = CORES,
                                          .executors = &truth.executors,
                                          .n_executors = 1,
                                          .task_budget = 50000000};
        struct curve curve;
        struct pv_error err = {0};
        cr_assert_eq(replay_curve_make(runs, known, &question, &arena, &scratch, &curve, &err),
                     PV_OK, "%s", err.detail);
        const struct curve_point *point = &curve.points[0];
        tally->errors += fabs(point->duration_s / truth.duration_s - 1.0);
        tally->n++;
        tally->inside += curve_quantile(&curve, point, 0.05) <= truth.duration_s &&
                         truth.duration_s <= curve_quantile(&curve, point, 0.95);
    }
}

Test(cached_data, iterative_jobs_after_one_to_five_runs)
{
    static const size_t known[] = {1, 2, 3, 5};
    static const double most_error[] = {12.0, 10.0, 10.0, 8.0};
    for (size_t k = 0; k < 4; k++) {
        struct tally tally = {0};
        for (uint64_t history = 0; history < HISTORIES; history++)
            judge(known[k], history, &tally);
        double mape = 100.0 * tally.errors / (double)tally.n;
        double inside = 100.0 * (double)tally.inside / (double)tally.n;
        cr_log_info("%zu runs: mean error %.1f %%, %.1f %% inside 90 %%", known[k], mape, inside);
        cr_expect_lt(mape, most_error[k], "%zu runs: %.1f %%", known[k], mape);
        cr_expect_geq(inside, 85.0, "%zu runs: %.1f %% inside", known[k], inside);
    }
}

/* A run on 4 executors that hold 10 blocks each: stage 0 caches, stage 1 reads. */
static struct run a_run(const double reading_s[], size_t n, int64_t peak_blocks)
{
    static const double loading_s[] = {4, 4, 6, 6};
    struct run_stage *stages = arena_calloc(&arena, 2, sizeof *stages);
    stages[0] = stage_of_tasks(0, loading_s, 4);
    stages[1] = stage_of_tasks(1, reading_s, n);
    stages[0].cache_source_id = RUN_UNKNOWN;
    stages[1].cache_source_id = 0;
    static const int64_t first = 0;
    stages[1].parents = &first;
    stages[1].n_parents = 1;
    struct run run = run_of_stages(stages, 2, 40, 4, 1, 30.0, 0.0);
    run.storage_memory_bytes = 10 * (int64_t)BLOCK;
    run.metrics.peak_storage_memory_bytes = peak_blocks * (int64_t)BLOCK;
    return run;
}

static struct cached_data take(const struct run *run, const double *sorted_s)
{
    struct cached_tasks tasks[2];
    struct cached_data data;
    struct pv_error err = {0};
    for (size_t s = 0; s < 2; s++) {
        tasks[s] = (struct cached_tasks){&run->stages[s], sorted_s, (size_t)run->stages[s].n_tasks};
        sorted_s += tasks[s].n;
    }
    cr_assert_eq(cached_data_take(run, tasks, 2, &arena, &data, &err), PV_OK);
    return data;
}

Test(cached_data, a_run_with_memory_left_found_all_blocks)
{
    static const double reading_s[] = {1, 1, 5, 5}, sorted_s[] = {4, 4, 6, 6, 1, 1, 5, 5};
    struct run run = a_run(reading_s, 4, 8);
    struct cached_data data = take(&run, sorted_s);
    cr_assert_float_eq(data.wanted_bytes, 32.0 * BLOCK, 1);
    cr_assert_eq(data.stages[1].hits, 4, "long tasks are long for another reason");
    cr_assert_not(data.is_full);
    cr_assert_float_eq(data.stages[1].extra_s, 5.0, 1e-12, "a task of stage 0");
    cr_assert_not(data.stages[1].measured);
    cr_assert_eq(data.stages[0].extra_s, 0.0, "stage 0 reads no cached data");
    cr_assert_float_eq(cached_data_hit(&data, 1.0, 4), 1.0, 1e-12);
    cr_assert_float_eq(cached_data_hit(&data, 1.0, 2), 20.0 / 32.0, 1e-12);
    cr_assert_float_eq(cached_data_hit(&data, 2.0, 2), 10.0 / 32.0, 1e-12);
}

Test(cached_data, full_executors_and_two_kinds_of_tasks_show_the_misses)
{
    static const double reading_s[] = {5, 1, 1, 1}, sorted_s[] = {4, 4, 6, 6, 1, 1, 1, 5};
    struct run run = a_run(reading_s, 4, 10);
    struct cached_data data = take(&run, sorted_s);
    cr_assert_eq(data.stages[1].hits, 3);
    cr_assert(data.is_full);
    cr_assert_eq(cached_data_executors(cached_data_hit(&data, 1.0, 4), 4), 6);
    cr_assert_eq(cached_data_executors(cached_data_hit(&data, 3.0, 2), 2), 16);
    cr_assert(data.stages[1].measured);
    cr_assert_float_eq(data.stages[1].extra_s, 4.0, 1e-12);
    cr_assert_float_eq(data.wanted_bytes, 40.0 * BLOCK / 0.75, 1);
    static const double alike_s[] = {1, 1, 1, 1}, all_s[] = {4, 4, 6, 6, 1, 1, 1, 1};
    run = a_run(alike_s, 4, 10);
    struct cached_data unknown = take(&run, all_s);
    cr_assert(isnan(unknown.wanted_bytes), "full, and no task shows a miss");
    cr_assert_float_eq(cached_data_hit(&unknown, 9.0, 1), 1.0, 1e-12);
    cached_data_learn(&unknown, &data, 2, 0.5);
    cr_assert_float_eq(unknown.wanted_bytes, 20.0 * BLOCK / 0.75, 1);
    cr_assert(unknown.stages[1].measured);
    cr_assert_float_eq(unknown.stages[1].extra_s, 4.0, 1e-12);
}

Test(cached_data, nothing_is_known_without_a_stage_that_reads_cached_data)
{
    static const double reading_s[] = {1, 1, 5, 5}, sorted_s[] = {4, 4, 6, 6, 1, 1, 5, 5};
    struct run run = a_run(reading_s, 4, 8);
    run.stages[1].cache_source_id = RUN_UNKNOWN;
    cr_assert_null(take(&run, sorted_s).stages);
}

Test(cached_data, groups_have_to_lie_apart)
{
    static const double apart[] = {1.0, 1.1, 1.2, 1.9, 2.0}, near[] = {1.0, 1.2, 1.5, 1.9, 2.2};
    cr_assert_eq(cached_data_split(apart, 5), 3);
    cr_assert_eq(cached_data_split(near, 5), 0);
    cr_assert_eq(cached_data_split(apart, 1), 0);
    cr_assert_eq(cached_data_split(apart, 0), 0);
}

/* On its own executors a run takes what it took, misses and all; on twice as many none misses, and on
 * half as many the doubt of an unmeasured miss is named. */
Test(cached_data, replays_on_other_executors)
{
    static const double reading_s[] = {5, 1, 1, 1};
    struct run run = a_run(reading_s, 4, 10);
    run.duration_s = 6.0 + 5.0;
    struct replay replay;
    struct replay_outcome outcome;
    struct pv_error err = {0};
    cr_assert_eq(replay_prepare(&run, &arena, &scratch, &replay, &err), PV_OK, "%s", err.detail);
    const struct replay_target own = {40, 4, 1}, twice = {40, 8, 1};
    cr_assert_eq(replay_predict(&replay, &own, &scratch, &outcome, &err), PV_OK);
    cr_assert_float_eq(outcome.duration_s, 11.0, 1e-9);
    cr_assert_float_eq(outcome.cache_hit, 0.75, 1e-9);
    cr_assert_float_eq(outcome.recorded_work_s, 28.0, 1e-9);
    cr_assert_eq(replay_predict(&replay, &twice, &scratch, &outcome, &err), PV_OK);
    cr_assert_float_eq(outcome.work_s, 24.0, 1e-9, "no task misses: %g", outcome.work_s);
    cr_assert_eq(outcome.cache_doubt_s, 0.0, "both kinds of tasks were seen");
    run = a_run((const double[]){1, 1, 1, 1}, 4, 8);
    run.duration_s = 7.0;
    const struct replay_target half = {40, 2, 1};
    cr_assert_eq(replay_prepare(&run, &arena, &scratch, &replay, &err), PV_OK, "%s", err.detail);
    cr_assert_eq(replay_predict(&replay, &half, &scratch, &outcome, &err), PV_OK);
    cr_assert_float_eq(outcome.cache_hit, 0.625, 1e-9);
    cr_assert_float_eq(outcome.cache_doubt_s, 0.375 * 4 * 5.0 / 2.0, 1e-9);
}

/* A stage without tasks does not hide the doubt of the others. */
Test(cached_data, a_stage_without_tasks_changes_nothing)
{
    static const double reading_s[] = {1, 1, 1, 1};
    struct run run = a_run(reading_s, 4, 8);
    struct run_stage stages[3] = {
        run.stages[0], run.stages[1], {.id = 2, .duration_s = 0.0, .started_s = 7.0}};
    struct replay replay;
    struct replay_outcome outcome;
    struct pv_error err = {0};
    run.stages = stages;
    run.n_stages = 3;
    run.duration_s = 7.0;
    const struct replay_target half = {40, 2, 1};
    cr_assert_eq(replay_prepare(&run, &arena, &scratch, &replay, &err), PV_OK, "%s", err.detail);
    cr_assert_eq(replay.job.n_stages, 3);
    cr_assert_eq(replay_predict(&replay, &half, &scratch, &outcome, &err), PV_OK);
    cr_assert_float_eq(outcome.cache_doubt_s, 0.375 * 4 * 5.0 / 2.0, 1e-9);
}
