#include <stdio.h>

#include "api/routes.h"
#include "api/shared/list.h"
#include "api/shared/reply.h"
#include "api/shared/write.h"
#include "base/uuid.h"
#include "codec/workloads/workload.h"
#include "http/etag.h"
#include "store/workloads/workload.h"

/* /v1/workloads: listed, shown and deleted. How they are made: workload_upload.c. */

static const char *const no_parameters[] = {NULL};

static enum pv_code read_id(const struct http_request *request, char id[37], struct pv_error *err)
{
    return uuid_parse(http_path_parameter(request, "id"), id)
               ? PV_OK
               : pv_fail(err, PV_E_NOT_FOUND, "there is no workload of that id");
}

enum pv_code workloads_get(void *context,
                           struct http_request *request,
                           struct http_response *response,
                           struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    struct workload_record record;
    struct writer w;
    char id[37];
    char tag[HTTP_ETAG_TEXT];
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(read_id(request, id, err));
    PV_TRY(api_read(context, request, &tx, err));
    PV_TRY(store_workload_find(tx, request->arena, id, &record, err));
    store_rollback(&tx);
    writer_init(&w, request->arena);
    codec_workload_encode(&w, &record);
    PV_TRY(api_reply(response, 200, &w, err));
    (void)snprintf(tag, sizeof tag, "\"%s\"", id); /* it never changes */
    http_response_header(request, response, "ETag", tag);
    if (http_none_match_holds(request, tag))
        http_reply_not_modified(response);
    return PV_OK;
}

enum pv_code workloads_list(void *context,
                            struct http_request *request,
                            struct http_response *response,
                            struct pv_error *err)
{
    static const char *const allowed[] = {"limit", "cursor", NULL};
    struct workload_page page;
    api_list_auto_t list = {0};
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(api_list_begin(context, request, &list, err));
    PV_TRY(store_workload_list(list.tx, request->arena, list.after.text, list.limit, &page, err));
    api_list_items(&list);
    for (size_t i = 0; i < page.n; i++)
        codec_workload_encode(&list.w, &page.items[i]);
    return api_list_reply(context, request, response, &list,
                          page.more ? page.items[page.n - 1].id : NULL, RUN_NO_INSTANT, err);
}

enum pv_code workloads_delete(void *context,
                              struct http_request *request,
                              struct http_response *response,
                              struct pv_error *err)
{
    api_write_auto_t write = {0};
    bool replayed = false;
    char id[37];
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(read_id(request, id, err));
    PV_TRY(api_write_begin(context, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(store_workload_delete(write.tx, id, err));
    api_reply_empty(response);
    return api_write_commit(request, response, &write, err);
}
