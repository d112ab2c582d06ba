#include <inttypes.h>
#include <stdio.h>

#include "api/routes.h"
#include "api/shared/query.h"
#include "api/shared/reply.h"
#include "base/plural.h"
#include "base/uuid.h"
#include "codec/models/diagnosis.h"
#include "core/history/run_idle.h"
#include "core/scaling/history/explaining_labels.h"
#include "http/etag.h"
#include "store/history/application.h"
#include "store/history/run.h"
#include "store/history/run_measured.h"

/* GET /v1/applications/{name}/diagnosis: why the application scales as it does. */

/* Runs stored before measures were kept that one request measures: each costs reading its tasks. */
enum { OLDER_AT_ONCE = 50 };

enum { ETAG_TEXT = 96 };

/* Raised by whoever changes what the same runs give. */
static const unsigned diagnosis_revision = 3;

/* What a diagnosis is made from. */
struct diagnosis_input {
    struct application application;
    struct run_measured_list list;
    struct run run; /* for its bottlenecks */
    bool has_run;
};

/*
 * The reply is a matter of the history, and of which of its runs are measured. An application that
 * is made anew counts from the start again: the random end of its id tells it from the one before.
 */
static void make_etag(const struct diagnosis_input *input, char out[ETAG_TEXT])
{
    (void)snprintf(out, ETAG_TEXT, "\"v%" PRId64 "-%zu-%u-%s\"", input->list.history_version,
                   input->list.unmeasured, diagnosis_revision, input->application.id + 24);
}

static enum pv_code load_run_asked(struct store_tx *tx,
                                   struct http_request *request,
                                   const char *asked,
                                   struct diagnosis_input *input,
                                   struct pv_error *err)
{
    char id[37];
    struct pv_error why = {0};
    if (!uuid_parse(asked, id))
        return pv_fault(err, PV_PLACE_PARAMETER, "run_id", "invalid_uuid",
                        "must be the id of a run, a UUID");
    enum pv_code code = store_run_find(tx, request->arena, http_path_parameter(request, "name"), id,
                                       RUN_WITH_TASKS, &input->run, NULL, &why);
    if (code == PV_E_NOT_FOUND)
        return pv_fault(err, PV_PLACE_PARAMETER, "run_id", "not_found",
                        "the application has no run of this id");
    input->has_run = code == PV_OK;
    if (code == PV_OK)
        code = run_leave_out_idle(&input->run, request->arena, &why);
    return code == PV_OK ? PV_OK : pv_fail(err, code, "%s", why.detail);
}

/* The run that was asked for, else the newest that succeeded and has stages. */
static enum pv_code load_run(struct store_tx *tx,
                             struct http_request *request,
                             const struct run_label_list *labels,
                             struct diagnosis_input *input,
                             struct pv_error *err)
{
    enum { LOOKED_AT = 20 };
    const char *asked = http_query(request, "run_id");
    const struct run_filter filter = {.since_us = RUN_NO_INSTANT,
                                      .until_us = RUN_NO_INSTANT,
                                      .before_us = RUN_NO_INSTANT,
                                      .labels = labels->labels,
                                      .n_labels = labels->n,
                                      .outcome = RUN_OUTCOME_SUCCEEDED,
                                      .limit = LOOKED_AT};
    struct run_list list;
    if (asked != NULL)
        return load_run_asked(tx, request, asked, input, err);
    PV_TRY(store_run_list(tx, request->arena, &input->application, &filter, &list, err));
    /* Only a streaming application has no other run than a streaming one. */
    for (int streaming = 0; streaming < 2; streaming++)
        for (size_t i = 0; i < list.n && !input->has_run; i++) {
            if ((list.items[i].streaming_queries > 0) != (streaming == 1))
                continue;
            PV_TRY(store_run_find(tx, request->arena, http_path_parameter(request, "name"),
                                  list.items[i].id, RUN_WITH_TASKS, &input->run, NULL, err));
            input->has_run = input->run.n_stages > 0;
        }
    return run_leave_out_idle(&input->run, request->arena, err);
}

