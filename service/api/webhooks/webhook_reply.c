#include "api/webhooks/webhook_reply.h"

#include <string.h>

#include "api/shared/put_resource.h"
#include "api/shared/reply.h"
#include "base/uuid.h"
#include "codec/webhooks/webhook.h"
#include "http/problem.h"
#include "store/webhooks/webhook.h"

enum pv_code webhook_read_id(const struct http_request *request,
                             const char *parameter,
                             char id[37],
                             struct pv_error *err)
{
    return uuid_parse(http_path_parameter(request, parameter), id)
               ? PV_OK
               : pv_fail(err, PV_E_NOT_FOUND,
                         strcmp(parameter, "id") == 0 ? "there is no webhook of that id"
                                                      : "the webhook has no delivery of that id");
}

enum pv_code webhook_hold_enabled(struct http_request *request,
                                  struct store_tx *tx,
                                  struct webhook *webhook,
                                  struct pv_error *err)
{
    char id[37];
    PV_TRY(webhook_read_id(request, "id", id, err));
    PV_TRY(store_webhook_hold(tx, request->arena, id, webhook, err));
    return webhook->enabled
               ? PV_OK
               : pv_fail(err, PV_E_CONFLICT, "the webhook is disabled: enable it first (PATCH)");
}

enum pv_code webhook_reply(struct http_request *request,
                           struct http_response *response,
                           unsigned status,
                           const struct webhook *webhook,
                           bool created,
                           struct pv_error *err)
{
    char etag[HTTP_ETAG_TEXT];
    struct writer w;
    put_resource_etag(webhook->id, webhook->version, etag);
    http_response_header(request, response, "ETag", etag);
    if (created)
        http_response_header(request, response, "Cache-Control", "no-store");
    writer_init(&w, request->arena);
    codec_webhook_encode(&w, webhook, created);
    return api_reply(response, status, &w, err);
}

enum pv_code webhook_commit(struct http_request *request,
                            const struct http_response *response,
                            const struct webhook *webhook,
                            const char *done,
                            struct api_write *write,
                            struct pv_error *err)
{
    struct pv_error repeated = {.code = PV_OK};
    struct http_response again = {.status = 0};
    if (webhook->secret.at == NULL)
        return api_write_commit(request, response, write, err);
    (void)pv_fail(
        &repeated, PV_E_CONFLICT,
        "webhook %s was %s with this key, and its secret is shown only once: rotate it to "
        "get another",
        webhook->id, done);
    http_reply_problem(request, &again, &repeated, (struct http_challenge){.scope = NULL});
    return api_write_commit(request, &again, write, err);
}
