#include "core/advice/advised_job.h"

#include <math.h>

#include "base/plural.h"
#include "base/quantity_text.h"
#include "core/advice/replay_curve.h"

static enum pv_code check_tasks(double tasks, size_t recorded, struct pv_error *err)
{
    if (tasks <= fmax((double)ADVISED_JOB_TASKS_MAX, (double)recorded))
        return PV_OK;
    return pv_fail(err, PV_E_LIMIT,
                   "for this problem size on these executors it has %s task%s, each counted for "
                   "the cores that it holds, and its run has %zu: at most %d are simulated",
                   quantity_number(tasks).text, PLURAL(tasks), recorded, ADVISED_JOB_TASKS_MAX);
}

/* Stages whose tasks last `scale` times as long. */
static enum pv_code
stretch_job(struct edf_job *job, double scale, struct arena *arena, struct pv_error *err)
{
    struct edf_stage *stages = arena_array(arena, job->n_stages, sizeof *stages);
    if (stages == NULL)
        return pv_no_memory(err);
    for (size_t s = 0; s < job->n_stages; s++) {
        stages[s] = job->stages[s];
        stages[s].task_duration_s *= scale;
        if (stages[s].task_durations_s != NULL) {
            double *durations_s = arena_array(arena, stages[s].tasks, sizeof *durations_s);
            if (durations_s == NULL)
                return pv_no_memory(err);
            for (size_t t = 0; t < stages[s].tasks; t++)
                durations_s[t] = stages[s].task_durations_s[t] * scale;
            stages[s].task_durations_s = durations_s;
        }
    }
    job->stages = stages;
    job->overhead_per_task_s *= scale;
    return PV_OK;
}

static enum pv_code prepare_runs(const struct run runs[],
                                 size_t n_runs,
                                 struct arena *arena,
                                 struct replay **replays,
                                 size_t *n,
                                 struct pv_error *err)
{
    struct replay *made = arena_calloc(arena, n_runs, sizeof *made);
    *n = 0;
    if (made == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n_runs; i++) {
        struct pv_error why = {0};
        enum pv_code code = replay_prepare(&runs[i], arena, arena, &made[*n], &why);
        if (code != PV_OK && code != PV_E_TOO_FEW) /* the curve passed that over, too */
            return pv_fail(err, code, "%s", why.detail);
        *n += code == PV_OK ? 1 : 0;
    }
    *replays = made;
    return *n == 0 ? pv_fail(err, PV_E_TOO_FEW, "no run can be replayed") : PV_OK;
}

/* A schedule rounds its sums. A job that is shorter by more than that meets a deadline that equals its
 * predicted duration. */
static const double rounding = 1e-11;

/* Where the time goes that needs no core: as it did in the recorded run. */
static enum pv_code split_fixed_time(const struct replay *replay,
                                     struct arena *arena,
                                     struct advised_job *made,
                                     struct pv_error *err)
{
    double scale = replay->fixed_s > 0 ? made->fixed_s / replay->fixed_s : 0.0;
    double left_s = made->fixed_s;
    made->delays_s = arena_array(arena, made->job.n_stages, sizeof *made->delays_s);
    if (made->delays_s == NULL)
        return pv_no_memory(err);
    made->initialization_s = fmin(replay->initialization_s * scale, left_s);
    left_s -= made->initialization_s;
    for (size_t s = 0; s < made->job.n_stages; s++) {
        made->delays_s[s] = replay->delays_s[s] * scale;
    }
    made->ending_s = fmax(0.0, left_s - replay->between_stages_s * scale);
    return PV_OK;
}

/* Where the log does not say when executors came, by what dynamic allocation was set to. */
static bool began_with_executors(const struct replay *replay)
{
    const struct run *run = replay->run;
    for (size_t i = 0; i < run->n_executor_lifetimes; i++)
        if (run->executor_lifetimes[i].added_s <= replay->initialization_s)
            return true;
    if (run->n_executor_lifetimes > 0)
        return false;
    const struct property_list list = {run->spark_properties, run->n_spark_properties};
    return !allocation_is_enabled(&list) ||
           allocation_of_properties(&list, 1, run->spark_version, run->executors)
                   .initial_executors > 0;
}

static size_t find_nearest(const struct replay replays[], size_t n, const struct replay_target *to)
{
    size_t nearest = 0;
    for (size_t i = 1; i < n; i++)
        if (replay_curve_distance(&replays[i], to) < replay_curve_distance(&replays[nearest], to))
            nearest = i;
    return nearest;
}

