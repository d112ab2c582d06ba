#include "webhooks/held_webhooks.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "threads/clock.h"

static bool copy_texts(struct held_webhook *webhook, const struct webhook_held *row)
{
    struct strview *texts[] = {&webhook->row.url,           &webhook->row.format,
                               &webhook->row.signature,     &webhook->row.secret,
                               &webhook->row.former_secret, &webhook->row.authorization_value};
    webhook->row = *row;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (texts[i]->at == NULL)
            continue;
        *texts[i] = arena_copy(&webhook->arena, *texts[i]);
        if (texts[i]->at == NULL)
            return false;
    }
    return true;
}

struct held_webhook *held_webhooks_add(struct held_webhooks *held, const struct webhook_held *row)
{
    struct held_webhook *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    arena_init(&made->arena, 0);
    if (!copy_texts(made, row)) {
        arena_fini(&made->arena);
        free(made);
        return NULL;
    }
    health_init(&made->health, row->concurrency, row->failures, row->pauses);
    sender_lane_open(&made->lane, made->row.key.team_id, made->health.allowed);
    made->next = held->first;
    held->first = made;
    held->n++;
    return made;
}

static bool same_webhook(const struct webhook_key *a, const struct webhook_key *b)
{
    return strcmp(a->id, b->id) == 0 && strcmp(a->team_id, b->team_id) == 0;
}

struct held_webhook *held_webhooks_find(const struct held_webhooks *held,
                                        const struct webhook_key *key)
{
    struct held_webhook *w = held->first;
    while (w != NULL && !same_webhook(&w->row.key, key))
        w = w->next;
    return w;
}

void held_webhooks_remove(struct held_webhooks *held, struct held_webhook *webhook)
{
    struct held_webhook **at = &held->first;
    while (*at != webhook)
        at = &(*at)->next;
    *at = webhook->next;
    held->n--;
    sodium_memzero(webhook->secrets, sizeof webhook->secrets);
    arena_fini(&webhook->arena);
    free(webhook);
}

void held_webhooks_clear(struct held_webhooks *held)
{
    while (held->first != NULL) {
        struct flight *flight = held->first->flights;
        while (flight != NULL) {
            struct flight *next = flight->next;
            free(flight);
            flight = next;
        }
        held_webhooks_remove(held, held->first);
    }
    held->n_flights = 0;
}

struct flight *
flight_add(struct held_webhooks *held, struct held_webhook *webhook, const struct delivery_due *due)
{
    struct flight *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    memcpy(made->id, due->id, sizeof made->id);
    memcpy(made->event_id, due->event_id, sizeof made->event_id);
    made->attempts = due->attempts;
    made->tries = due->tries;
    made->happened_us = due->happened_us;
    made->webhook = webhook;
    made->next = webhook->flights;
    webhook->flights = made;
    webhook->n_flights++;
    held->n_flights++;
    return made;
}

void flight_remove(struct held_webhooks *held, struct flight *flight)
{
    struct flight **at = &flight->webhook->flights;
    while (*at != flight)
        at = &(*at)->next;
    *at = flight->next;
    flight->webhook->n_flights--;
    held->n_flights--;
    free(flight);
}
