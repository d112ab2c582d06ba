#include "sample_runs.h"

#include <criterion/criterion.h>
#include <math.h>

struct run_stage stage_of_tasks(int64_t id, const double *durations_s, size_t n)
{
    struct run_stage stage = {.id = id,
                              .n_tasks = (int64_t)n,
                              .task_durations_s = durations_s,
                              .duration_s = (double)NAN,
                              .started_s = (double)NAN,
                              .input_records = (double)NAN,
                              .nominal_rate_per_s = (double)NAN,
                              .resource_profile_id = RUN_UNKNOWN,
                              .cache_source_id = RUN_UNKNOWN};
    for (size_t i = 0; i < n; i++)
        stage.task_time_s += durations_s[i];
    stage.task_duration_s = n > 0 ? stage.task_time_s / (double)n : (double)NAN;
    return stage;
}

struct run run_of_stages(struct run_stage *stages,
                         size_t n,
                         int64_t problem_size,
                         int64_t executors,
                         int64_t cores_per_executor,
                         double duration_s,
                         double initialization_s)
{
    return (struct run){.problem_size = (double)problem_size,
                        .executors = executors,
                        .cores_per_executor = cores_per_executor,
                        .duration_s = duration_s,
                        .initialization_s = initialization_s,
                        .started_us = RUN_NO_INSTANT,
                        .recorded_us = RUN_NO_INSTANT,
                        .succeeded = true,
                        .stages = stages,
                        .n_stages = n,
                        .has_stages = true};
}

static double seconds(int64_t ms)
{
    return (double)ms / 1000.0;
}

static struct run_stage
stage_as_run_stage(const struct sample_stage_run *from, int64_t id, struct arena *arena)
{
    double *durations_s = arena_array(arena, from->n_tasks, sizeof *durations_s);
    int64_t *parents = arena_array(arena, SAMPLE_PARENTS_MAX, sizeof *parents);
    cr_assert(durations_s != NULL && parents != NULL);
    for (size_t t = 0; t < from->n_tasks; t++)
        durations_s[t] = seconds(from->tasks[t].finish_ms - from->tasks[t].launch_ms);
    struct run_stage stage = stage_of_tasks(id, durations_s, from->n_tasks);
    for (int i = 0; i < SAMPLE_PARENTS_MAX && from->stage->parents[i] >= 0; i++)
        parents[stage.n_parents++] = from->stage->parents[i];
    stage.parents = parents;
    stage.started_s = seconds(from->submitted_ms);
    stage.duration_s = seconds(from->completed_ms - from->submitted_ms);
    return stage;
}

struct run sample_as_run(const struct sample_application *application,
                         int64_t problem_size,
                         int64_t executors,
                         uint64_t seed,
                         struct arena *arena)
{
    struct sample_run sample;
    struct pv_error err = {0};
    cr_assert_eq(sample_simulate(application, problem_size, executors, seed, arena, &sample, &err),
                 PV_OK);
    struct run_stage *stages = arena_calloc(arena, (size_t)application->n_stages, sizeof *stages);
    cr_assert(stages != NULL);
    for (int s = 0; s < application->n_stages; s++)
        stages[s] = stage_as_run_stage(&sample.stages[s], s, arena);
    return run_of_stages(stages, (size_t)application->n_stages, problem_size, executors,
                         application->cores_per_executor, seconds(sample.ended_ms),
                         seconds(sample.stages[0].submitted_ms));
}