enum pv_code advised_job_make(const struct run runs[],
                              size_t n_runs,
                              const struct replay_target *target,
                              double predicted_duration_s,
                              struct arena *arena,
                              struct advised_job *made,
                              struct pv_error *err)
{
    struct replay *replays = NULL;
    struct replay_outcome outcome;
    struct advised_job job = {.run = NULL};
    size_t n;
    PV_TRY(prepare_runs(runs, n_runs, arena, &replays, &n, err));
    const size_t nearest = find_nearest(replays, n, target);
    const struct replay *replay = &replays[nearest];
    PV_TRY(replay_learn(replays, n, nearest, n, arena, err));
    job.recorded_tasks = replay->n_tasks;
    PV_TRY(check_tasks(replay_count_tasks(replay, target), job.recorded_tasks, err));
    PV_TRY(replay_predict(replay, target, arena, &outcome, err));
    PV_TRY(replay_job(replay, target, arena, &job.job, err));
    job.duration_s = isnan(predicted_duration_s) ? outcome.duration_s : predicted_duration_s;
    job.duration_s *= 1.0 - rounding;
    double ratio = job.duration_s / outcome.duration_s;
    job.run = replay->run;
    job.graph = replay->graph;
    job.record = replay->planned;
    job.slots = replay->slots;
    job.awaited_executors = began_with_executors(replay);
    job.fixed_s = outcome.fixed_s * ratio;
    PV_TRY(stretch_job(&job.job, ratio, arena, err));
    PV_TRY(split_fixed_time(replay, arena, &job, err));
    *made = job;
    return PV_OK;
}

/* --- for a schedule --- */

/* A schedule counts cores. A task that holds several cores, or the share of an executor's cores that a
 * GPU leaves it, is as many tasks of its duration. */
static bool hold_cores(struct edf_stage *stage, size_t cores, struct arena *arena)
{
    const double *each_s = stage->task_durations_s;
    const size_t tasks = stage->tasks;
    stage->tasks *= cores;
    if (cores == 1 || each_s == NULL)
        return true;
    double *durations_s = arena_array(arena, stage->tasks, sizeof *durations_s);
    for (size_t t = 0; durations_s != NULL && t < stage->tasks; t++)
        durations_s[t] = each_s[t / cores];
    stage->task_durations_s = durations_s;
    return durations_s != NULL || tasks == 0;
}

/* Cores that each task of stage s holds. */
static int64_t cores_held(const struct advised_job *made, size_t s, int64_t cores)
{
    int64_t held = cores / stage_slots_per_executor(&made->slots, s, cores);
    return held > 1 ? held : 1;
}

/* The stages with their delays, and room for one more. */
static struct edf_stage *
delay_stages(const struct advised_job *made, int64_t cores, struct arena *arena)
{
    const struct edf_job *job = &made->job;
    struct edf_stage *stages = arena_calloc(arena, job->n_stages + 1, sizeof *stages);
    for (size_t s = 0; stages != NULL && s < job->n_stages; s++) {
        stages[s] = job->stages[s];
        stages[s].delay_s =
            made->delays_s[s] + (stages[s].n_parents == 0 ? made->initialization_s : 0.0);
        if (!hold_cores(&stages[s], (size_t)cores_held(made, s, cores), arena))
            return NULL;
    }
    return stages;
}

/* A stage without tasks behind all others. */
static enum pv_code
add_ending(struct edf_job *job, double ending_s, struct edf_stage *last, struct arena *arena)
{
    bool *has_child = arena_calloc(arena, job->n_stages, sizeof *has_child);
    size_t *parents = arena_array(arena, job->n_stages, sizeof *parents);
    if (has_child == NULL || parents == NULL)
        return PV_E_MEMORY;
    *last = (struct edf_stage){.parents = parents, .delay_s = ending_s};
    for (size_t s = 0; s < job->n_stages; s++)
        for (size_t p = 0; p < job->stages[s].n_parents; p++)
            has_child[job->stages[s].parents[p]] = true;
    for (size_t s = 0; s < job->n_stages; s++) {
        last->id = job->stages[s].id >= last->id ? job->stages[s].id + 1 : last->id;
        if (!has_child[s])
            parents[last->n_parents++] = s;
    }
    job->n_stages++;
    return PV_OK;
}

enum pv_code advised_job_delay(const struct advised_job *made,
                               const struct replay_target *target,
                               struct arena *arena,
                               struct edf_job *job,
                               struct pv_error *err)
{
    const int64_t cores = target->cores_per_executor;
    struct edf_outcome alone;
    double tasks = 0.0;
    for (size_t s = 0; s < made->job.n_stages; s++)
        tasks += (double)made->job.stages[s].tasks * (double)cores_held(made, s, cores);
    PV_TRY(check_tasks(tasks, made->recorded_tasks, err));
    struct edf_stage *stages = delay_stages(made, cores, arena);
    *job = made->job;
    job->stages = stages;
    if (stages == NULL)
        return pv_no_memory(err);
    PV_TRY(edf_schedule(job, 1, (size_t)target->executors * (size_t)cores, arena, &alone, NULL,
                        NULL, err));
    double ending_s = made->duration_s - alone.execution_s;
    return ending_s > 0.0 && add_ending(job, ending_s, &stages[job->n_stages], arena) != PV_OK
               ? pv_no_memory(err)
               : PV_OK;
}
