#include <inttypes.h>
#include <stdio.h>

#include "api/advice/advised_runs.h"
#include "api/history/run_clock.h"
#include "api/history/run_reply.h"
#include "api/models/fitter.h"
#include "api/routes.h"
#include "api/shared/list.h"
#include "api/shared/query.h"
#include "api/shared/reply.h"
#include "api/shared/write.h"
#include "base/fault_text.h"
#include "base/uuid.h"
#include "codec/history/run.h"
#include "core/history/run_cores.h"
#include "store/history/run.h"
#include "store/history/run_change.h"

/* Runs, sent as JSON or read back. Event logs: api/history/event_logs.c. */

static unsigned store_with(unsigned include)
{
    return ((include & CODEC_RUN_STAGES) != 0 ? RUN_WITH_STAGES : 0u) |
           ((include & CODEC_RUN_TASKS) != 0 ? RUN_WITH_STAGES | RUN_WITH_TASKS : 0u);
}

/* --- recording --- */

static enum pv_code
runs_decode(struct api *api, struct http_request *request, struct run *run, struct pv_error *err)
{
    const struct config *config = api->config;
    const struct codec_run_limits limits = {
        .stages = config->stages_max, .tasks = config->tasks_max, .labels = config->labels_max};
    struct codec_document body;
    PV_TRY(api_body_open(config, request, &body, err));
    codec_run_decode(&body.top, &limits, run);
    return codec_close(&body);
}

static enum pv_code runs_insert(struct http_request *request,
                                struct http_response *response,
                                struct store_tx *tx,
                                const char *name,
                                struct run *run,
                                struct pv_error *err)
{
    struct application application;
    struct run_insert insert;
    PV_TRY(run_clock_warn(run, request->arena, err));
    PV_TRY(store_application_ensure(tx, request->arena, name, &application, err));
    PV_TRY(store_run_insert(tx, request->arena, &application, NULL, run, &insert, err));
    PV_TRY(api_reply_run_location(request, response, run, application.name, err));
    return api_reply_run(request, response, 201, run, application.name, 0, err);
}

static enum pv_code runs_create_decode(void *context,
                                       struct http_request *request,
                                       struct http_response *response,
                                       struct pv_error *err)
{
    static const char *const allowed[] = {NULL};
    const char *name = NULL;
    (void)response;
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(api_query_name(request, &name, err));
    return runs_decode(context, request, request->state, err);
}

