#ifndef API_WEBHOOKS_WEBHOOK_REPLY_H
#define API_WEBHOOKS_WEBHOOK_REPLY_H

#include "api/api.h"
#include "api/shared/write.h"
#include "core/webhooks/webhook.h"

/* What the calls of webhooks have in common. */

/* The path parameter as an id. PV_E_NOT_FOUND: it is none, so nothing has it. */
enum pv_code webhook_read_id(const struct http_request *request,
                             const char *parameter,
                             char id[37],
                             struct pv_error *err) PV_MUSTCHECK;

/* The webhook of the path, held until the transaction ends. PV_E_CONFLICT: it is disabled. */
enum pv_code webhook_hold_enabled(struct http_request *request,
                                  struct store_tx *tx,
                                  struct webhook *webhook,
                                  struct pv_error *err) PV_MUSTCHECK;

/* With its ETag; created: with its secret, so that nobody may store the reply. */
enum pv_code webhook_reply(struct http_request *request,
                           struct http_response *response,
                           unsigned status,
                           const struct webhook *webhook,
                           bool created,
                           struct pv_error *err) PV_MUSTCHECK;

/*
 * Commit. A reply that holds a secret is not kept under an Idempotency-Key: a repeated request gets
 * a conflict that says what was done instead.
 */
enum pv_code webhook_commit(struct http_request *request,
                            const struct http_response *response,
                            const struct webhook *webhook,
                            const char *done,
                            struct api_write *write,
                            struct pv_error *err) PV_MUSTCHECK;

#endif
