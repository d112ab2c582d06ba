#include "core/history/run_profile.h"

#include "api/advice/recent_runs.h"
#include "api/routes.h"
#include "api/shared/reply.h"
#include "codec/history/source_run.h"

/* GET /v1/applications/{name}/profile: the latest stage graph with what recent runs show. */

static void encode_stage(struct writer *w, const struct run_profile_stage *stage)
{
    const struct run_stage *latest = stage->latest;
    writer_begin_object(w);
    writer_member_integer(w, "id", latest->id);
    writer_member_text(w, "name", latest->name);
    writer_key(w, "parents");
    writer_begin_array(w);
    for (size_t i = 0; i < latest->n_parents; i++)
        writer_integer(w, latest->parents[i]);
    writer_end_array(w);
    writer_member_count(w, "tasks", latest->n_tasks);
    writer_member_number(w, "task_duration_s", stage->task_duration_s);
    writer_member_number(w, "task_time_s", stage->task_time_s);
    writer_member_number(w, "duration_s", stage->duration_s);
    writer_member_number(w, "input_records", stage->input_records);
    writer_member_number(w, "nominal_rate_per_s", stage->nominal_rate_per_s);
    writer_member_number(w, "weight", stage->weight);
    writer_member_boolean(w, "skipped", latest->skipped);
    writer_end_object(w);
}

static void profile_encode(struct writer *w,
                           struct strview application,
                           const struct run_source sources[],
                           const struct run_profile *profile)
{
    writer_begin_object(w);
    writer_member_text(w, "application", application);
    writer_member_string(w, "run_id", sources[0].id);
    codec_source_runs_encode(w, sources, profile->n_runs);
    writer_member_boolean(w, "graph_changed", profile->graph_changed);
    writer_member_number(w, "average_nominal_rate_per_s", profile->average_nominal_rate_per_s);
    writer_key(w, "stages");
    writer_begin_array(w);
    for (size_t i = 0; i < profile->n_stages; i++)
        encode_stage(w, &profile->stages[i]);
    writer_end_array(w);
    writer_end_object(w);
}

static enum pv_code profile_load(struct api *api,
                                 struct http_request *request,
                                 struct application *application,
                                 struct run_list *list,
                                 struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    PV_TRY(api_read(api, request, &tx, err));
    PV_TRY(store_application_find(tx, request->arena, http_path_parameter(request, "name"),
                                  application, err));
    return recent_runs_load(tx, request->arena, application, list, err);
}

enum pv_code profile_get(void *context,
                         struct http_request *request,
                         struct http_response *response,
                         struct pv_error *err)
{
    static const char *const allowed[] = {NULL};
    struct application application;
    struct run_list list = {.items = NULL};
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(profile_load(context, request, &application, &list, err));
    if (list.n == 0)
        return pv_fail(err, PV_E_NOT_FOUND,
                       "none of the latest %d runs succeeded and has stages: there is no profile",
                       RECENT_RUNS_MAX);
    struct run_profile profile;
    PV_TRY(run_profile_build(list.items, list.n, request->arena, &profile, err));
    struct run_source *sources = arena_array(request->arena, profile.n_runs, sizeof *sources);
    if (sources == NULL)
        return pv_no_memory(err);
    run_profile_sources(&profile, list.items, sources);
    struct writer w;
    writer_init(&w, request->arena);
    profile_encode(&w, application.name, sources, &profile);
    return api_reply(response, 200, &w, err);
}
