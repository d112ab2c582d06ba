#include <string.h>

#include "dispatch/event_body.h"
#include "threads/clock.h"
#include "webhooks/dispatcher_internal.h"

enum {
    AHEAD = 4,        /* deliveries loaded for each that may be sent at once */
    LOAD_MAX = 64,    /* of one webhook */
    LOADED_MAX = 4096 /* of all */
};

/* Deliveries on their way to endpoints that are failing. */
static size_t count_failing(const struct dispatcher *dispatcher)
{
    size_t n = 0;
    for (const struct held_webhook *w = dispatcher->held.first; w != NULL; w = w->next)
        n += w->health.failures > 0 ? w->n_flights : 0;
    return n;
}

/* How many more deliveries of it may be loaded: some more than may be sent at once, so that the sender
 * has work while we ask the database; of one that is paused a single one, to try it. */
static int64_t room_for_deliveries(const struct held_webhook *webhook)
{
    int64_t most = webhook->health.pauses > 0 ? 1 : AHEAD * webhook->health.allowed;
    most = most > LOAD_MAX ? LOAD_MAX : most;
    int64_t room = most - (int64_t)webhook->n_flights;
    return webhook->leaving || !webhook->loadable || room < 0 ? 0 : room;
}

static size_t list_busy(const struct dispatcher *dispatcher, struct delivery_busy *busy)
{
    size_t n = 0;
    for (const struct held_webhook *w = dispatcher->held.first; w != NULL; w = w->next)
        for (const struct flight *f = w->flights; f != NULL; f = f->next)
            memcpy(busy[n++].id, f->id, sizeof f->id);
    return n;
}

/* Those that have room; all of them, where leases are to be renewed. */
static size_t list_wanted(struct dispatcher *dispatcher, bool all, struct delivery_wanted *wanted)
{
    size_t n = 0;
    size_t failing = count_failing(dispatcher);
    size_t loaded = dispatcher->held.n_flights;
    const size_t failing_max = (size_t)dispatcher->config->webhook_connections_max / 2;
    for (struct held_webhook *w = dispatcher->held.first; w != NULL; w = w->next) {
        int64_t most = room_for_deliveries(w);
        if (loaded >= LOADED_MAX || (w->health.failures > 0 && failing >= failing_max))
            most = 0;
        w->wanted = most;
        w->seen = most == 0 && !all; /* it is not asked about */
        loaded += (size_t)most;
        failing += w->health.failures > 0 ? (size_t)most : 0;
        if (!w->seen)
            wanted[n++] = (struct delivery_wanted){w->row.key, most};
    }
    return n;
}

static enum pv_code submit(struct dispatcher *dispatcher,
                           struct held_webhook *webhook,
                           const struct delivery_due *due,
                           struct arena *arena,
                           struct pv_error *err)
{
    char id[EVENT_ID_TEXT];
    event_message_id(due->event_id, id);
    const struct event_message event = {.id = id,
                                        .team_id = webhook->row.key.team_id,
                                        .type = due->type,
                                        .severity = due->severity,
                                        .happened_us = due->happened_us,
                                        .data = due->data};
    struct strview body = event_body_write(arena, webhook->format, &event);
    if (body.at == NULL)
        return pv_no_memory(err);
    if (webhook->n_secrets > 1 && webhook->row.former_secret_until_us <= clock_wall_us())
        webhook->n_secrets = 1;
    struct flight *flight = flight_add(&dispatcher->held, webhook, due);
    if (flight == NULL)
        return pv_no_memory(err);
    const struct sender_delivery delivery = {.lane = &webhook->lane,
                                             .flight = flight,
                                             .url = webhook->row.url,
                                             .authorization = webhook->authorization,
                                             .secrets = webhook->secrets,
                                             .n_secrets = webhook->n_secrets,
                                             .id = id,
                                             .content_type = event_content_type(webhook->format),
                                             .body = body};
    enum pv_code code = sender_submit(dispatcher->sender, &delivery, err);
    if (code != PV_OK)
        flight_remove(&dispatcher->held, flight);
    return code;
}

static void leave(struct dispatcher *dispatcher, struct held_webhook *webhook)
{
    webhook->leaving = true;
    sender_recall(dispatcher->sender, &webhook->lane);
}

/* A row of what was loaded: a delivery, or only that the webhook is still held. */
static enum pv_code take_due(struct dispatcher *dispatcher,
                             const struct delivery_due *due,
                             struct arena *arena,
                             struct pv_error *err)
{
    struct held_webhook *webhook = held_webhooks_find(&dispatcher->held, &due->webhook);
    if (webhook == NULL)
        return PV_OK;
    webhook->seen = true;
    if (due->version != webhook->row.version)
        leave(dispatcher, webhook);
    if (webhook->leaving || due->id[0] == '\0')
        return PV_OK;
    webhook->wanted--;
    return submit(dispatcher, webhook, due, arena, err);
}

enum pv_code dispatcher_load(struct dispatcher *dispatcher,
                             struct arena *arena,
                             bool renew,
                             struct pv_error *err)
{
    struct held_webhooks *held = &dispatcher->held;
    struct delivery_due *due = NULL;
    size_t n = 0;
    struct delivery_wanted *wanted = arena_calloc(arena, held->n + 1, sizeof *wanted);
    struct delivery_busy *busy = arena_calloc(arena, held->n_flights + 1, sizeof *busy);
    if (wanted == NULL || busy == NULL)
        return pv_no_memory(err);
    size_t n_wanted = list_wanted(dispatcher, renew, wanted);
    size_t n_busy = list_busy(dispatcher, busy);
    PV_TRY(store_deliveries_load(dispatcher->store, arena, dispatcher->owner, LEASE_MS, wanted,
                                 n_wanted, busy, n_busy, &due, &n, err));
    for (size_t i = 0; i < n; i++)
        PV_TRY(take_due(dispatcher, &due[i], arena, err));
    for (struct held_webhook *w = held->first; w != NULL; w = w->next) {
        if (!w->seen)
            leave(dispatcher, w);
        if (w->wanted > 0)
            w->loadable = false; /* there were fewer than asked for */
    }
    return PV_OK;
}

/* Of those that have nothing on its way and nothing due, or are to be left. */
enum pv_code dispatcher_release(struct dispatcher *dispatcher,
                                struct arena *arena,
                                bool all,
                                struct pv_error *err)
{
    struct held_webhooks *held = &dispatcher->held;
    struct webhook_key *keys = arena_calloc(arena, held->n + 1, sizeof *keys);
    size_t n = 0;
    if (keys == NULL)
        return pv_no_memory(err);
    for (const struct held_webhook *w = held->first; w != NULL; w = w->next)
        if (all || (w->n_flights == 0 && !w->changed && (w->leaving || !w->loadable)))
            keys[n++] = w->row.key;
    PV_TRY(store_webhooks_release(dispatcher->store, arena, dispatcher->owner, keys, n, err));
    for (size_t i = 0; i < n && !all; i++) {
        struct held_webhook *webhook = held_webhooks_find(held, &keys[i]);
        if (webhook->leaving) /* it may have changed only, and be there to be claimed again */
            dispatcher_wake(dispatcher, WOKEN_URGENT);
        held_webhooks_remove(held, webhook);
    }
    return PV_OK;
}
