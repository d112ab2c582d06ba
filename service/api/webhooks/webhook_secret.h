#ifndef API_WEBHOOKS_WEBHOOK_SECRET_H
#define API_WEBHOOKS_WEBHOOK_SECRET_H

#include "api/api.h"
#include "core/webhooks/webhook.h"
#include "store/webhooks/webhook.h"

/*
 * What deliveries are signed with, and where they may go. Secrets are stored encrypted, bound to
 * the webhook's id (dispatch/seal.h), so that no row is of use in another's place. What is sealed
 * lives in the request's arena.
 */

/* A fault at /url where the service may not connect to it; no name is resolved for this. */
enum pv_code
webhook_check_url(const struct api *api, struct strview url, struct pv_error *err) PV_MUSTCHECK;

/*
 * The secret of webhook->signature: of v1 the one in webhook->secret, or a new one, of which the
 * text is put there; of v1a a new key pair, and webhook->secret is {NULL, 0}. Sets sealed->secret
 * and, of v1a, sealed->public_key. A fault at /secret: it is none.
 */
enum pv_code webhook_make_secret(struct api *api,
                                 struct http_request *request,
                                 struct webhook *webhook,
                                 struct webhook_sealed *sealed,
                                 struct pv_error *err) PV_MUSTCHECK;

/* value.at == NULL: *sealed is {NULL, 0}, too. */
enum pv_code webhook_seal_authorization(struct api *api,
                                        struct http_request *request,
                                        const char id[37],
                                        struct strview value,
                                        struct strview *sealed,
                                        struct pv_error *err) PV_MUSTCHECK;

#endif
