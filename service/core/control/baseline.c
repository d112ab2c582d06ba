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

static enum pv_code run_edf(const struct control_model *model,
                            const struct edf_observer *observer,
                            struct arena *scratch,
                            double completions_s[],
                            struct pv_error *err)
{
    size_t n = model->plan.n_jobs;
    struct edf_outcome *outcomes = arena_array(scratch, n, sizeof *outcomes);
    if (outcomes == NULL)
        return pv_no_memory(err);
    PV_TRY(edf_schedule(model->actual, n, all_cores(&model->cluster), scratch, outcomes, NULL,
                        observer, err));
    for (size_t j = 0; j < n; j++)
        completions_s[j] = outcomes[j].completion_s;
    return PV_OK;
}

/* Jobs in order of arrival, each alone on `cores` of its own from when the first of `places` is
 * free. */
static enum pv_code run_places(const struct control_model *model,
                               const struct edf_observer *observer,
                               size_t cores,
                               size_t places,
                               struct arena *scratch,
                               double completions_s[],
                               struct pv_error *err)
{
    size_t n = model->plan.n_jobs;
    struct heap taken; /* key: when a place is free again */
    if (!heap_init(&taken, scratch, places < n ? places : n))
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        size_t j = model->plan.by_release[i];
        struct edf_job alone = model->actual[j];
        struct edf_outcome outcome;
        if (taken.n == taken.capacity)
            alone.release_s = fmax(alone.release_s, heap_pop(&taken).key);
        PV_TRY(edf_schedule(&alone, 1, cores, scratch, &outcome, NULL, observer, err));
        completions_s[j] = outcome.completion_s;
        heap_push(&taken, outcome.completion_s, j);
    }
    return PV_OK;
}

static enum pv_code run_fifo(const struct control_model *model,
                             const struct edf_observer *observer,
                             struct arena *scratch,
                             double completions_s[],
                             struct pv_error *err)
{
    return run_places(model, observer, all_cores(&model->cluster), 1, scratch, completions_s, err);
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
                               double completions_s[],
                               struct pv_error *err)
{
    size_t cores = control_static_cores(&model->cluster, model->plan.n_jobs);
    return run_places(model, observer, cores, all_cores(&model->cluster) / cores, scratch,
                      completions_s, err);
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
    *result = (struct control_result){.outcomes = arena_array(arena, n, sizeof *result->outcomes)};
    if (result->outcomes == NULL)
        return pv_no_memory(err);
    struct arena_mark mark = arena_mark(scratch);
    double *completions_s = arena_array(scratch, n, sizeof *completions_s);
    enum pv_code code = completions_s == NULL
                            ? pv_no_memory(err)
                            : baseline->run(model, progress == NULL ? NULL : &observer, scratch,
                                            completions_s, err);
    for (size_t j = 0; code == PV_OK && j < n; j++)
        edf_judge(&model->actual[j], completions_s[j], &result->outcomes[j]);
    if (code == PV_OK)
        edf_measure(model->actual, n, all_cores(&model->cluster), model->plan.work_s,
                    result->outcomes, &result->metrics);
    arena_rewind(scratch, mark);
    return code;
}