static enum pv_code api_diagnosis_load(struct api *api,
                                       struct http_request *request,
                                       enum store_mode mode,
                                       const struct run_label_list *labels,
                                       struct diagnosis_input *input,
                                       struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    struct application *application = &input->application;
    size_t most = (size_t)api->config->observations_max;
    size_t measured = 0;
    PV_TRY(store_begin(api->store, &request->principal, request->request_id, mode, &tx, err));
    PV_TRY(store_application_find(tx, request->arena, http_path_parameter(request, "name"),
                                  application, err));
    if (mode == STORE_WRITE)
        PV_TRY(store_run_measure_older(tx, request->arena, application->id, most, OLDER_AT_ONCE,
                                       &measured, err));
    PV_TRY(store_run_measured(tx, request->arena, application->id, most, labels->labels, labels->n,
                              &input->list, err));
    if (labels->n > 0 && input->list.looked_at == 0)
        return pv_fault(err, PV_PLACE_PARAMETER, "label", "not_found",
                        "none of the newest %zu run%s has these labels", most, PLURAL(most));
    PV_TRY(load_run(tx, request, labels, input, err));
    if (measured > 0)
        PV_TRY(store_commit(&tx, err));
    return PV_OK;
}

/* Measure older runs. Where that is not possible now, the reply says that they are missing. */
static void measure_older(struct api *api,
                          struct http_request *request,
                          const struct run_label_list *labels,
                          struct diagnosis_input *input)
{
    struct diagnosis_input measured = {.list = {.n = 0}};
    if (api_diagnosis_load(api, request, STORE_WRITE, labels, &measured, NULL) == PV_OK)
        *input = measured;
}

static enum pv_code diagnosis_get_load(void *context,
                                       struct http_request *request,
                                       struct http_response *response,
                                       struct pv_error *err)
{
    static const char *const allowed[] = {"label*", "run_id", NULL};
    struct diagnosis_input *input = request->state;
    struct run_label *own = NULL;
    struct run_label_list labels = {.n = 0};
    char etag[ETAG_TEXT];
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(api_query_labels(context, request, &own, &labels.n, err));
    labels.labels = own;
    PV_TRY(api_diagnosis_load(context, request, STORE_READ, &labels, input, err));
    if (input->list.unmeasured > 0)
        measure_older(context, request, &labels, input);
    make_etag(input, etag);
    http_response_header(request, response, "ETag", etag);
    if (http_none_match_holds(request, etag))
        http_reply_not_modified(response);
    return PV_OK;
}

static enum pv_code find_bottlenecks(const struct api *api,
                                     struct http_request *request,
                                     const struct run *run,
                                     struct bottlenecks *bottlenecks,
                                     struct pv_error *err)
{
    struct arena scratch;
    arena_init_beside(&scratch, request->arena, (size_t)api->config->request_memory_bytes_max);
    enum pv_code code = bottlenecks_find(run, request->arena, &scratch, bottlenecks, err);
    arena_fini(&scratch);
    return code;
}

static enum pv_code diagnosis_get_answer(void *context,
                                         struct http_request *request,
                                         struct http_response *response,
                                         struct pv_error *err)
{
    const struct diagnosis_input *input = request->state;
    const struct run_measured_list *list = &input->list;
    const struct run *run = &input->run;
    const struct api *api = context;
    struct diagnosis diagnosis;
    struct bottlenecks bottlenecks;
    struct writer w;
    PV_TRY(diagnosis_make(list->items, list->n, request->arena, &diagnosis, err));
    if (input->has_run)
        PV_TRY(find_bottlenecks(api, request, run, &bottlenecks, err));
    bool is_known = input->has_run && run->executors >= 1 && run->cores_per_executor >= 1;
    const struct codec_diagnosis all = {.application = input->application.name,
                                        .history_version = list->history_version,
                                        .runs = list->runs,
                                        .looked_at = list->looked_at,
                                        .failed = list->failed,
                                        .without_problem_size = list->without_problem_size,
                                        .without_executors = list->without_executors,
                                        .without_duration = list->without_duration,
                                        .unmeasured = list->unmeasured,
                                        .diagnosis = &diagnosis,
                                        .bottlenecks = input->has_run ? &bottlenecks : NULL,
                                        .cores = is_known ? run->executors * run->cores_per_executor
                                                          : RUN_UNKNOWN};
    writer_init(&w, request->arena);
    codec_diagnosis_encode(&w, &all);
    return api_reply(response, 200, &w, err);
}

const struct http_call diagnosis_get = {
    .state_bytes = sizeof(struct diagnosis_input),
    .steps = {{HTTP_IO, diagnosis_get_load}, {HTTP_COMPUTE, diagnosis_get_answer}},
};
