#include "api/deadlines/job_set_load.h"

#include <math.h>
#include <stdio.h>

#include "api/clusters/named_cluster.h"
#include "api/shared/reply.h"
#include "base/plural.h"
#include "core/cluster/reservations.h"
#include "core/deadline/job_from_run.h"
#include "core/history/run_profile.h"
#include "store/history/run.h"

/* The cores of the cluster that is only named. */
enum pv_code job_set_load_cluster(struct api *api,
                                  struct http_request *request,
                                  struct codec_job_set *set,
                                  struct pv_error *err)
{
    static const char at[] = "/cluster";
    struct cluster cluster;
    int64_t cores = 0;
    if (set->cluster.at == NULL)
        return PV_OK;
    PV_TRY(http_move(request, HTTP_IO));
    PV_TRY(named_cluster_load(api, request, set->cluster, at, &cluster, err));
    int64_t executors = cluster.traits.executors;
    int64_t each = cluster.traits.cores_per_executor;
    PV_TRY(cluster_need(&cluster, executors, "executors", at, err));
    PV_TRY(cluster_need(&cluster, each, "cores_per_executor", at, err));
    PV_TRY(cluster_count_cores(executors, each, api->config->cores_max, at, &cores, err));
    set->cores = (size_t)cores;
    set->size = (struct codec_cluster_size){executors, each,
                                            reservation_capacity(&cluster.traits).memory_bytes};
    return PV_OK;
}

/* --- jobs from history --- */

static enum pv_code
fault_at_application(struct pv_error *err, size_t i, const char *code, const char *detail)
{
    char pointer[64];
    (void)snprintf(pointer, sizeof pointer, "/jobs/%zu/application", i);
    return pv_fault(err, PV_PLACE_POINTER, pointer, code, "%s", detail);
}

/* The average nominal rate of the run, as a profile of it alone defines it. Speeds of 0 say nothing. */
static enum pv_code
take_rate(const struct run *run, struct arena *arena, double *rate, struct pv_error *err)
{
    struct run_profile profile;
    PV_TRY(run_profile_build(run, 1, arena, &profile, err));
    *rate =
        profile.average_nominal_rate_per_s > 0 ? profile.average_nominal_rate_per_s : (double)NAN;
    return PV_OK;
}

/* Job i as the nearest run of its application describes it. */
static enum pv_code load_job(struct store_tx *tx,
                             struct arena *arena,
                             struct codec_job_set *set,
                             size_t i,
                             struct pv_error *err)
{
    const struct codec_job_sent *source = &set->sources[i];
    struct application application;
    struct run_list runs;
    struct pv_error why = {0};
    enum pv_code code =
        store_application_find(tx, arena, source->application.at, &application, &why);
    if (code == PV_E_NOT_FOUND)
        return fault_at_application(err, i, "unknown_application",
                                    "there is no application of this name");
    if (code == PV_OK)
        code =
            store_run_nearest(tx, arena, &application, source->problem_size, true, 1, &runs, &why);
    if (code == PV_OK && runs.n == 0)
        return fault_at_application(err, i, "no_history",
                                    "has no successful run with stages, executors and cores");
    if (code == PV_OK)
        code = edf_job_from_run(&runs.items[0], arena, &set->jobs[i], &why);
    if (code == PV_E_TOO_FEW)
        return fault_at_application(err, i, "no_history", why.detail);
    if (code == PV_OK)
        code = take_rate(&runs.items[0], arena, &set->nominal_rates[i], &why);
    if (code != PV_OK) {
        *err = why;
        return code;
    }
    if (!isnan(source->overhead_s))
        set->jobs[i].overhead_per_task_s = source->overhead_s;
    return PV_OK;
}

/* A job before i that comes from the same run, or i. */
static size_t find_same(const struct codec_job_set *set, size_t i)
{
    const struct codec_job_sent *source = &set->sources[i];
    for (size_t k = 0; k < i; k++) {
        const struct codec_job_sent *other = &set->sources[k];
        if (other->application.at != NULL &&
            isnan(other->overhead_s) == isnan(source->overhead_s) &&
            other->problem_size == source->problem_size &&
            strview_equal(other->application, source->application))
            return k;
    }
    return i;
}

static void share_stages(struct codec_job_set *set, size_t i, size_t from)
{
    set->jobs[i].stages = set->jobs[from].stages;
    set->jobs[i].n_stages = set->jobs[from].n_stages;
    set->nominal_rates[i] = set->nominal_rates[from];
    if (isnan(set->sources[i].overhead_s))
        set->jobs[i].overhead_per_task_s = set->jobs[from].overhead_per_task_s;
}

static enum pv_code check_tasks(const struct codec_job_set *set, int64_t most, struct pv_error *err)
{
    if (codec_job_set_tasks(set) <= (size_t)most)
        return PV_OK;
    return pv_fault(err, PV_PLACE_POINTER, "/jobs", "too_many_items",
                    "with the jobs from history there are more than %lld task%s (tasks_max)",
                    (long long)most, PLURAL(most));
}

enum pv_code job_set_load_from(struct store_tx *tx,
                               struct arena *arena,
                               int64_t tasks_max,
                               struct codec_job_set *set,
                               struct pv_error *err)
{
    set->nominal_rates = arena_array(arena, set->n_jobs, sizeof *set->nominal_rates);
    if (set->nominal_rates == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < set->n_jobs; i++) {
        set->nominal_rates[i] = (double)NAN;
        if (set->sources[i].application.at == NULL)
            continue;
        size_t same = find_same(set, i);
        if (same < i)
            share_stages(set, i, same);
        else
            PV_TRY(load_job(tx, arena, set, i, err));
    }
    return check_tasks(set, tasks_max, err);
}

bool job_set_has_history(const struct codec_job_set *set)
{
    for (size_t i = 0; i < set->n_jobs; i++)
        if (set->sources[i].application.at != NULL)
            return true;
    return false;
}

enum pv_code job_set_load_jobs(struct api *api,
                               struct http_request *request,
                               struct codec_job_set *set,
                               struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    if (!job_set_has_history(set))
        return PV_OK;
    PV_TRY(http_move(request, HTTP_IO));
    PV_TRY(api_read(api, request, &tx, err));
    return job_set_load_from(tx, request->arena, api->config->tasks_max, set, err);
}
