#include <stdio.h>
#include <string.h>

#include "api/operations/operation_accept.h"
#include "api/operations/operation_document.h"
#include "api/operations/operation_kinds.h"
#include "api/routes.h"
#include "api/shared/list.h"
#include "api/shared/query.h"
#include "api/shared/reply.h"
#include "base/uuid.h"
#include "codec/json/names.h"

/* /v1/operations: long work, listed, looked at, waited for and cancelled. Its events are
 * operation_stream.c's. */

static const char *const no_parameters[] = {NULL};

static enum pv_code read_id(const struct http_request *request, char id[37], struct pv_error *err)
{
    PV_TRY(http_check_query(request, no_parameters, err));
    if (!uuid_parse(http_path_parameter(request, "id"), id))
        return pv_fail(err, PV_E_NOT_FOUND, "there is no operation of that id");
    return PV_OK;
}

/* --- GET /v1/operations/{id} --- */

enum pv_code operations_get(void *context,
                            struct http_request *request,
                            struct http_response *response,
                            struct pv_error *err)
{
    struct api *api = context;
    store_tx_auto_t *tx = NULL;
    struct operation_row operation;
    char id[37];
    PV_TRY(read_id(request, id, err));
    PV_TRY(api_read(api, request, &tx, err));
    PV_TRY(store_operation_find(tx, request->arena, id, &operation, err));
    store_rollback(&tx);
    PV_TRY(api_operation_hold(api, request, &operation));
    return api_operation_reply(request, response, api->config->operation_wait_max_s, 200,
                               &operation, err);
}

/* --- DELETE /v1/operations/{id} --- */

static enum pv_code tell_of_end(struct store_tx *tx,
                                struct arena *arena,
                                const struct operation_row *operation,
                                struct pv_error *err)
{
    const char *event = operation_event_data(arena, operation->id, operation->kind,
                                             operation->application_name, operation->status);
    if (event == NULL)
        return pv_no_memory(err);
    return store_operation_tell(tx, operation, strview_of(event), err);
}

static enum pv_code api_operations_cancel(struct api *api,
                                          struct http_request *request,
                                          struct store_tx *tx,
                                          const char *id,
                                          struct operation_row *operation,
                                          struct pv_error *err)
{
    bool changed = false;
    PV_TRY(store_operation_cancel(tx, request->arena, id, api->config->operation_retention_s,
                                  operation, &changed, err));
    if (changed && operation->status == OPERATION_CANCELLED)
        PV_TRY(tell_of_end(tx, request->arena, operation, err));
    return PV_OK;
}

/* 202: it is stopping. 200: it has ended, by this or before. Held as Prefer says until it has:
 * asking again, as the next turn does, changes nothing. */
enum pv_code operations_cancel(void *context,
                               struct http_request *request,
                               struct http_response *response,
                               struct pv_error *err)
{
    struct api *api = context;
    store_tx_auto_t *tx = NULL;
    struct operation_row operation;
    char id[37];
    PV_TRY(read_id(request, id, err));
    PV_TRY(
        store_begin(api->store, &request->principal, request->request_id, STORE_WRITE, &tx, err));
    PV_TRY(api_operations_cancel(api, request, tx, id, &operation, err));
    PV_TRY(store_commit(&tx, err));
    PV_TRY(api_operation_hold(api, request, &operation));
    return api_operation_reply(request, response, api->config->operation_wait_max_s,
                               operation_has_ended(operation.status) ? 200 : 202, &operation, err);
}

/* --- GET /v1/operations --- */

static enum pv_code check_words(const struct operation_filter *filter, struct pv_error *err)
{
    enum operation_status status;
    enum pv_code code = PV_OK;
    if (filter->status != NULL && !operation_status_parse(filter->status, &status))
        code = pv_fault(err, PV_PLACE_PARAMETER, "status", "not_allowed",
                        "must be one of: queued, running, succeeded, failed, cancelled");
    const struct operation_kind *kind = api_operation_kinds;
    while (filter->kind != NULL && kind->name != NULL && strcmp(kind->name, filter->kind) != 0)
        kind++;
    if (filter->kind != NULL && kind->name == NULL)
        code =
            pv_fault(err, PV_PLACE_PARAMETER, "kind", "not_allowed", "must be a kind of operation");
    if (filter->application_name != NULL && !codec_is_name(strview_of(filter->application_name)))
        code = pv_fault(err, PV_PLACE_PARAMETER, "application", "invalid_name",
                        "must be 1 to 255 characters without control characters");
    return code;
}

static enum pv_code operations_read_filter(struct http_request *request,
                                           struct operation_filter *filter,
                                           struct pv_error *err)
{
    static const char *const known[] = {"status", "kind",  "application", "since",
                                        "until",  "limit", "cursor",      NULL};
    *filter = (struct operation_filter){.status = http_query(request, "status"),
                                        .kind = http_query(request, "kind"),
                                        .application_name = http_query(request, "application"),
                                        .before_us = RUN_NO_INSTANT};
    enum pv_code code = http_check_query(request, known, err);
    if (code == PV_OK)
        code = check_words(filter, err);
    if (code == PV_OK)
        code = api_query_instant(request, "since", &filter->since_us, err);
    if (code == PV_OK)
        code = api_query_instant(request, "until", &filter->until_us, err);
    return code;
}

enum pv_code operations_list(void *context,
                             struct http_request *request,
                             struct http_response *response,
                             struct pv_error *err)
{
    struct operation_filter filter;
    struct operation_list page;
    api_list_auto_t list = {0};
    PV_TRY(operations_read_filter(request, &filter, err));
    PV_TRY(api_list_begin(context, request, &list, err));
    filter.limit = list.limit;
    filter.before_us = list.after.instant_us;
    (void)snprintf(filter.before_id, sizeof filter.before_id, "%.36s", list.after.text);
    PV_TRY(store_operation_list(list.tx, request->arena, &filter, &page, err));
    api_list_items(&list);
    for (size_t i = 0; i < page.n; i++)
        operation_document_write(&list.w, &page.items[i], false);
    const struct operation_row *last = page.more ? &page.items[page.n - 1] : NULL;
    return api_list_reply(context, request, response, &list, last == NULL ? NULL : last->id,
                          last == NULL ? RUN_NO_INSTANT : last->created_us, err);
}
