#include "core/workload/run_job.h"

#include <math.h>

/* What is known of the tasks of a stage, best first. */
enum source { FROM_LIST, FROM_MEAN, FROM_NOTHING };

static double mean_of(const struct run_stage *stage)
{
    if (!isnan(stage->task_duration_s) || stage->n_tasks <= 0)
        return stage->task_duration_s;
    return stage->task_time_s / (double)stage->n_tasks;
}

static enum source source_of(const struct run_stage *stage)
{
    if (stage->task_durations_s != NULL)
        return FROM_LIST;
    bool counted = stage->n_tasks == 0 || (stage->n_tasks > 0 && !isnan(mean_of(stage)));
    return counted ? FROM_MEAN : FROM_NOTHING;
}

static size_t tasks_of(const struct run_stage *stage)
{
    return stage->skipped || stage->n_tasks < 0 ? 0 : (size_t)stage->n_tasks;
}

static bool is_mapreduce(const struct run_stage stages[], size_t n)
{
    return n == 2 && stages[0].id == 0 && strview_is(stages[0].name, "map") && stages[1].id == 1 &&
           strview_is(stages[1].name, "reduce");
}

/* Tasks as long as the last ones join them. */
static void add_tasks(
    struct run_job *made, struct workload_run *runs, size_t *n, double duration_s, uint64_t count)
{
    if (duration_s <= 0) {
        duration_s = RUN_JOB_LEAST_S;
        made->raised_tasks += (int64_t)count;
    }
    if (*n > 0 && !(runs[*n - 1].duration_s < duration_s) &&
        !(runs[*n - 1].duration_s > duration_s))
        runs[*n - 1].count += count;
    else
        runs[(*n)++] = (struct workload_run){duration_s, count};
}

static void
add_stage(struct run_job *made, const struct run_stage *stage, struct workload_run *runs, size_t *n)
{
    size_t tasks = tasks_of(stage);
    if (tasks == 0)
        return;
    if (source_of(stage) == FROM_MEAN) {
        add_tasks(made, runs, n, mean_of(stage), tasks);
        made->durations.from_means += (int64_t)tasks;
        return;
    }
    for (size_t i = 0; i < tasks; i++)
        add_tasks(made, runs, n, stage->task_durations_s[i], 1);
    *(stage->task_sketch != NULL ? &made->durations.from_sketches : &made->durations.recorded) +=
        (int64_t)tasks;
}

/* Room for the runs of tasks of these stages: one for each task that may differ from the last. */
static size_t runs_most(const struct run_stage stages[], size_t n)
{
    size_t most = 0;
    for (size_t i = 0; i < n; i++)
        most += source_of(&stages[i]) == FROM_LIST ? tasks_of(&stages[i]) : 1;
    return most;
}

static enum pv_code fill_list(struct run_job *made,
                              enum workload_list list,
                              const struct run_stage stages[],
                              size_t n,
                              struct arena *arena,
                              struct pv_error *err)
{
    struct workload_run *runs = arena_array(arena, runs_most(stages, n), sizeof *runs);
    if (runs == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        add_stage(made, &stages[i], runs, &made->job.n_runs[list]);
    made->job.runs[list] = runs;
    return PV_OK;
}

static double input_of(const struct run_stage stages[], size_t n)
{
    double bytes = (double)NAN;
    for (size_t i = 0; i < n; i++)
        if (stages[i].metrics.input_bytes >= 0)
            bytes = (isnan(bytes) ? 0 : bytes) + (double)stages[i].metrics.input_bytes;
    return bytes;
}

static bool are_known(const struct run_stage stages[], size_t n)
{
    size_t tasks = 0;
    for (size_t i = 0; i < n; i++) {
        if (!stages[i].skipped && source_of(&stages[i]) == FROM_NOTHING)
            return false;
        tasks += tasks_of(&stages[i]);
    }
    return tasks > 0;
}

enum pv_code run_job_make(const struct run_stage stages[],
                          size_t n,
                          struct arena *arena,
                          struct run_job *made,
                          bool *known,
                          struct pv_error *err)
{
    struct run_job job = {.job = {.predicted_size_s = (double)NAN}};
    size_t in_first = is_mapreduce(stages, n) ? 1 : n;
    *known = are_known(stages, n);
    if (!*known)
        return PV_OK;
    PV_TRY(fill_list(&job, WORKLOAD_TASKS, stages, in_first, arena, err));
    PV_TRY(fill_list(&job, WORKLOAD_REDUCES, stages + in_first, n - in_first, arena, err));
    job.job.input_bytes = input_of(stages, in_first);
    *made = job;
    return PV_OK;
}
