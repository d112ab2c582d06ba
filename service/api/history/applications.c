#include <inttypes.h>
#include <stdio.h>

#include "api/advice/history_cache.h"
#include "api/routes.h"
#include "api/shared/cursor.h"
#include "api/shared/query.h"
#include "api/shared/reply.h"
#include "api/shared/write.h"
#include "codec/history/application.h"
#include "http/etag.h"
#include "store/history/application.h"

/* The applications of a team: named, with labels and a retention of their runs. */

/*
 * The representation also states how many runs are kept, so its tag moves with the history as well
 * as with the application's own fields.
 */
static void make_etag(const struct application *application, char out[HTTP_ETAG_TEXT])
{
    int64_t advised_us =
        application->last_advice_us == RUN_NO_INSTANT ? 0 : application->last_advice_us;
    (void)snprintf(out, HTTP_ETAG_TEXT, "\"v%" PRId64 "-%" PRId64 "-%" PRIx64 "\"",
                   application->version, application->history_version, (uint64_t)advised_us);
}

static enum pv_code reply(struct http_request *request,
                          struct http_response *response,
                          unsigned status,
                          const struct application *application,
                          struct pv_error *err)
{
    char etag[HTTP_ETAG_TEXT];
    make_etag(application, etag);
    http_response_header(request, response, "ETag", etag);
    struct writer w;
    writer_init(&w, request->arena);
    codec_application_encode(&w, application);
    return api_reply(response, status, &w, err);
}

/* The body as *sent, or as *change where that is given. */
static enum pv_code decode(struct api *api,
                           struct http_request *request,
                           struct application *sent,
                           struct application_change *change,
                           struct pv_error *err)
{
    const struct codec_application_limits limits = {.labels = api->config->labels_max};
    struct api_body body;
    PV_TRY(api_body_open(api->config, request, &body, err));
    if (change != NULL)
        codec_application_decode_change(&body.top, &limits, change);
    else
        codec_application_decode(&body.top, &limits, sent);
    return api_body_close(&body);
}

static enum pv_code insert(struct http_request *request,
                           struct http_response *response,
                           struct store_tx *tx,
                           struct application *application,
                           struct pv_error *err)
{
    PV_TRY(store_application_insert(tx, request->arena, application, err));
    const char *name = api_percent_encode(request->arena, application->name.at);
    const char *location =
        name == NULL ? NULL : arena_printf(request->arena, "/v1/applications/%s", name);
    if (location == NULL)
        return pv_no_memory(err);
    http_response_header(request, response, "Location", location);
    return reply(request, response, 201, application, err);
}

