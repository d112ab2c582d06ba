#include "api/routes.h"

#include <math.h>
#include <stdio.h>

#include "api/api.h"
#include "api/clusters/named_cluster.h"
#include "api/shared/reply.h"
#include "base/plural.h"
#include "codec/deadlines/feasibility.h"
#include "codec/json/finding.h"
#include "core/deadline/explain.h"
#include "core/deadline/job_from_run.h"
#include "store/history/run.h"

static enum pv_code feasibility_decode(const struct config *config,
                                       struct http_request *request,
                                       struct codec_feasibility *asked,
                                       struct pv_error *err)
{
    const struct codec_feasibility_limits limits = {
        .jobs = (size_t)config->jobs_max,
        .stages = (size_t)config->stages_max,
        .tasks = (size_t)config->tasks_max,
        .cores = config->cores_max,
    };
    struct codec_document body;
    PV_TRY(api_body_open(config, request, &body, err));
    codec_feasibility_decode(&body.top, &limits, asked);
    return codec_close(&body);
}

/* The cores of the cluster that is only named. */
static enum pv_code load_cluster(struct api *api,
                                 struct http_request *request,
                                 struct codec_feasibility *asked,
                                 struct pv_error *err)
{
    static const char at[] = "/cluster";
    struct cluster cluster;
    int64_t cores = 0;
    if (asked->cluster.at == NULL)
        return PV_OK;
    PV_TRY(http_move(request, HTTP_IO));
    PV_TRY(named_cluster_load(api, request, asked->cluster, at, &cluster, err));
    int64_t executors = cluster.traits.executors;
    int64_t each = cluster.traits.cores_per_executor;
    PV_TRY(cluster_need(&cluster, executors, "executors", at, err));
    PV_TRY(cluster_need(&cluster, each, "cores_per_executor", at, err));
    PV_TRY(cluster_count_cores(executors, each, api->config->cores_max, at, &cores, err));
    asked->cores = (size_t)cores;
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

/* Job i as the nearest run of its application describes it. */
static enum pv_code load_job(struct store_tx *tx,
                             struct arena *arena,
                             struct codec_feasibility *asked,
                             size_t i,
                             struct pv_error *err)
{
    const struct codec_feasibility_source *source = &asked->sources[i];
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
        code = edf_job_from_run(&runs.items[0], arena, &asked->jobs[i], &why);
    if (code == PV_E_TOO_FEW)
        return fault_at_application(err, i, "no_history", why.detail);
    if (code != PV_OK) {
        *err = why;
        return code;
    }
    if (!isnan(source->overhead_s))
        asked->jobs[i].overhead_per_task_s = source->overhead_s;
    return PV_OK;
}

/* A job before i that comes from the same run, or i. */
static size_t find_same(const struct codec_feasibility *asked, size_t i)
{
    const struct codec_feasibility_source *source = &asked->sources[i];
    for (size_t k = 0; k < i; k++) {
        const struct codec_feasibility_source *other = &asked->sources[k];
        if (other->application.at != NULL &&
            isnan(other->overhead_s) == isnan(source->overhead_s) &&
            other->problem_size == source->problem_size &&
            strview_equal(other->application, source->application))
            return k;
    }
    return i;
}

static void share_stages(struct codec_feasibility *asked, size_t i, size_t from)
{
    asked->jobs[i].stages = asked->jobs[from].stages;
    asked->jobs[i].n_stages = asked->jobs[from].n_stages;
    if (isnan(asked->sources[i].overhead_s))
        asked->jobs[i].overhead_per_task_s = asked->jobs[from].overhead_per_task_s;
}

/* One transaction for all of them, over before anything is computed. */
static enum pv_code load_jobs(struct api *api,
                              struct http_request *request,
                              struct codec_feasibility *asked,
                              struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    for (size_t i = 0; i < asked->n_jobs; i++) {
        if (asked->sources[i].application.at == NULL)
            continue;
        size_t same = find_same(asked, i);
        if (same < i) {
            share_stages(asked, i, same);
            continue;
        }
        if (tx == NULL) {
            PV_TRY(http_move(request, HTTP_IO));
            PV_TRY(api_read(api, request, &tx, err));
        }
        PV_TRY(load_job(tx, request->arena, asked, i, err));
    }
    store_rollback(&tx);
    if (codec_feasibility_tasks(asked) > (size_t)api->config->tasks_max)
        return pv_fault(err, PV_PLACE_POINTER, "/jobs", "too_many_items",
                        "with the jobs from history there are more than %lld task%s (tasks_max)",
                        (long long)api->config->tasks_max, PLURAL(api->config->tasks_max));
    return PV_OK;
}

/* --- the answer --- */

struct rows {
    struct writer *writer;
    const struct codec_feasibility *asked;
};

static bool write_row(void *context, const struct edf_placement *placement)
{
    struct rows *rows = context;
    codec_feasibility_encode_placement(rows->writer, rows->asked, placement);
    return !rows->writer->failed;
}

/* The schedule once more, this time written down as it happens: it may be far larger than all else
 * and is never held in two forms. */
static enum pv_code write_schedule(const struct codec_feasibility *asked,
                                   struct arena *scratch,
                                   struct edf_outcome outcomes[],
                                   struct writer *w,
                                   struct pv_error *err)
{
    struct rows rows = {w, asked};
    const struct edf_observer observer = {write_row, &rows};
    struct pv_error why = {0};
    writer_key(w, "schedule");
    writer_begin_array(w);
    enum pv_code code = edf_schedule(asked->jobs, asked->n_jobs, asked->cores, scratch, outcomes,
                                     NULL, &observer, &why);
    writer_end_array(w);
    if (code == PV_E_CANCELLED && !w->arena->limited)
        return pv_no_memory(err); /* that all requests hold together */
    if (code == PV_E_CANCELLED)
        return pv_fault(err, PV_PLACE_POINTER, "/include", "too_large",
                        "the schedule of %zu task%s does not fit the memory of a request "
                        "(request_memory_bytes_max)",
                        codec_feasibility_tasks(asked), PLURAL(codec_feasibility_tasks(asked)));
    return code == PV_OK ? PV_OK : pv_fail(err, code, "%s", why.detail);
}

/* scratch is not the arena the reply grows in: the schedule gives it back while rows are kept. */
static enum pv_code feasibility_answer(const struct config *config,
                                       const struct codec_feasibility *asked,
                                       struct http_request *request,
                                       struct arena *scratch,
                                       struct writer *w,
                                       struct pv_error *err)
{
    struct edf_outcome *outcomes = arena_array(w->arena, asked->n_jobs, sizeof *outcomes);
    struct edf_metrics metrics;
    struct edf_remedies remedies;
    struct strview *names = arena_array(w->arena, asked->n_jobs, sizeof *names);
    struct findings reasons = {.arena = w->arena};
    if (outcomes == NULL || names == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < asked->n_jobs; i++)
        names[i] = asked->sources[i].name;
    enum pv_code code = edf_schedule(asked->jobs, asked->n_jobs, asked->cores, scratch, outcomes,
                                     &metrics, NULL, err);
    /* The search replays the jobs over and over: light for a tenth of the tasks only. */
    if (code == PV_OK && metrics.delayed > 0 &&
        codec_feasibility_tasks(asked) > (size_t)config->feasibility_inline_tasks / 10)
        code = http_move(request, HTTP_COMPUTE);
    if (code == PV_OK && metrics.delayed > 0)
        code = edf_find_remedies(asked->jobs, asked->n_jobs, asked->cores,
                                 (uint64_t)config->remedy_task_budget, w->arena, scratch, &remedies,
                                 err);
    if (code != PV_OK)
        return code;
    writer_begin_object(w);
    codec_feasibility_encode(w, asked, outcomes, &metrics, metrics.delayed > 0 ? &remedies : NULL);
    feasibility_explain(names, asked->jobs, asked->n_jobs, asked->cores, outcomes, &metrics,
                        metrics.delayed > 0 ? &remedies : NULL, &reasons);
    codec_findings_encode(w, "reasons", &reasons);
    if (asked->with_schedule)
        code = write_schedule(asked, scratch, outcomes, w, err);
    writer_end_object(w);
    return code;
}

static enum pv_code feasibility_check_decode(void *context,
                                             struct http_request *request,
                                             struct http_response *response,
                                             struct pv_error *err)
{
    struct api *api = context;
    static const char *const no_parameters[] = {NULL};
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    return feasibility_decode(api->config, request, request->state, err);
}

/* On an io worker only where there is something to load. */
static enum pv_code feasibility_check_load(void *context,
                                           struct http_request *request,
                                           struct http_response *response,
                                           struct pv_error *err)
{
    (void)response;
    PV_TRY(load_cluster(context, request, request->state, err));
    return load_jobs(context, request, request->state, err);
}

static enum pv_code feasibility_check_answer(void *context,
                                             struct http_request *request,
                                             struct http_response *response,
                                             struct pv_error *err)
{
    struct api *api = context;
    const struct codec_feasibility *asked = request->state;
    struct arena scratch;
    struct writer w;
    if (codec_feasibility_tasks(asked) > (size_t)api->config->feasibility_inline_tasks)
        PV_TRY(http_move(request, HTTP_COMPUTE));
    arena_init_beside(&scratch, request->arena, (size_t)api->config->request_memory_bytes_max);
    writer_init(&w, request->arena);
    enum pv_code code = feasibility_answer(api->config, asked, request, &scratch, &w, err);
    arena_fini(&scratch);
    if (code != PV_OK)
        return code;
    response->body = writer_finish(&w, &response->body_n);
    if (response->body == NULL)
        return pv_no_memory(err);
    response->status = 200;
    return PV_OK;
}

const struct http_call feasibility_check = {
    .state_bytes = sizeof(struct codec_feasibility),
    .steps = {{HTTP_BODY, feasibility_check_decode},
              {HTTP_ANYWHERE, feasibility_check_load},
              {HTTP_ANYWHERE, feasibility_check_answer}},
};
