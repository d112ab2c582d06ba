#define _GNU_SOURCE /* pthread_setname_np */
#include "api/operations/operation_watch.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "log/log.h"
#include "metrics/registry.h"
#include "threads/clock.h"
#include "threads/cond.h"

METRIC_GAUGE(waiters,
             "provisor_operation_waiters",
             "Streams and replies that wait, without a thread, for something to happen.",
             "");

enum { POLL_MS = 200, ASKED_AT_ONCE = 1000 };

struct waiter {
    struct operation_wait wait;
    struct http_ticket *ticket;
    bool due;
};

struct operation_watch {
    struct store *store;
    struct resources *resources;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t wake;
    struct waiter *waiters; /* in no order */
    size_t n;
    size_t capacity;
    bool closing;
    bool stopping;
};

/* --- who waits --- */

bool operation_watch_add(struct operation_watch *watch,
                         const struct operation_wait *wait,
                         struct http_ticket *ticket)
{
    (void)pthread_mutex_lock(&watch->lock);
    bool taken = !watch->closing && watch->n < watch->capacity;
    if (taken) {
        watch->waiters[watch->n++] = (struct waiter){.wait = *wait, .ticket = ticket};
        (void)pthread_cond_signal(&watch->wake);
    }
    (void)pthread_mutex_unlock(&watch->lock);
    return taken;
}

/* --- one look --- */

/* Copies of at most ASKED_AT_ONCE waiters from `from` on, to be asked about without the lock. Only
 * this thread removes waiters, so their places stay. */
static size_t
copy_watched(struct operation_watch *watch, size_t from, struct operation_watched *out)
{
    size_t n = 0;
    (void)pthread_mutex_lock(&watch->lock);
    for (size_t i = from; i < watch->n && n < ASKED_AT_ONCE; i++)
        out[n++] = watch->waiters[i].wait.what;
    (void)pthread_mutex_unlock(&watch->lock);
    return n;
}

static bool happened(const struct operation_wait *wait, const struct operation_watched *now)
{
    if (now->events == RUN_UNKNOWN || now->ended || now->revoked)
        return true;
    return !wait->until_end && now->events > wait->seen;
}

static void
mark_due(struct operation_watch *watch, size_t from, const struct operation_watched *now, size_t n)
{
    (void)pthread_mutex_lock(&watch->lock);
    for (size_t i = 0; i < n; i++) {
        struct waiter *waiter = &watch->waiters[from + i];
        waiter->due = happened(&waiter->wait, &now[i]);
        if (now[i].revoked && waiter->wait.revoked != NULL)
            atomic_store(waiter->wait.revoked, true);
    }
    (void)pthread_mutex_unlock(&watch->lock);
}

/* While the database is away nothing is known to have happened. */
static void ask_database(struct operation_watch *watch, struct operation_watched *room)
{
    size_t n = ASKED_AT_ONCE;
    for (size_t from = 0; n == ASKED_AT_ONCE; from += n) {
        struct arena arena;
        struct pv_error err = {.code = PV_OK};
        arena_init(&arena, 0);
        n = copy_watched(watch, from, room);
        if (store_operation_watch(watch->store, &arena, room, n, &err) == PV_OK)
            mark_due(watch, from, room, n);
        arena_fini(&arena);
    }
}

/* true: the ticket is used up. */
static bool use_ticket(struct waiter *waiter, uint64_t now_ns, bool closing)
{
    if (!http_ticket_is_alive(waiter->ticket)) {
        http_ticket_drop(waiter->ticket);
        return true;
    }
    bool wanted = waiter->due || closing || now_ns >= waiter->wait.wake_at_ns;
    return wanted && http_ticket_wake(waiter->ticket);
}

/* Neither waking nor dropping waits for anything. */
static void wake_due(struct operation_watch *watch)
{
    uint64_t now_ns = clock_monotonic_ns();
    (void)pthread_mutex_lock(&watch->lock);
    for (size_t i = 0; i < watch->n;) {
        if (!use_ticket(&watch->waiters[i], now_ns, watch->closing)) {
            i++;
            continue;
        }
        resources_close(watch->resources, &watch->waiters[i].wait.place);
        watch->waiters[i] = watch->waiters[--watch->n];
    }
    (void)pthread_mutex_unlock(&watch->lock);
}