enum pv_code applications_create(void *context,
                                 struct http_request *request,
                                 struct http_response *response,
                                 struct pv_error *err)
{
    struct api *api = context;
    struct application sent;
    PV_TRY(decode(api, request, &sent, NULL, err));
    api_write_auto_t write = {0};
    bool replayed = false;
    PV_TRY(api_write_begin(api, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(insert(request, response, write.tx, &sent, err));
    return api_write_commit(request, response, &write, err);
}

static enum pv_code write_page(struct api *api,
                               struct http_request *request,
                               struct http_response *response,
                               const char *scope,
                               bool by_last_run,
                               const struct application_list *list,
                               struct pv_error *err)
{
    struct writer w;
    writer_init(&w, request->arena);
    writer_begin_object(&w);
    writer_key(&w, "items");
    writer_begin_array(&w);
    for (size_t i = 0; i < list->n; i++)
        codec_application_encode(&w, &list->items[i]);
    struct cursor last = {.instant_us = RUN_NO_INSTANT};
    if (list->more) {
        const struct application *item = &list->items[list->n - 1];
        (void)snprintf(last.text, sizeof last.text, "%s", item->name.at);
        last.instant_us = by_last_run ? item->last_run_us : RUN_NO_INSTANT;
    }
    return api_reply_page(api, request, response, &w, scope, list->more ? &last : NULL, err);
}

/* ?name_prefix=, ?label=, ?sort=, and the page. */
static enum pv_code read_filter(struct api *api,
                                struct http_request *request,
                                const char **scope,
                                struct application_filter *filter,
                                struct pv_error *err)
{
    static const char *const allowed[] = {"name_prefix", "label*", "sort", "limit", "cursor", NULL};
    static const char *const sorts[] = {"name", "last_run", NULL};
    struct run_label *labels;
    struct cursor *cursor = arena_calloc(request->arena, 1, sizeof *cursor);
    size_t sort;
    bool has = false;
    if (cursor == NULL)
        return pv_no_memory(err);
    *filter = (struct application_filter){.before_us = RUN_NO_INSTANT};
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(api_query_labels(api, request, &labels, &filter->n_labels, err));
    PV_TRY(api_query_word(request, "sort", sorts, &sort, err));
    filter->labels = labels;
    filter->by_last_run = sort == 1;
    const char *prefix = http_query(request, "name_prefix");
    filter->name_prefix = prefix == NULL ? "" : prefix;
    *scope = arena_printf(request->arena, "applications sort=%zu name_prefix=%s", sort,
                          filter->name_prefix);
    for (size_t i = 0; i < filter->n_labels && *scope != NULL; i++)
        *scope = arena_printf(request->arena, "%s label=%.*s:%.*s", *scope, (int)labels[i].key.n,
                              labels[i].key.at, (int)labels[i].value.n, labels[i].value.at);
    if (*scope == NULL)
        return pv_no_memory(err);
    PV_TRY(cursor_read(api, request, *scope, &filter->limit, cursor, &has, err));
    filter->after = has ? cursor->text : "";
    if (has)
        filter->before_us = cursor->instant_us;
    return PV_OK;
}

enum pv_code applications_list(void *context,
                               struct http_request *request,
                               struct http_response *response,
                               struct pv_error *err)
{
    struct api *api = context;
    const char *scope = NULL;
    struct application_filter filter;
    struct application_list list = {.items = NULL};
    PV_TRY(read_filter(api, request, &scope, &filter, err));
    store_tx_auto_t *tx = NULL;
    PV_TRY(api_read(api, request, &tx, err));
    PV_TRY(store_application_list(tx, request->arena, &filter, &list, err));
    store_rollback(&tx);
    return write_page(api, request, response, scope, filter.by_last_run, &list, err);
}

enum pv_code applications_get(void *context,
                              struct http_request *request,
                              struct http_response *response,
                              struct pv_error *err)
{
    static const char *const allowed[] = {NULL};
    struct api *api = context;
    store_tx_auto_t *tx = NULL;
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(api_read(api, request, &tx, err));
    struct application application;
    PV_TRY(store_application_show(tx, request->arena, http_path_parameter(request, "name"),
                                  &application, err));
    store_rollback(&tx);
    PV_TRY(reply(request, response, 200, &application, err));
    char etag[HTTP_ETAG_TEXT];
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
    char etag[HTTP_ETAG_TEXT];
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
    PV_TRY(check_match(request, tx, name, &if_version, err));
    PV_TRY(
        store_application_update(tx, request->arena, name, if_version, change, &application, err));
    return reply(request, response, 200, &application, err);
}

enum pv_code applications_change(void *context,
                                 struct http_request *request,
                                 struct http_response *response,
                                 struct pv_error *err)
{
    struct api *api = context;
    struct application_change change;
    PV_TRY(decode(api, request, NULL, &change, err));
    api_write_auto_t write = {0};
    bool replayed = false;
    PV_TRY(api_write_begin(api, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(update(request, response, write.tx, &change, err));
    return api_write_commit(request, response, &write, err);
}

enum pv_code applications_delete(void *context,
                                 struct http_request *request,
                                 struct http_response *response,
                                 struct pv_error *err)
{
    struct api *api = context;
    const char *name = http_path_parameter(request, "name");
    api_write_auto_t write = {0};
    bool replayed = false;
    PV_TRY(api_write_begin(api, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    int64_t if_version = RUN_UNKNOWN;
    PV_TRY(check_match(request, write.tx, name, &if_version, err));
    PV_TRY(store_application_delete(write.tx, name, if_version, err));
    api_reply_empty(response);
    PV_TRY(api_write_commit(request, response, &write, err));
    history_cache_invalidate(api->history, request->principal.team_id, name);
    return PV_OK;
}
