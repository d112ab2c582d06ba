#include <string.h>

#include "api/routes.h"
#include "api/shared/list.h"
#include "api/shared/query.h"
#include "api/shared/reply.h"
#include "api/webhooks/webhook_reply.h"
#include "codec/webhooks/delivery.h"
#include "codec/webhooks/webhook.h"
#include "store/webhooks/delivery.h"
#include "store/webhooks/webhook.h"

/* /v1/webhooks/{id}/deliveries: what became of events, and asking for them again. */

enum { REDELIVERED_MAX = 10000 };

static const char *const no_parameters[] = {NULL};

/* 202, and where to look for what becomes of it. */
static enum pv_code reply_accepted(struct http_request *request,
                                   struct http_response *response,
                                   const struct webhook_delivery *delivery,
                                   struct pv_error *err)
{
    struct writer w;
    const char *collection =
        arena_printf(request->arena, "/v1/webhooks/%s/deliveries", delivery->webhook_id);
    if (collection == NULL)
        return pv_no_memory(err);
    PV_TRY(api_reply_location(request, response, collection, delivery->id, err));
    writer_init(&w, request->arena);
    codec_webhook_delivery_encode(&w, delivery);
    return api_reply(response, 202, &w, err);
}

/* --- reading --- */

enum pv_code webhook_deliveries_get(void *context,
                                    struct http_request *request,
                                    struct http_response *response,
                                    struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    struct webhook_delivery delivery;
    struct writer w;
    char webhook_id[37];
    char id[37];
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(webhook_read_id(request, "id", webhook_id, err));
    PV_TRY(webhook_read_id(request, "delivery_id", id, err));
    PV_TRY(api_read(context, request, &tx, err));
    PV_TRY(store_webhook_delivery_find(tx, request->arena, webhook_id, id, &delivery, err));
    store_rollback(&tx);
    writer_init(&w, request->arena);
    codec_webhook_delivery_encode(&w, &delivery);
    return api_reply(response, 200, &w, err);
}

static enum pv_code read_filter(struct http_request *request,
                                struct webhook_delivery_filter *filter,
                                struct pv_error *err)
{
    static const char *const allowed[] = {"status", "event_type", "limit", "cursor", NULL};
    size_t status;
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(api_query_word(request, "status", webhook_delivery_words, &status, err));
    filter->status = http_query(request, "status");
    filter->event_type = http_query(request, "event_type");
    for (size_t i = 0; filter->event_type != NULL && webhook_event_words[i] != NULL; i++)
        if (strcmp(filter->event_type, webhook_event_words[i]) == 0)
            return PV_OK;
    if (filter->event_type == NULL || strcmp(filter->event_type, WEBHOOK_PING) == 0)
        return PV_OK;
    return pv_fault(err, PV_PLACE_PARAMETER, "event_type", "not_allowed",
                    "must be a type of event");
}

enum pv_code webhook_deliveries_list(void *context,
                                     struct http_request *request,
                                     struct http_response *response,
                                     struct pv_error *err)
{
    struct webhook_delivery_filter filter;
    struct webhook_delivery_list page;
    struct webhook webhook;
    api_list_auto_t list = {0};
    char id[37];
    PV_TRY(read_filter(request, &filter, err));
    PV_TRY(webhook_read_id(request, "id", id, err));
    filter.webhook_id = id;
    PV_TRY(api_list_begin(context, request, &list, err));
    PV_TRY(store_webhook_find(list.tx, request->arena, id, &webhook, err));
    PV_TRY(store_webhook_delivery_list(list.tx, request->arena, &filter, list.after.text,
                                       list.limit, &page, err));
    api_list_items(&list);
    for (size_t i = 0; i < page.n; i++)
        codec_webhook_delivery_encode(&list.w, &page.items[i]);
    return api_list_reply(context, request, response, &list,
                          page.more ? page.items[page.n - 1].id : NULL, RUN_NO_INSTANT, err);
}

/* --- asking for one --- */

