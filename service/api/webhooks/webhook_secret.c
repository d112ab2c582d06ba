#include "api/webhooks/webhook_secret.h"

#include <sodium.h>
#include <string.h>

#include "dispatch/seal.h"
#include "dispatch/signature.h"

enum pv_code webhook_check_url(const struct api *api, struct strview url, struct pv_error *err)
{
    return target_check_url(&api->targets, url, "/url", err);
}

static enum pv_code seal(struct api *api,
                         struct http_request *request,
                         const char id[37],
                         const char *purpose,
                         struct strview value,
                         struct strview *sealed,
                         struct pv_error *err)
{
    const struct seal_place place = {request->principal.team_id, id, purpose};
    unsigned char key[32];
    PV_TRY(api_service_key(api, key, err));
    *sealed = seal_close(request->arena, key, &place, value);
    sodium_memzero(key, sizeof key);
    return sealed->at == NULL ? pv_no_memory(err) : PV_OK;
}

/* What there is to know of a new key pair. */
static enum pv_code copy_public_key(struct http_request *request,
                                    const struct signing_secret *secret,
                                    struct strview *public_key,
                                    struct pv_error *err)
{
    unsigned char *key = arena_alloc(request->arena, PUBLIC_KEY_BYTES);
    if (key == NULL)
        return pv_no_memory(err);
    signing_public_key(secret, key);
    *public_key = (struct strview){(const char *)key, PUBLIC_KEY_BYTES};
    return PV_OK;
}

/* The one that was sent, or a new one, and its text in either case. */
static enum pv_code choose_shared(struct http_request *request,
                                  struct strview *text,
                                  struct signing_secret *secret,
                                  struct pv_error *err)
{
    if (text->at != NULL)
        return signing_secret_parse(*text, secret)
                   ? PV_OK
                   : pv_fault(err, PV_PLACE_POINTER, "/secret", "invalid_secret",
                              "must be whsec_ and the base64 of 24 to 64 bytes");
    char *made = arena_alloc(request->arena, SECRET_TEXT);
    if (made == NULL)
        return pv_no_memory(err);
    signing_secret_make(secret);
    signing_secret_text(secret, made);
    *text = strview_of(made);
    return PV_OK;
}

static enum pv_code choose_secret(struct http_request *request,
                                  struct webhook *webhook,
                                  struct signing_secret *secret,
                                  struct webhook_sealed *sealed,
                                  struct pv_error *err)
{
    if (webhook->signature == WEBHOOK_V1)
        return choose_shared(request, &webhook->secret, secret, err);
    signing_keys_make(secret);
    webhook->secret = (struct strview){NULL, 0};
    return copy_public_key(request, secret, &sealed->public_key, err);
}

enum pv_code webhook_make_secret(struct api *api,
                                 struct http_request *request,
                                 struct webhook *webhook,
                                 struct webhook_sealed *sealed,
                                 struct pv_error *err)
{
    struct signing_secret secret = {.n = 0};
    enum pv_code code = choose_secret(request, webhook, &secret, sealed, err);
    if (code == PV_OK)
        code = seal(api, request, webhook->id, "secret",
                    (struct strview){(const char *)secret.bytes, secret.n}, &sealed->secret, err);
    sodium_memzero(&secret, sizeof secret);
    return code;
}

enum pv_code webhook_seal_authorization(struct api *api,
                                        struct http_request *request,
                                        const char id[37],
                                        struct strview value,
                                        struct strview *sealed,
                                        struct pv_error *err)
{
    *sealed = (struct strview){NULL, 0};
    return value.at == NULL ? PV_OK : seal(api, request, id, "authorization", value, sealed, err);
}
