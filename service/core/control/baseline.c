#include "core/control/baseline.h"

#include <math.h>

/* Tasks between two reports: about a millisecond. */
enum { REPORT_EVERY = 4096 };

/* Tasks that have begun, and who wants to know. */
struct watch {
    const struct control_progress *progress;
    size_t tasks;
};

static bool count_task(void *context, const struct edf_placement *placement)
{
    struct watch *watch = context;
    (void)placement;
    return ++watch->tasks % REPORT_EVERY != 0 ||
           watch->progress->report(watch->progress->context, watch->tasks);
}

static size_t all_cores(const struct control_cluster *cluster)
{
    return cluster->workers * cluster->cores;
}

static double work_of(const struct control_model *model, size_t j)
{
    const struct edf_plan_job *job = &model->plan.jobs[j];
    double work_s = 0;
    for (size_t s = job->first_stage; s < job->first_stage + job->n_stages; s++)
        work_s += model->plan.stages[s].work_s;
    return work_s;
}

static enum pv_code run_edf(const struct control_model *model,
                            const struct edf_observer *observer,
                            struct arena *scratch,
                            struct control_result *result,
                            struct pv_error *err)
{
    size_t n = model->plan.n_jobs;
    result->longest_wait_s = NULL;
    for (size_t j = 0; j < n; j++)
        result->core_s[j] = work_of(model, j);
    return edf_schedule(model->actual, n, all_cores(&model->cluster), scratch, result->outcomes,
                        NULL, observer, err);
}

/* Jobs in order of arrival, each alone on `cores` of its own from when the first of `places` is
 * free. */
static enum pv_code run_places(const struct control_model *model,
                               const struct edf_observer *observer,
                               size_t cores,
                               size_t places,
                               struct arena *scratch,
                               struct control_result *result,
                               struct pv_error *err)
{
    size_t n = model->plan.n_jobs;
    struct heap taken; /* key: when a place is free again */
    if (!heap_init(&taken, scratch, places < n ? places : n))
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        size_t j = model->plan.by_release[i];
        struct edf_job alone = model->actual[j];
        struct edf_outcome *outcome = &result->outcomes[j];
        if (taken.n == taken.capacity)
            alone.release_s = fmax(alone.release_s, heap_pop(&taken).key);
        PV_TRY(edf_schedule(&alone, 1, cores, scratch, outcome, NULL, observer, err));
        heap_push(&taken, outcome->completion_s, j);
        result->longest_wait_s[j] = alone.release_s - model->actual[j].release_s;
        result->core_s[j] = (double)cores * (outcome->completion_s - alone.release_s);
    }
    return PV_OK;
}

static enum pv_code run_fifo(const struct control_model *model,
                             const struct edf_observer *observer,
                             struct arena *scratch,
                             struct control_result *result,
                             struct pv_error *err)
{
    return run_places(model, observer, all_cores(&model->cluster), 1, scratch, result, err);
}

size_t control_static_cores(const struct control_cluster *cluster, size_t n)
{
    size_t all = all_cores(cluster);
    if (cluster->cores >= n)
        return cluster->cores / n * cluster->workers;
    return all >= n ? all / n : 1;
}

static enum pv_code run_static(const struct control_model *model,
                               const struct edf_observer *observer,
                               struct arena *scratch,
                               struct control_result *result,
                               struct pv_error *err)
{
    size_t cores = control_static_cores(&model->cluster, model->plan.n_jobs);
    return run_places(model, observer, cores, all_cores(&model->cluster) / cores, scratch, result,
                      err);
}

const struct control_baseline control_baselines[CONTROL_BASELINES] = {
    {"clairvoyance_edf", run_edf}, {"spark_fifo", run_fifo}, {"spark_static", run_static}};

enum pv_code control_baseline_run(const struct control_baseline *baseline,
                                  const struct control_model *model,
                                  const struct control_progress *progress,
                                  struct arena *arena,
                                  struct arena *scratch,
                                  struct control_result *result,
                                  struct pv_error *err)
{
    size_t n = model->plan.n_jobs;
    struct watch watch = {.progress = progress};
    const struct edf_observer observer = {count_task, &watch};
    *result = (struct control_result){.outcomes = arena_array(arena, n, sizeof *result->outcomes),
                                      .core_s = arena_array(arena, n, sizeof *result->core_s),
                                      .longest_wait_s =
                                          arena_array(arena, n, sizeof *result->longest_wait_s)};
    if (result->outcomes == NULL || result->core_s == NULL || result->longest_wait_s == NULL)
        return pv_no_memory(err);
    struct arena_mark mark = arena_mark(scratch);
    enum pv_code code =
        baseline->run(model, progress == NULL ? NULL : &observer, scratch, result, err);
    for (size_t j = 0; code == PV_OK && j < n; j++)
        edf_judge(&model->actual[j], result->outcomes[j].completion_s, &result->outcomes[j]);
    if (code == PV_OK)
        edf_measure(model->actual, n, all_cores(&model->cluster), model->plan.work_s,
                    result->outcomes, &result->metrics);
    arena_rewind(scratch, mark);
    return code;
}