/* --- the thread --- */

/* Sleeps for a while, and for as long as nobody waits; false: it is over. */
static bool wait_for_poll(struct operation_watch *watch)
{
    uint64_t until_ns = clock_monotonic_ns() + POLL_MS * UINT64_C(1000000);
    (void)pthread_mutex_lock(&watch->lock);
    while (watch->n == 0 && !watch->stopping)
        (void)pthread_cond_wait(&watch->wake, &watch->lock);
    while (!watch->stopping && !watch->closing &&
           cond_wait_until(&watch->wake, &watch->lock, until_ns))
        ;
    bool go_on = !watch->stopping;
    (void)pthread_mutex_unlock(&watch->lock);
    return go_on;
}

static void *watch_operations(void *argument)
{
    struct operation_watch *watch = argument;
    struct operation_watched *room = calloc(ASKED_AT_ONCE, sizeof *room);
    while (wait_for_poll(watch)) {
        if (room != NULL && !operation_watch_is_closing(watch))
            ask_database(watch, room);
        wake_due(watch);
        if (operation_watch_is_closing(watch)) { /* those for whom no worker had room */
            const struct timespec pause = {.tv_nsec = 5000000};
            (void)nanosleep(&pause, NULL);
        }
    }
    free(room);
    return NULL;
}

/* Signals belong to one thread of the program, never to this one. */
static bool operation_watch_start(struct operation_watch *watch)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    watch->started = pthread_create(&watch->thread, NULL, watch_operations, watch) == 0;
    if (watch->started)
        (void)pthread_setname_np(watch->thread, "watch");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return watch->started;
}

struct operation_watch *operation_watch_create(struct store *store,
                                               struct resources *resources,
                                               const struct config *config)
{
    struct operation_watch *watch = calloc(1, sizeof *watch);
    if (watch == NULL)
        return NULL;
    watch->store = store;
    watch->resources = resources;
    watch->capacity = (size_t)(config->operation_streams_max + config->operation_waits_max);
    watch->waiters = calloc(watch->capacity, sizeof *watch->waiters);
    (void)pthread_mutex_init(&watch->lock, NULL);
    (void)cond_init(&watch->wake);
    if (watch->waiters != NULL && operation_watch_start(watch))
        return watch;
    operation_watch_destroy(watch);
    return NULL;
}

bool operation_watch_is_closing(struct operation_watch *watch)
{
    (void)pthread_mutex_lock(&watch->lock);
    bool closing = watch->closing;
    (void)pthread_mutex_unlock(&watch->lock);
    return closing;
}

void operation_watch_close(struct operation_watch *watch)
{
    if (watch == NULL)
        return;
    (void)pthread_mutex_lock(&watch->lock);
    watch->closing = true;
    (void)pthread_cond_broadcast(&watch->wake);
    (void)pthread_mutex_unlock(&watch->lock);
}

void operation_watch_stop(struct operation_watch *watch)
{
    if (watch == NULL || !watch->started)
        return;
    (void)pthread_mutex_lock(&watch->lock);
    watch->closing = watch->stopping = true;
    (void)pthread_cond_broadcast(&watch->wake);
    (void)pthread_mutex_unlock(&watch->lock);
    (void)pthread_join(watch->thread, NULL);
    watch->started = false;
    while (watch->n > 0) {
        struct waiter *last = &watch->waiters[--watch->n];
        resources_close(watch->resources, &last->wait.place);
        http_ticket_drop(last->ticket);
    }
}

void operation_watch_destroy(struct operation_watch *watch)
{
    if (watch == NULL)
        return;
    (void)pthread_mutex_destroy(&watch->lock);
    (void)pthread_cond_destroy(&watch->wake);
    free(watch->waiters);
    free(watch);
}

void operation_watch_collect_metrics(struct operation_watch *watch)
{
    (void)pthread_mutex_lock(&watch->lock);
    size_t waiting = watch->n;
    (void)pthread_mutex_unlock(&watch->lock);
    metric_set(&waiters, (double)waiting, NULL);
}
