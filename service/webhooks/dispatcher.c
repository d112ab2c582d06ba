#define _GNU_SOURCE /* pthread_setname_np */
#include "webhooks/dispatcher.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "dispatch/sender.h"
#include "log/log.h"
#include "store/access/access.h"
#include "store/outbox/event_listener.h"
#include "threads/clock.h"
#include "threads/cond.h"
#include "webhooks/attempts.h"
#include "webhooks/held_webhooks.h"

/*
 * The loop of the thread: sleep until somebody wakes it or the next poll; write down what has ended;
 * dispatch events; take webhooks; load deliveries and hand them to the sender; let go of webhooks
 * that have nothing left. Each step is one statement for everything that the process holds, so a
 * round costs the same few statements for one delivery and for hundreds.
 */
enum {
    LEASE_MS = 15000,
    RENEW_MS = 4000,      /* of webhooks that wait for slow receivers */
    DISPATCH_BATCH = 1000,
    DISPATCH_ROUNDS = 8,  /* before outcomes are looked at again */
    GATHER_MS = 20,       /* between two dispatches: events that come one by one go together */
    EXPIRE_MS = 30000,
    EXPIRE_BATCH = 5000,
    COUNT_MS = 5000,
    NOT_READY_MS = 500,
    LISTEN_AGAIN_MS = 1000,
    LOAD_MAX = 64 /* deliveries of a webhook at once */
};

/* Why it was woken. */
enum {
    WOKEN_EVENTS = 1,  /* of this process: they may be gathered */
    WOKEN_URGENT = 2,  /* a webhook changed, or another process notified */
    WOKEN_OUTCOMES = 4,
    WOKEN_END = 8
};

struct dispatcher {
    struct store *store;
    const struct config *config;
    struct sender *sender;
    struct event_listener *listener; /* NULL: not connected */
    unsigned char key[32];           /* of the service */
    char owner[37];                  /* who holds leases */
    struct held_webhooks held;
    struct attempts attempts; /* that have ended, to be written down */
    bool no_webhooks;         /* in the whole database, when last asked */
    uint64_t polled_ns, dispatched_ns, renewed_ns, expired_ns, counted_ns, listened_ns;
    int wake_fd;
    atomic_uint woken;
    atomic_bool ending;
    pthread_t thread;
};

/* --- waking --- */

static void wake(struct dispatcher *dispatcher, unsigned why)
{
    unsigned before = atomic_fetch_or(&dispatcher->woken, why);
    if ((before & why) == why)
        return;
    const uint64_t one = 1;
    (void)!write(dispatcher->wake_fd, &one, sizeof one);
}

static void events_written(void *context, bool urgent)
{
    wake(context, urgent ? WOKEN_URGENT : WOKEN_EVENTS);
}

static void outcomes_ready(void *context)
{
    wake(context, WOKEN_OUTCOMES);
}

static bool is_past(uint64_t since_ns, int64_t ms)
{
    return clock_monotonic_ns() - since_ns >= (uint64_t)ms * 1000000u;
}

/* Milliseconds until so long after since_ns. */
static int ms_until(uint64_t since_ns, int64_t ms)
{
    uint64_t at_ns = since_ns + (uint64_t)ms * 1000000u;
    uint64_t now_ns = clock_monotonic_ns();
    return at_ns <= now_ns ? 0 : (int)((at_ns - now_ns + 999999u) / 1000000u);
}

/* Without any webhook events are only marked, in larger batches. */
static int64_t gather_ms(const struct dispatcher *dispatcher)
{
    return dispatcher->no_webhooks ? dispatcher->config->webhook_poll_ms : GATHER_MS;
}

static int time_to_wait(const struct dispatcher *dispatcher, unsigned pending)
{
    int ms = ms_until(dispatcher->polled_ns, dispatcher->config->webhook_poll_ms);
    if (pending & WOKEN_EVENTS) {
        int gathered = ms_until(dispatcher->dispatched_ns, gather_ms(dispatcher));
        ms = gathered < ms ? gathered : ms;
    }
    return ms;
}

static void hear_others(struct dispatcher *dispatcher)
{
    bool heard = false;
    if (!event_listener_drain(dispatcher->listener, dispatcher->owner, &heard)) {
        event_listener_close(dispatcher->listener);
        dispatcher->listener = NULL;
        dispatcher->listened_ns = clock_monotonic_ns();
        heard = true; /* whatever was said meanwhile */
    }
    if (heard)
        (void)atomic_fetch_or(&dispatcher->woken, WOKEN_URGENT);
}

