#include <inttypes.h>
#include <stdio.h>

#include "api/advice/prediction_cache.h"
#include "api/models/fitter.h"
#include "api/routes.h"
#include "api/shared/list.h"
#include "api/shared/query.h"
#include "api/shared/reply.h"
#include "api/shared/write.h"
#include "codec/history/application.h"
#include "http/etag.h"
#include "store/history/application.h"
#include "store/history/run_change.h"

/* The applications of a team: named, with labels and a retention of their runs. */

enum { ETAG_TEXT = 96 };

static const char *const no_parameters[] = {NULL};

/*
 * The representation also states how many runs are kept, so its tag moves with the history as well
 * as with the application's own fields. One that is made anew under the same name counts from the
 * start again: the last group of its id, which is random, tells it from the one before.
 */
static void make_etag(const struct application *application, char out[ETAG_TEXT])
{
    int64_t advised_us =
        application->last_advice_us == RUN_NO_INSTANT ? 0 : application->last_advice_us;
    (void)snprintf(out, ETAG_TEXT, "\"v%" PRId64 "-%" PRId64 "-%" PRIx64 "-%s\"",
                   application->version, application->history_version, (uint64_t)advised_us,
                   application->id + 24);
}

static enum pv_code applications_reply(struct http_request *request,
                                       struct http_response *response,
                                       unsigned status,
                                       const struct application *application,
                                       unsigned include,
                                       struct pv_error *err)
{
    char etag[ETAG_TEXT];
    make_etag(application, etag);
    http_response_header(request, response, "ETag", etag);
    struct writer w;
    writer_init(&w, request->arena);
    codec_application_encode(&w, application, include);
    return api_reply(response, status, &w, err);
}

/* The body as *sent, or as *change where that is given. */
static enum pv_code applications_decode(struct api *api,
                                        struct http_request *request,
                                        struct application *sent,
                                        struct application_change *change,
                                        struct pv_error *err)
{
    const struct codec_application_limits limits = {.labels = api->config->labels_max};
    struct codec_document body;
    PV_TRY(api_body_open(api->config, request, &body, err));
    if (change != NULL)
        codec_application_decode_change(&body.top, &limits, change);
    else
        codec_application_decode(&body.top, &limits, sent);
    return codec_close(&body);
}

static enum pv_code applications_insert(struct http_request *request,
                                        struct http_response *response,
                                        struct store_tx *tx,
                                        struct application *application,
                                        struct pv_error *err)
{
    PV_TRY(store_application_insert(tx, request->arena, application, err));
    PV_TRY(api_reply_location(request, response, "/v1/applications", application->name.at, err));
    return applications_reply(request, response, 201, application, 0, err);
}

static enum pv_code applications_create_decode(void *context,
                                               struct http_request *request,
                                               struct http_response *response,
                                               struct pv_error *err)
{
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    return applications_decode(context, request, request->state, NULL, err);
}

