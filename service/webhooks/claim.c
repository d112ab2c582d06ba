#include <sodium.h>
#include <string.h>

#include "dispatch/seal.h"
#include "log/log.h"
#include "threads/clock.h"
#include "webhooks/dispatcher_internal.h"

static size_t room_for_webhooks(const struct dispatcher *dispatcher)
{
    size_t most = (size_t)dispatcher->config->webhook_connections_max;
    return dispatcher->held.n >= most ? 0 : most - dispatcher->held.n;
}

static enum pv_code open_secret(struct dispatcher *dispatcher,
                                struct held_webhook *webhook,
                                struct strview sealed,
                                struct pv_error *err)
{
    const struct seal_place place = {webhook->row.key.team_id, webhook->row.key.id, "secret"};
    struct signing_secret *secret = &webhook->secrets[webhook->n_secrets];
    struct strview bytes = {NULL, 0};
    PV_TRY(seal_open(&webhook->arena, dispatcher->key, &place, sealed, &bytes, err));
    if (bytes.n > sizeof secret->bytes)
        return pv_fail(err, PV_E_INTERNAL, "a secret is too long");
    secret->is_key_pair = strview_is(webhook->row.signature, "v1a");
    secret->n = bytes.n;
    memcpy(secret->bytes, bytes.at, bytes.n);
    webhook->n_secrets++;
    return PV_OK;
}

/* One that this program does not know is of a newer one, which will claim the webhook later. */
static enum pv_code
read_format(const struct webhook_held *row, enum webhook_format *format, struct pv_error *err)
{
    for (size_t i = 0; webhook_format_words[i] != NULL; i++) {
        *format = (enum webhook_format)i;
        if (strview_is(row->format, webhook_format_words[i]))
            return PV_OK;
    }
    return pv_fail(err, PV_E_INTERNAL, "this version does not know the format %.*s",
                   (int)row->format.n, row->format.at);
}

/* What its rows say in sealed form. */
static enum pv_code
open_webhook(struct dispatcher *dispatcher, struct held_webhook *webhook, struct pv_error *err)
{
    const struct webhook_held *row = &webhook->row;
    const struct seal_place place = {row->key.team_id, row->key.id, "authorization"};
    PV_TRY(read_format(row, &webhook->format, err));
    PV_TRY(open_secret(dispatcher, webhook, row->secret, err));
    if (row->former_secret.at != NULL && row->former_secret_until_us > clock_wall_us())
        PV_TRY(open_secret(dispatcher, webhook, row->former_secret, err));
    if (row->authorization_value.at == NULL)
        return PV_OK;
    return seal_open(&webhook->arena, dispatcher->key, &place, row->authorization_value,
                     &webhook->authorization, err);
}

/* Nothing can be sent for it: left alone for as long as the longest pause, and said so. */
static void set_aside(struct dispatcher *dispatcher, struct held_webhook *webhook, const char *why)
{
    webhook->leaving = webhook->changed = true;
    webhook->health.failures++;
    webhook->health.pauses++;
    webhook->hold_until_ns =
        clock_monotonic_ns() +
        (uint64_t)dispatcher->config->webhook_pause_max_s * UINT64_C(1000000000);
    webhook->error = strview_of(arena_strdup(&webhook->arena, why));
    LOG_EVENT(LOG_ERROR, "webhook.unusable", NULL, LOG_TEXT("webhook_id", webhook->row.key.id),
              LOG_TEXT("reason", why));
}

static enum pv_code
hold(struct dispatcher *dispatcher, const struct webhook_held *row, struct pv_error *err)
{
    /* Its lease ran out under us: what is under way is written down as before. */
    struct held_webhook *webhook = held_webhooks_find(&dispatcher->held, &row->key);
    if (webhook != NULL)
        return PV_OK;
    webhook = held_webhooks_add(&dispatcher->held, row);
    if (webhook == NULL)
        return pv_no_memory(err); /* the lease runs out */
    struct pv_error why = {.code = PV_OK};
    webhook->loadable = true;
    if (open_webhook(dispatcher, webhook, &why) != PV_OK)
        set_aside(dispatcher, webhook, why.detail);
    return PV_OK;
}

enum pv_code
dispatcher_claim(struct dispatcher *dispatcher, struct arena *arena, struct pv_error *err)
{
    struct webhook_held *rows = NULL;
    size_t n = 0;
    size_t most = room_for_webhooks(dispatcher);
    if (most == 0)
        return PV_OK;
    PV_TRY(store_webhooks_claim(dispatcher->store, arena, dispatcher->owner, LEASE_MS, most, &rows,
                                &n, err));
    for (size_t i = 0; i < n; i++)
        PV_TRY(hold(dispatcher, &rows[i], err));
    return PV_OK;
}
