#include <string.h>

#include "api/routes.h"
#include "api/shared/list.h"
#include "api/shared/put_resource.h"
#include "api/shared/reply.h"
#include "api/webhooks/webhook_reply.h"
#include "api/webhooks/webhook_secret.h"
#include "codec/webhooks/webhook.h"
#include "store/webhooks/webhook.h"
#include "threads/clock.h"

/* /v1/webhooks: where a team wants its events. */

static const char *const no_parameters[] = {NULL};

/* --- reading --- */

enum pv_code webhooks_get(void *context,
                          struct http_request *request,
                          struct http_response *response,
                          struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    struct webhook webhook;
    char id[37];
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(webhook_read_id(request, "id", id, err));
    PV_TRY(api_read(context, request, &tx, err));
    PV_TRY(store_webhook_find(tx, request->arena, id, &webhook, err));
    store_rollback(&tx);
    return webhook_reply(request, response, 200, &webhook, false, err);
}

enum pv_code webhooks_list(void *context,
                           struct http_request *request,
                           struct http_response *response,
                           struct pv_error *err)
{
    static const char *const allowed[] = {"limit", "cursor", NULL};
    struct webhook_list page;
    api_list_auto_t list = {0};
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(api_list_begin(context, request, &list, err));
    PV_TRY(store_webhook_list(list.tx, request->arena, list.after.text, list.limit, &page, err));
    api_list_items(&list);
    for (size_t i = 0; i < page.n; i++)
        codec_webhook_encode(&list.w, &page.items[i], false);
    return api_list_reply(context, request, response, &list,
                          page.more ? page.items[page.n - 1].id : NULL, RUN_NO_INSTANT, err);
}

/* --- creating --- */

static enum pv_code webhooks_create_decode(void *context,
                                           struct http_request *request,
                                           struct http_response *response,
                                           struct pv_error *err)
{
    struct api *api = context;
    const struct codec_webhook_limits limits = {.labels = api->config->labels_max};
    struct webhook *sent = request->state;
    struct codec_document body;
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_webhook_decode(&body.top, &limits, sent);
    PV_TRY(codec_close(&body));
    return webhook_check_url(api, sent->url, err);
}

static enum pv_code insert(struct api *api,
                           struct http_request *request,
                           struct http_response *response,
                           struct store_tx *tx,
                           struct webhook *webhook,
                           struct pv_error *err)
{
    struct webhook_sealed sealed = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    struct strview secret;
    clock_uuid7(webhook->id);
    PV_TRY(webhook_make_secret(api, request, webhook, &sealed, err));
    PV_TRY(webhook_seal_authorization(api, request, webhook->id, webhook->authorization,
                                      &sealed.authorization, err));
    secret = webhook->secret;
    PV_TRY(
        store_webhook_insert(tx, request->arena, api->config->webhooks_max, &sealed, webhook, err));
    webhook->secret = secret;
    PV_TRY(api_reply_location(request, response, "/v1/webhooks", webhook->id, err));
    return webhook_reply(request, response, 201, webhook, true, err);
}