/* One that is enabled, and for which no more wait than may. */
static enum pv_code hold_with_room(struct api *api,
                                   struct http_request *request,
                                   struct store_tx *tx,
                                   struct webhook *webhook,
                                   struct pv_error *err)
{
    PV_TRY(webhook_hold_enabled(request, tx, webhook, err));
    return webhook->pending < api->config->webhook_pending_max
               ? PV_OK
               : pv_fail(err, PV_E_CONFLICT,
                         "the greatest number of deliveries waits for the webhook already "
                         "(webhook_pending_max)");
}

enum pv_code webhooks_ping(void *context,
                           struct http_request *request,
                           struct http_response *response,
                           struct pv_error *err)
{
    struct api *api = context;
    struct webhook webhook;
    struct webhook_delivery delivery;
    api_write_auto_t write = {0};
    bool replayed = false;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_write_begin(api, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(hold_with_room(api, request, write.tx, &webhook, err));
    PV_TRY(store_webhook_ping(write.tx, request->arena, webhook.id, api->config->webhook_give_up_s,
                              &delivery, err));
    PV_TRY(reply_accepted(request, response, &delivery, err));
    return api_write_commit(request, response, &write, err);
}

enum pv_code webhook_deliveries_redeliver(void *context,
                                          struct http_request *request,
                                          struct http_response *response,
                                          struct pv_error *err)
{
    struct api *api = context;
    struct webhook webhook;
    struct webhook_delivery delivery;
    api_write_auto_t write = {0};
    bool replayed = false;
    char id[37];
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(webhook_read_id(request, "delivery_id", id, err));
    PV_TRY(api_write_begin(api, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(hold_with_room(api, request, write.tx, &webhook, err));
    PV_TRY(store_webhook_redeliver(write.tx, request->arena, webhook.id, id,
                                   api->config->webhook_give_up_s, &delivery, err));
    PV_TRY(reply_accepted(request, response, &delivery, err));
    return api_write_commit(request, response, &write, err);
}

/* --- asking for many --- */

static enum pv_code webhooks_redeliver_decode(void *context,
                                              struct http_request *request,
                                              struct http_response *response,
                                              struct pv_error *err)
{
    struct api *api = context;
    struct codec_document body;
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_webhook_decode_redelivery(&body.top, request->state);
    return codec_close(&body);
}

/* No more at once than a call may take, nor than may wait for one webhook. */
static enum pv_code redeliver(struct api *api,
                              struct http_request *request,
                              struct http_response *response,
                              struct store_tx *tx,
                              struct pv_error *err)
{
    struct webhook webhook;
    struct writer w;
    int64_t redelivered;
    bool more;
    PV_TRY(webhook_hold_enabled(request, tx, &webhook, err));
    int64_t room = api->config->webhook_pending_max - webhook.pending;
    room = room < 0 ? 0 : room > REDELIVERED_MAX ? REDELIVERED_MAX : room;
    PV_TRY(store_webhook_redeliver_many(tx, webhook.id, request->state, room,
                                        api->config->webhook_give_up_s, &redelivered, &more, err));
    writer_init(&w, request->arena);
    writer_begin_object(&w);
    writer_member_integer(&w, "redelivered", redelivered);
    writer_member_boolean(&w, "more", more);
    writer_end_object(&w);
    return api_reply(response, 202, &w, err);
}

static enum pv_code webhooks_redeliver_store(void *context,
                                             struct http_request *request,
                                             struct http_response *response,
                                             struct pv_error *err)
{
    api_write_auto_t write = {0};
    bool replayed = false;
    PV_TRY(api_write_begin(context, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(redeliver(context, request, response, write.tx, err));
    return api_write_commit(request, response, &write, err);
}

const struct http_call webhooks_redeliver = {
    .state_bytes = sizeof(struct webhook_redelivery),
    .steps = {{HTTP_BODY, webhooks_redeliver_decode}, {HTTP_IO, webhooks_redeliver_store}},
};
