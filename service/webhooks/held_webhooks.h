#ifndef WEBHOOKS_HELD_WEBHOOKS_H
#define WEBHOOKS_HELD_WEBHOOKS_H

#include "dispatch/backoff.h"
#include "dispatch/event_body.h"
#include "dispatch/sender.h"
#include "store/webhooks/dispatch.h"

/*
 * The webhooks that a process holds, and the deliveries of theirs that it has loaded and not yet
 * written down. Belongs to the dispatcher's thread.
 */

struct held_webhook;

/* A delivery on its way: loaded, being sent, or waiting to be written down. */
struct flight {
    struct held_webhook *webhook;
    struct flight *next; /* of the same webhook */
    char id[37];
    char event_id[37];
    int64_t attempts;
    int64_t tries;
    int64_t happened_us;
};

struct held_webhook {
    struct webhook_held row; /* its texts are in the arena; secrets are sealed */
    struct arena arena;
    enum webhook_format format;
    struct signing_secret secrets[SIGNATURES_MAX]; /* opened; the second one is the former */
    size_t n_secrets;
    struct strview authorization;
    struct sender_lane lane;
    struct endpoint_health health;
    uint64_t held_since_ns; /* when nothing more was begun, and until when; 0: not */
    uint64_t hold_until_ns;
    struct flight *flights;
    size_t n_flights;
    bool loadable; /* there may be something to load */
    bool
        leaving; /* held back, changed, disabled or lost: it is let go of when its flights have ended */
    bool seen; /* in this load */
    int64_t wanted;
    /* To be written down: */
    bool changed;
    bool succeeded;
    bool is_gone;
    struct strview error; /* lives as long as the attempts that wait to be written down */
    struct held_webhook *next;
};

struct held_webhooks {
    struct held_webhook *first;
    size_t n;
    size_t n_flights;
};

/* Add what was claimed: a copy, whose secrets are not opened yet. NULL: no memory. */
struct held_webhook *held_webhooks_add(struct held_webhooks *held, const struct webhook_held *row);
/* NULL: it is not held. */
struct held_webhook *held_webhooks_find(const struct held_webhooks *held,
                                        const struct webhook_key *key);
/* It has no flights. */
void held_webhooks_remove(struct held_webhooks *held, struct held_webhook *webhook);
/* All of them, flights included. */
void held_webhooks_clear(struct held_webhooks *held);

/* NULL: no memory. */
struct flight *flight_add(struct held_webhooks *held,
                          struct held_webhook *webhook,
                          const struct delivery_due *due);
void flight_remove(struct held_webhooks *held, struct flight *flight);

#endif
