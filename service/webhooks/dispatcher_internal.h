#ifndef WEBHOOKS_DISPATCHER_INTERNAL_H
#define WEBHOOKS_DISPATCHER_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "webhooks/attempts.h"
#include "webhooks/dispatcher.h"
#include "webhooks/held_webhooks.h"

/* Shared by the files of the dispatcher: its loop (dispatcher.c), taking webhooks (claim.c), and loading
 * deliveries and letting go (load.c). */
struct event_listener;

enum { LEASE_MS = 15000 };

/* Why it was woken. */
enum {
    WOKEN_EVENTS = 1, /* of this process: they may be gathered */
    WOKEN_URGENT = 2, /* a webhook changed, or another process notified */
    WOKEN_OUTCOMES = 4,
    WOKEN_END = 8
};

struct dispatcher {
    struct store *store;
    const struct config *config;
    struct target_policy policy;
    struct sender *sender;
    struct event_listener *listener; /* NULL: not connected */
    unsigned char key[32];           /* of the service */
    char owner[37];                  /* who holds leases */
    struct held_webhooks held;
    struct attempts attempts; /* that have ended, to be written down */
    bool no_webhooks;         /* in the whole database, when last asked */
    uint64_t polled_ns, dispatched_ns, renewed_ns, expired_ns, counted_ns, listened_ns;
    uint64_t admissions_ns;
    char logged[sizeof((struct pv_error *)0)->detail];
    int wake_fd;
    atomic_uint woken;
    atomic_bool ending;
    pthread_t thread;
};

/* Wake the thread: one of WOKEN_... */
void dispatcher_wake(struct dispatcher *dispatcher, unsigned why);

/* Take webhooks that have something due, and open their secrets. */
enum pv_code dispatcher_claim(struct dispatcher *dispatcher,
                              struct arena *arena,
                              struct pv_error *err) PV_MUSTCHECK;

/* Load what is due of the webhooks that have room, and hand it to the sender. renew: also the leases of
 * those that have none. Webhooks that are lost, or changed, are on their way out from then on. */
enum pv_code dispatcher_load(struct dispatcher *dispatcher,
                             struct arena *arena,
                             bool renew,
                             struct pv_error *err) PV_MUSTCHECK;

/* Let go of webhooks that have nothing on its way and nothing due, or are on their way out; of all, at
 * the end. */
enum pv_code dispatcher_release(struct dispatcher *dispatcher,
                                struct arena *arena,
                                bool all,
                                struct pv_error *err) PV_MUSTCHECK;

#endif