static enum pv_code webhooks_create_store(void *context,
                                          struct http_request *request,
                                          struct http_response *response,
                                          struct pv_error *err)
{
    struct webhook webhook = *(const struct webhook *)request->state;
    api_write_auto_t write = {0};
    bool replayed = false;
    PV_TRY(api_write_begin(context, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(insert(context, request, response, write.tx, &webhook, err));
    return webhook_commit(request, response, &webhook, "made", &write, err);
}

const struct http_call webhooks_create = {
    .state_bytes = sizeof(struct webhook),
    .steps = {{HTTP_BODY, webhooks_create_decode}, {HTTP_IO, webhooks_create_store}},
};

/* --- changing --- */

/* The webhook of the path, held, where If-Match allows. */
static enum pv_code hold(struct http_request *request,
                         struct store_tx *tx,
                         struct webhook *webhook,
                         struct pv_error *err)
{
    char id[37];
    char etag[HTTP_ETAG_TEXT];
    PV_TRY(webhook_read_id(request, "id", id, err));
    PV_TRY(store_webhook_hold(tx, request->arena, id, webhook, err));
    put_resource_etag(webhook->id, webhook->version, etag);
    return http_if_match(request, etag) == HTTP_MATCH_NO
               ? pv_fail(err, PV_E_PRECONDITION, "the webhook is now at version %s", etag)
               : PV_OK;
}

static enum pv_code update(struct api *api,
                           struct http_request *request,
                           struct store_tx *tx,
                           const struct webhook_change *change,
                           struct webhook *webhook,
                           struct pv_error *err)
{
    struct strview authorization = {NULL, 0};
    PV_TRY(hold(request, tx, webhook, err));
    bool moved = change->has_url && !strview_equal(change->to.url, webhook->url);
    bool renewed = moved || (change->has_enabled && change->to.enabled);
    webhook_apply(webhook, change);
    if (change->has_authorization)
        PV_TRY(webhook_seal_authorization(api, request, webhook->id, change->to.authorization,
                                          &authorization, err));
    return store_webhook_update(tx, request->arena,
                                change->has_authorization ? &authorization : NULL, renewed, webhook,
                                err);
}

static enum pv_code webhooks_change_decode(void *context,
                                           struct http_request *request,
                                           struct http_response *response,
                                           struct pv_error *err)
{
    struct api *api = context;
    const struct codec_webhook_limits limits = {.labels = api->config->labels_max};
    struct webhook_change *change = request->state;
    struct codec_document body;
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_webhook_decode_change(&body.top, &limits, change);
    PV_TRY(codec_close(&body));
    return change->has_url ? webhook_check_url(api, change->to.url, err) : PV_OK;
}

static enum pv_code webhooks_change_store(void *context,
                                          struct http_request *request,
                                          struct http_response *response,
                                          struct pv_error *err)
{
    struct webhook webhook;
    api_write_auto_t write = {0};
    bool replayed = false;
    PV_TRY(api_write_begin(context, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(update(context, request, write.tx, request->state, &webhook, err));
    PV_TRY(webhook_reply(request, response, 200, &webhook, false, err));
    return api_write_commit(request, response, &write, err);
}

const struct http_call webhooks_change = {
    .state_bytes = sizeof(struct webhook_change),
    .steps = {{HTTP_BODY, webhooks_change_decode}, {HTTP_IO, webhooks_change_store}},
};

enum pv_code webhooks_delete(void *context,
                             struct http_request *request,
                             struct http_response *response,
                             struct pv_error *err)
{
    struct webhook webhook;
    api_write_auto_t write = {0};
    bool replayed = false;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_write_begin(context, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(hold(request, write.tx, &webhook, err));
    PV_TRY(store_webhook_delete(write.tx, &webhook, err));
    api_reply_empty(response);
    return api_write_commit(request, response, &write, err);
}

/* --- a new secret --- */

static enum pv_code webhooks_rotate_decode(void *context,
                                           struct http_request *request,
                                           struct http_response *response,
                                           struct pv_error *err)
{
    struct api *api = context;
    struct codec_document body;
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_webhook_decode_rotation(&body.top, request->state);
    return codec_close(&body);
}

static enum pv_code rotate(struct api *api,
                           struct http_request *request,
                           struct store_tx *tx,
                           const struct webhook_rotation *asked,
                           struct webhook *webhook,
                           struct pv_error *err)
{
    struct webhook_sealed sealed = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    char id[37];
    PV_TRY(webhook_read_id(request, "id", id, err));
    PV_TRY(store_webhook_hold(tx, request->arena, id, webhook, err));
    if (webhook->signature == WEBHOOK_V1A && asked->secret.at != NULL)
        return pv_fault(err, PV_PLACE_POINTER, "/secret", "conflict",
                        "is allowed only with signature v1; the service makes the key of v1a");
    webhook->secret = asked->secret;
    PV_TRY(webhook_make_secret(api, request, webhook, &sealed, err));
    struct strview secret = webhook->secret;
    PV_TRY(store_webhook_rotate(tx, request->arena, &sealed, asked->overlap_s, webhook, err));
    webhook->secret = secret;
    return PV_OK;
}

static enum pv_code webhooks_rotate_store(void *context,
                                          struct http_request *request,
                                          struct http_response *response,
                                          struct pv_error *err)
{
    struct webhook webhook;
    api_write_auto_t write = {0};
    bool replayed = false;
    PV_TRY(api_write_begin(context, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(rotate(context, request, write.tx, request->state, &webhook, err));
    PV_TRY(webhook_reply(request, response, 200, &webhook, true, err));
    return webhook_commit(request, response, &webhook, "given a new secret", &write, err);
}

const struct http_call webhooks_rotate = {
    .state_bytes = sizeof(struct webhook_rotation),
    .steps = {{HTTP_BODY, webhooks_rotate_decode}, {HTTP_IO, webhooks_rotate_store}},
};