static enum pv_code applications_create_store(void *context,
                                              struct http_request *request,
                                              struct http_response *response,
                                              struct pv_error *err)
{
    struct application sent = *(const struct application *)request->state;
    api_write_auto_t write = {0};
    bool replayed = false;
    PV_TRY(api_write_begin(context, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(applications_insert(request, response, write.tx, &sent, err));
    return api_write_commit(request, response, &write, err);
}

const struct http_call applications_create = {
    .state_bytes = sizeof(struct application),
    .steps = {{HTTP_BODY, applications_create_decode}, {HTTP_IO, applications_create_store}},
};

/* In the order of the bits of enum application_include. */
static const char *const includes[] = {"last_run", "last_advice", NULL};

/* ?name_prefix=, ?name_contains=, ?label= and ?sort=. */
static enum pv_code applications_read_filter(struct api *api,
                                             struct http_request *request,
                                             struct application_filter *filter,
                                             struct pv_error *err)
{
    static const char *const allowed[] = {"name_prefix", "name_contains", "label*", "sort",
                                          "include",     "limit",         "cursor", NULL};
    /* In the order of enum application_order. */
    static const char *const sorts[] = {"name", "last_run", "name_ignoring_case", NULL};
    const char *prefix = http_query(request, "name_prefix");
    const char *contains = http_query(request, "name_contains");
    struct run_label *labels;
    size_t sort;
    *filter = (struct application_filter){.name_prefix = prefix == NULL ? "" : prefix,
                                          .name_contains = contains == NULL ? "" : contains};
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(api_query_labels(api, request, &labels, &filter->n_labels, err));
    PV_TRY(api_query_word(request, "sort", sorts, &sort, err));
    filter->labels = labels;
    filter->order = (enum application_order)sort;
    return PV_OK;
}

enum pv_code applications_list(void *context,
                               struct http_request *request,
                               struct http_response *response,
                               struct pv_error *err)
{
    struct application_filter filter;
    struct application_list page;
    api_list_auto_t list = {0};
    unsigned include;
    PV_TRY(applications_read_filter(context, request, &filter, err));
    PV_TRY(api_query_words(request, "include", includes, &include, err));
    PV_TRY(api_list_begin(context, request, &list, err));
    filter.limit = list.limit;
    filter.after = list.after.text;
    filter.before_us = list.after.instant_us;
    PV_TRY(store_application_list(list.tx, request->arena, &filter, &page, err));
    PV_TRY(
        store_application_load_latest(list.tx, request->arena, page.items, page.n, include, err));
    api_list_items(&list);
    for (size_t i = 0; i < page.n; i++)
        codec_application_encode(&list.w, &page.items[i], include);
    const struct application *last = page.more ? &page.items[page.n - 1] : NULL;
    return api_list_reply(context, request, response, &list, last == NULL ? NULL : last->name.at,
                          last != NULL && filter.order == APPLICATION_BY_LAST_RUN
                              ? last->last_run_us
                              : RUN_NO_INSTANT,
                          err);
}

enum pv_code applications_get(void *context,
                              struct http_request *request,
                              struct http_response *response,
                              struct pv_error *err)
{
    static const char *const allowed[] = {"include", NULL};
    struct api *api = context;
    store_tx_auto_t *tx = NULL;
    unsigned include;
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(api_query_words(request, "include", includes, &include, err));
    PV_TRY(api_read(api, request, &tx, err));
    struct application application;
    PV_TRY(store_application_show(tx, request->arena, http_path_parameter(request, "name"),
                                  &application, err));
    PV_TRY(store_application_load_latest(tx, request->arena, &application, 1, include, err));
    store_rollback(&tx);
    PV_TRY(applications_reply(request, response, 200, &application, include, err));
    char etag[ETAG_TEXT];
    make_etag(&application, etag);
    if (http_none_match_holds(request, etag))
        http_reply_not_modified(response);
    return PV_OK;
}

/*
 * If-Match against the application as it is. *if_version: the version the store must still find
 * when it writes, RUN_UNKNOWN without the header.
 */
static enum pv_code check_match(struct http_request *request,
                                struct store_tx *tx,
                                const char *name,
                                int64_t *if_version,
                                struct pv_error *err)
{
    struct application application;
    *if_version = RUN_UNKNOWN;
    if (http_header(request, "If-Match") == NULL)
        return PV_OK;
    PV_TRY(store_application_show(tx, request->arena, name, &application, err));
    char etag[ETAG_TEXT];
    make_etag(&application, etag);
    if (http_if_match(request, etag) == HTTP_MATCH_NO)
        return pv_fail(err, PV_E_PRECONDITION, "the application is now at version %s", etag);
    *if_version = application.version;
    return PV_OK;
}

static enum pv_code update(struct http_request *request,
                           struct http_response *response,
                           struct store_tx *tx,
                           const struct application_change *change,
                           struct pv_error *err)
{
    const char *name = http_path_parameter(request, "name");
    int64_t if_version = RUN_UNKNOWN;
    struct application application;
    struct application before = {.name = {NULL, 0}};
    PV_TRY(check_match(request, tx, name, &if_version, err));
    if (change->has_size_measure)
        PV_TRY(store_application_find(tx, request->arena, name, &before, err));
    PV_TRY(
        store_application_update(tx, request->arena, name, if_version, change, &application, err));
    if (change->has_size_measure &&
        !size_measure_equal(&before.size_measure, &application.size_measure))
        PV_TRY(store_run_measure_sizes(tx, &application, &before.size_measure, err));
    return applications_reply(request, response, 200, &application, 0, err);
}

static enum pv_code applications_change_decode(void *context,
                                               struct http_request *request,
                                               struct http_response *response,
                                               struct pv_error *err)
{
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    return applications_decode(context, request, NULL, request->state, err);
}

static enum pv_code applications_change_store(void *context,
                                              struct http_request *request,
                                              struct http_response *response,
                                              struct pv_error *err)
{
    api_write_auto_t write = {0};
    bool replayed = false;
    PV_TRY(api_write_begin(context, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    const struct application_change *change = request->state;
    PV_TRY(update(request, response, write.tx, change, err));
    PV_TRY(api_write_commit(request, response, &write, err));
    if (change->has_size_measure)
        api_history_changed(context, request->principal.team_id,
                            http_path_parameter(request, "name"));
    return PV_OK;
}

const struct http_call applications_change = {
    .state_bytes = sizeof(struct application_change),
    .steps = {{HTTP_BODY, applications_change_decode}, {HTTP_IO, applications_change_store}},
};

enum pv_code applications_delete(void *context,
                                 struct http_request *request,
                                 struct http_response *response,
                                 struct pv_error *err)
{
    struct api *api = context;
    const char *name = http_path_parameter(request, "name");
    api_write_auto_t write = {0};
    bool replayed = false;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_write_begin(api, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    int64_t if_version = RUN_UNKNOWN;
    PV_TRY(check_match(request, write.tx, name, &if_version, err));
    PV_TRY(store_application_delete(write.tx, name, if_version, err));
    api_reply_empty(response);
    PV_TRY(api_write_commit(request, response, &write, err));
    prediction_cache_invalidate(api->history, request->principal.team_id, name);
    return PV_OK;
}