static enum pv_code runs_create_store(void *context,
                                      struct http_request *request,
                                      struct http_response *response,
                                      struct pv_error *err)
{
    struct api *api = context;
    struct run run = *(const struct run *)request->state;
    const char *name = http_path_parameter(request, "name");
    api_write_auto_t write = {0};
    bool replayed = false;
    PV_TRY(api_write_begin(api, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(runs_insert(request, response, write.tx, name, &run, err));
    PV_TRY(api_write_commit(request, response, &write, err));
    api_history_changed(api, request->principal.team_id, name);
    advised_runs_count(api, request, &run);
    return PV_OK;
}

const struct http_call runs_create = {
    .state_bytes = sizeof(struct run),
    .steps = {{HTTP_BODY, runs_create_decode}, {HTTP_IO, runs_create_store}},
};

/* What is no id at all names nothing that exists. */
static enum pv_code fail_no_id(const struct http_request *request, struct pv_error *err)
{
    return pv_fail(err, PV_E_NOT_FOUND, "there is no run %s: the id of a run is a UUID",
                   fault_quote(http_path_parameter(request, "id")).text);
}

/* --- reading --- */

/* name NULL: of whatever application. */
static enum pv_code read_one(struct api *api,
                             struct http_request *request,
                             struct http_response *response,
                             const char *name,
                             struct pv_error *err)
{
    static const char *const allowed[] = {"include", NULL};
    unsigned include = 0;
    char id[37];
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(api_query_run_include(request, &include, err));
    if (!uuid_parse(http_path_parameter(request, "id"), id))
        return fail_no_id(request, err);
    store_tx_auto_t *tx = NULL;
    PV_TRY(api_read(api, request, &tx, err));
    struct run run;
    struct strview application = {NULL, 0};
    PV_TRY(
        store_run_find(tx, request->arena, name, id, store_with(include), &run, &application, err));
    store_rollback(&tx);
    return api_reply_run(request, response, 200, &run, application, include, err);
}

enum pv_code runs_get(void *context,
                      struct http_request *request,
                      struct http_response *response,
                      struct pv_error *err)
{
    return read_one(context, request, response, http_path_parameter(request, "name"), err);
}

enum pv_code runs_find(void *context,
                       struct http_request *request,
                       struct http_response *response,
                       struct pv_error *err)
{
    return read_one(context, request, response, NULL, err);
}

enum pv_code runs_delete(void *context,
                         struct http_request *request,
                         struct http_response *response,
                         struct pv_error *err)
{
    static const char *const allowed[] = {NULL};
    struct api *api = context;
    char id[37];
    PV_TRY(http_check_query(request, allowed, err));
    if (!uuid_parse(http_path_parameter(request, "id"), id))
        return fail_no_id(request, err);
    api_write_auto_t write = {0};
    bool replayed = false;
    PV_TRY(api_write_begin(api, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(store_run_delete(write.tx, http_path_parameter(request, "name"), id, err));
    api_reply_empty(response);
    PV_TRY(api_write_commit(request, response, &write, err));
    api_history_changed(api, request->principal.team_id, http_path_parameter(request, "name"));
    return PV_OK;
}

/* --- correcting --- */

static enum pv_code runs_change_decode(void *context,
                                       struct http_request *request,
                                       struct http_response *response,
                                       struct pv_error *err)
{
    static const char *const allowed[] = {NULL};
    struct api *api = context;
    const struct codec_run_limits limits = {.labels = api->config->labels_max};
    struct codec_document body;
    (void)response;
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_run_decode_change(&body.top, &limits, request->state);
    return codec_close(&body);
}

/* A correction of executors and cores obeys the bound of clusters. */
static enum pv_code check_correction(const struct run_change *change,
                                     const struct run *run,
                                     int64_t cores_max,
                                     struct pv_error *err)
{
    struct run_cores_fault fault;
    char place[32];
    bool on_executors = change->has_executors && !change->has_cores_per_executor;
    bool changes = change->has_executors || change->has_cores_per_executor;
    if (!changes || !run_cores_exceed(run, on_executors, cores_max, &fault))
        return PV_OK;
    (void)snprintf(place, sizeof place, "/%s", fault.member);
    return pv_fault(err, PV_PLACE_POINTER, place, "out_of_range", "%s", fault.text);
}

static enum pv_code runs_change_store(void *context,
                                      struct http_request *request,
                                      struct http_response *response,
                                      struct pv_error *err)
{
    struct api *api = context;
    const char *name = http_path_parameter(request, "name");
    struct run run;
    struct application application;
    char id[37];
    api_write_auto_t write = {0};
    bool replayed = false;
    if (!uuid_parse(http_path_parameter(request, "id"), id))
        return fail_no_id(request, err);
    PV_TRY(api_write_begin(api, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(store_run_change(write.tx, request->arena, name, id, request->state, &run, &application,
                            err));
    PV_TRY(check_correction(request->state, &run, api->config->cores_max, err));
    PV_TRY(api_reply_run_location(request, response, &run, application.name, err));
    PV_TRY(api_reply_run(request, response, 200, &run, application.name, 0, err));
    PV_TRY(api_write_commit(request, response, &write, err));
    api_history_changed(api, request->principal.team_id, name);
    if (!strview_is(application.name, name))
        api_history_changed(api, request->principal.team_id, application.name.at);
    return PV_OK;
}

const struct http_call runs_change = {
    .state_bytes = sizeof(struct run_change),
    .steps = {{HTTP_BODY, runs_change_decode}, {HTTP_IO, runs_change_store}},
};

/* --- pages --- */

struct list_query {
    const char *application; /* name; NULL: all of the team */
    unsigned include;
    struct run_label *labels;
    size_t n_labels;
    int64_t since_us;
    int64_t until_us;
    enum run_outcome outcome;
};

/* Labels lie in indexes of single applications, and stages would make a page of any size. */
static enum pv_code check_needs_application(const struct http_request *request,
                                            struct pv_error *err)
{
    static const char *const names[] = {"label", "include"};
    enum pv_code code = PV_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (http_query(request, names[i]) != NULL)
            code = pv_fault(err, PV_PLACE_PARAMETER, names[i], "needs_application",
                            "is allowed only together with the parameter application");
    return code;
}

static enum pv_code read_list_query(struct api *api,
                                    struct http_request *request,
                                    struct list_query *query,
                                    struct pv_error *err)
{
    static const char *const allowed[] = {"limit", "cursor",    "include",     "label*", "since",
                                          "until", "succeeded", "application", NULL};
    static const char *const of_one[] = {"limit", "cursor", "include",   "label*",
                                         "since", "until",  "succeeded", NULL};
    bool is_of_one = request->n_path_parameters > 0;
    bool given = http_query(request, "succeeded") != NULL, succeeded = false;
    query->application =
        is_of_one ? http_path_parameter(request, "name") : http_query(request, "application");
    PV_TRY(http_check_query(request, is_of_one ? of_one : allowed, err));
    if (query->application == NULL)
        PV_TRY(check_needs_application(request, err));
    PV_TRY(api_query_run_include(request, &query->include, err));
    PV_TRY(api_query_labels(api, request, &query->labels, &query->n_labels, err));
    PV_TRY(api_query_instant(request, "since", &query->since_us, err));
    PV_TRY(api_query_boolean(request, "succeeded", false, &succeeded, err));
    query->outcome = !given      ? RUN_OUTCOME_ANY
                     : succeeded ? RUN_OUTCOME_SUCCEEDED
                                 : RUN_OUTCOME_FAILED;
    return api_query_instant(request, "until", &query->until_us, err);
}

/* With its stages a page could be of any size: it ends early where it would hold more stages or
 * tasks than one run may have. */
static enum pv_code load_page(struct api *api,
                              struct http_request *request,
                              const struct api_list *list,
                              const struct list_query *query,
                              struct application *application,
                              struct run_list *page,
                              struct pv_error *err)
{
    struct run_filter filter = {.since_us = query->since_us,
                                .until_us = query->until_us,
                                .labels = query->labels,
                                .n_labels = query->n_labels,
                                .outcome = query->outcome,
                                .limit = list->limit,
                                .before_us = list->after.instant_us,
                                .with = store_with(query->include),
                                .stages_most = (size_t)api->config->stages_max,
                                .tasks_most = (size_t)api->config->tasks_max};
    (void)snprintf(filter.before_id, sizeof filter.before_id, "%.36s", list->after.text);
    if (query->application == NULL)
        return store_run_list_of_team(list->tx, request->arena, &filter, page, err);
    PV_TRY(store_application_find(list->tx, request->arena, query->application, application, err));
    return store_run_list(list->tx, request->arena, application, &filter, page, err);
}

/* The runs of one application, or of all. */
enum pv_code runs_list(void *context,
                       struct http_request *request,
                       struct http_response *response,
                       struct pv_error *err)
{
    struct list_query query = {.include = 0};
    struct application application;
    struct run_list page;
    api_list_auto_t list = {0};
    PV_TRY(read_list_query(context, request, &query, err));
    PV_TRY(api_list_begin(context, request, &list, err));
    PV_TRY(load_page(context, request, &list, &query, &application, &page, err));
    api_list_items(&list);
    for (size_t i = 0; i < page.n; i++)
        codec_run_encode(&list.w, &page.items[i],
                         query.application == NULL ? page.applications[i] : application.name,
                         query.include);
    return api_list_reply(context, request, response, &list,
                          page.more ? page.items[page.n - 1].id : NULL,
                          page.more ? page.instants_us[page.n - 1] : RUN_NO_INSTANT, err);
}
