#include "codec/models/diagnosis.h"
#include "api/routes.h"
#include "api/shared/query.h"
#include "api/shared/reply.h"
#include "base/plural.h"
#include "http/etag.h"
#include "store/history/application.h"
#include "store/history/run_measured.h"

/* GET /v1/applications/{name}/diagnosis: why the application scales as it does. */

/* Runs stored before measures were kept, that one request measures: each costs reading its tasks.
 */
enum { OLDER_AT_ONCE = 50 };

/* Raised by whoever changes what the same runs give. */
static const long long diagnosis_revision = 1;

/* The reply is a matter of the history, and of which of its runs are measured. */
static void make_etag(const struct run_measured_list *list, char out[HTTP_ETAG_TEXT])
{
    http_etag_format(list->history_version * 1000000 + (long long)list->unmeasured * 100 +
                         diagnosis_revision,
                     out);
}

static enum pv_code api_diagnosis_load(struct api *api,
                                       struct http_request *request,
                                       enum store_mode mode,
                                       const struct run_label labels[],
                                       size_t n_labels,
                                       struct application *application,
                                       struct run_measured_list *list,
                                       struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    size_t most = (size_t)api->config->observations_max;
    size_t measured = 0;
    PV_TRY(store_begin(api->store, &request->principal, request->request_id, mode, &tx, err));
    PV_TRY(store_application_find(tx, request->arena, http_path_parameter(request, "name"),
                                  application, err));
    if (mode == STORE_WRITE)
        PV_TRY(store_run_measure_older(tx, request->arena, application->id, most, OLDER_AT_ONCE,
                                       &measured, err));
    PV_TRY(
        store_run_measured(tx, request->arena, application->id, most, labels, n_labels, list, err));
    if (n_labels > 0 && list->looked_at == 0)
        return pv_fault(err, PV_PLACE_PARAMETER, "label", "not_found",
                        "none of the newest %zu run%s has these labels", most, PLURAL(most));
    if (measured > 0)
        PV_TRY(store_commit(&tx, err));
    return PV_OK;
}

static enum pv_code diagnosis_reply(struct http_request *request,
                                    struct http_response *response,
                                    const struct application *application,
                                    const struct run_measured_list *list,
                                    struct pv_error *err)
{
    struct diagnosis diagnosis;
    struct writer w;
    PV_TRY(diagnosis_make(list->items, list->n, request->arena, &diagnosis, err));
    const struct codec_diagnosis all = {.application = application->name,
                                        .history_version = list->history_version,
                                        .runs = list->runs,
                                        .looked_at = list->looked_at,
                                        .failed = list->failed,
                                        .without_problem_size = list->without_problem_size,
                                        .without_executors = list->without_executors,
                                        .without_duration = list->without_duration,
                                        .unmeasured = list->unmeasured,
                                        .diagnosis = &diagnosis};
    writer_init(&w, request->arena);
    codec_diagnosis_encode(&w, &all);
    return api_reply(response, 200, &w, err);
}

enum pv_code diagnosis_get(void *context,
                           struct http_request *request,
                           struct http_response *response,
                           struct pv_error *err)
{
    static const char *const allowed[] = {"label*", NULL};
    struct run_label *labels = NULL;
    size_t n_labels = 0;
    struct application application;
    struct run_measured_list list = {.n = 0};
    char etag[HTTP_ETAG_TEXT];
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(api_query_labels(context, request, &labels, &n_labels, err));
    PV_TRY(api_diagnosis_load(context, request, STORE_READ, labels, n_labels, &application, &list,
                              err));
    /* Where older runs cannot be measured now, the reply says that they are missing. */
    if (list.unmeasured > 0)
        (void)!api_diagnosis_load(context, request, STORE_WRITE, labels, n_labels, &application,
                                  &list, NULL);
    make_etag(&list, etag);
    http_response_header(request, response, "ETag", etag);
    if (!http_none_match_holds(request, etag))
        return diagnosis_reply(request, response, &application, &list, err);
    response->status = 200;
    http_reply_not_modified(response);
    return PV_OK;
}
