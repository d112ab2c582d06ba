#include "api/api.h"

#include <string.h>

#include "store/access/access.h"

static enum pv_code
read_targets(const struct config *config, struct target_policy *targets, struct pv_error *err)
{
    struct pv_error why = {.code = PV_OK};
    if (target_policy_parse(config->webhook_private_targets, config->webhook_plain_http, targets,
                            &why) == PV_OK)
        return PV_OK;
    return pv_fail(err, PV_E_INVALID, "webhook_private_targets: %s", why.detail);
}

enum pv_code api_init(struct api *api,
                      const struct config *config,
                      struct store *store,
                      struct prediction_cache *history,
                      struct pv_error *err)
{
    *api = (struct api){.config = config, .store = store, .history = history};
    PV_TRY(read_targets(config, &api->targets, err));
    if (pthread_mutex_init(&api->key_lock, NULL) != 0)
        return pv_no_memory(err);
    return PV_OK;
}

enum pv_code api_read(struct api *api,
                      const struct http_request *request,
                      struct store_tx **tx,
                      struct pv_error *err)
{
    return store_begin(api->store, &request->principal, request->request_id, STORE_READ, tx, err);
}

void api_fini(struct api *api)
{
    pthread_mutex_destroy(&api->key_lock);
}

enum pv_code api_service_key(struct api *api, unsigned char key[32], struct pv_error *err)
{
    pthread_mutex_lock(&api->key_lock);
    bool known = api->has_key;
    if (known)
        memcpy(key, api->key, sizeof api->key);
    pthread_mutex_unlock(&api->key_lock);
    if (known)
        return PV_OK;
    /* Two threads may ask at once: they get the same key. The lock is not held over the wait. */
    PV_TRY(store_service_key(api->store, key, err));
    pthread_mutex_lock(&api->key_lock);
    memcpy(api->key, key, sizeof api->key);
    api->has_key = true;
    pthread_mutex_unlock(&api->key_lock);
    return PV_OK;
}
