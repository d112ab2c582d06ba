#ifndef WEBHOOKS_HELD_WEBHOOKS_H
#define WEBHOOKS_HELD_WEBHOOKS_H

#include "dispatch/backoff.h"
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
    uint64_t give_up_ns; /* by the monotonic clock; 0: it was over when it was loaded */
};

struct held_webhook {
    struct webhook_held row; /* its texts are in the arena */
    struct arena arena;
    struct endpoint_health health;
    struct flight *flights;
    size_t n_flights;
    bool loadable; /* there may be more to load */
    bool leaving;  /* changed, disabled or lost: nothing more is loaded, and it is let go of */
    bool seen;     /* in this load */
    struct held_webhook *next;
};

struct held_webhooks {
    struct held_webhook *first;
    size_t n;
    size_t n_flights;
};

/* Add what was claimed: a copy. NULL: no memory. */
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
