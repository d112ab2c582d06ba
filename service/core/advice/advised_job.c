#include "core/advice/advised_job.h"

#include <math.h>

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
    PV_TRY(replay_learn(replays, n, 0, n, arena, err));
    PV_TRY(replay_predict(&replays[0], target, arena, &outcome, err));
    PV_TRY(replay_job(&replays[0], target, arena, &job.job, err));
    double ratio = predicted_duration_s / outcome.duration_s;
    job.run = replays[0].run;
    job.graph = replays[0].graph;
    job.record = replays[0].record;
    job.awaited_executors = began_with_executors(&replays[0]);
    job.waiting_s = outcome.waiting_s * ratio;
    job.fixed_s = outcome.fixed_s * ratio;
    PV_TRY(stretch_job(&job.job, ratio, arena, err));
    PV_TRY(split_fixed_time(&replays[0], arena, &job, err));
    *made = job;
    return PV_OK;
}