/* Sleep until there is something to do; why it is awake. Events that wait to be gathered stay. */
static unsigned await_work(struct dispatcher *dispatcher)
{
    unsigned pending = atomic_load(&dispatcher->woken);
    if ((pending & ~(unsigned)WOKEN_EVENTS) == 0) {
        struct pollfd fds[2] = {{.fd = dispatcher->wake_fd, .events = POLLIN},
                                {.fd = -1, .events = POLLIN}};
        if (dispatcher->listener != NULL)
            fds[1].fd = event_listener_fd(dispatcher->listener);
        (void)poll(fds, 2, time_to_wait(dispatcher, pending));
        uint64_t count;
        if (fds[0].revents != 0)
            (void)!read(dispatcher->wake_fd, &count, sizeof count);
        if (fds[1].revents != 0)
            hear_others(dispatcher);
    }
    unsigned take = (unsigned)WOKEN_URGENT | WOKEN_OUTCOMES | WOKEN_END;
    if (is_past(dispatcher->dispatched_ns, gather_ms(dispatcher)))
        take |= WOKEN_EVENTS;
    return atomic_fetch_and(&dispatcher->woken, ~take) & take;
}

/* --- the steps of a round --- */

static void report(const char *event, const struct pv_error *err)
{
    LOG_EVENT(LOG_WARN, event, NULL, LOG_TEXT("reason", err->detail));
}

static void listen_again(struct dispatcher *dispatcher)
{
    struct pv_error err = {.code = PV_OK};
    if (dispatcher->listener != NULL || !is_past(dispatcher->listened_ns, LISTEN_AGAIN_MS))
        return;
    dispatcher->listened_ns = clock_monotonic_ns();
    if (event_listener_open(dispatcher->store, &dispatcher->listener, &err) != PV_OK)
        dispatcher->listener = NULL;
}

/* Events become deliveries. Whoever holds their webhooks hears of it. */
static enum pv_code dispatch(struct dispatcher *dispatcher, struct pv_error *err)
{
    const struct dispatch_limits limits = {.batch = DISPATCH_BATCH,
                                           .pending_max = dispatcher->config->webhook_pending_max,
                                           .give_up_s = dispatcher->config->webhook_give_up_s};
    struct dispatched done = {.events = DISPATCH_BATCH};
    int64_t deliveries = 0;
    dispatcher->dispatched_ns = clock_monotonic_ns();
    for (int i = 0; i < DISPATCH_ROUNDS && done.events == DISPATCH_BATCH; i++) {
        PV_TRY(store_events_dispatch(dispatcher->store, &limits, &done, err));
        deliveries += done.deliveries;
    }
    if (done.events == DISPATCH_BATCH)
        (void)atomic_fetch_or(&dispatcher->woken, WOKEN_URGENT);
    dispatcher->no_webhooks = !done.webhooks;
    return deliveries == 0 ? PV_OK
                           : store_events_notify(dispatcher->store, dispatcher->owner, err);
}

static size_t room_for_webhooks(const struct dispatcher *dispatcher)
{
    size_t most = (size_t)dispatcher->config->webhook_connections_max;
    return dispatcher->held.n >= most ? 0 : most - dispatcher->held.n;
}

static enum pv_code
claim(struct dispatcher *dispatcher, struct arena *arena, struct pv_error *err)
{
    struct webhook_held *rows = NULL;
    size_t n = 0;
    size_t most = room_for_webhooks(dispatcher);
    if (most == 0)
        return PV_OK;
    PV_TRY(store_webhooks_claim(dispatcher->store, arena, dispatcher->owner, LEASE_MS, most, &rows,
                                &n, err));
    for (size_t i = 0; i < n; i++) {
        /* Its lease ran out under us: what is under way is written down as before. */
        struct held_webhook *webhook = held_webhooks_find(&dispatcher->held, &rows[i].key);
        if (webhook == NULL)
            webhook = held_webhooks_add(&dispatcher->held, &rows[i], &dispatcher->health);
        if (webhook == NULL)
            return pv_no_memory(err); /* the lease runs out */
        webhook->loadable = true;
    }
    return PV_OK;
}

/* How many more deliveries of it may be loaded: twice as many as may be sent at once. */
static int64_t room_for_deliveries(const struct held_webhook *webhook)
{
    size_t most = 2 * health_allowed(&webhook->health);
    most = most > LOAD_MAX ? LOAD_MAX : most;
    if (webhook->leaving || !webhook->loadable || webhook->n_flights >= most)
        return 0;
    return (int64_t)(most - webhook->n_flights);
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
static size_t
list_wanted(struct dispatcher *dispatcher, bool all, struct delivery_wanted *wanted)
{
    size_t n = 0;
    for (struct held_webhook *w = dispatcher->held.first; w != NULL; w = w->next) {
        int64_t most = room_for_deliveries(w);
        w->wanted = most;
        w->seen = false;
        if (most > 0 || all)
            wanted[n++] = (struct delivery_wanted){w->row.key, most};
        else
            w->seen = true; /* not asked about */
    }
    return n;
}
