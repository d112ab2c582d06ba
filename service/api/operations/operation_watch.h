#ifndef API_OPERATIONS_OPERATION_WATCH_H
#define API_OPERATIONS_OPERATION_WATCH_H

#include <stdatomic.h>

#include "base/arena.h"
#include "config/config.h"
#include "http/park.h"
#include "resources/resources.h"
#include "store/operations/operation.h"

/*
 * Streams and replies that wait for operations, whichever replica works on them: one thread asks
 * the database about all of them in one statement, a few times a second while there are any, and
 * wakes those for whom something happened. No LISTEN, so it works behind PgBouncer in transaction
 * mode. Everything is safe from any thread.
 */
struct operation_watch;

/* NULL: no memory or thread. Borrows store and resources. */
struct operation_watch *operation_watch_create(struct store *store,
                                               struct resources *resources,
                                               const struct config *config);

struct operation_wait {
    struct operation_watched what; /* team, operation and token */
    bool until_end;                /* only its end counts; else any event beyond `seen` */
    int64_t seen;
    uint64_t wake_at_ns;         /* monotonic: at the latest then */
    atomic_bool *revoked;        /* set when the token is no good any more; NULL: nobody asks */
    struct ledger_account place; /* RESOURCE_WAITS; closed once the ticket is used */
};
/* The ticket is used once it has happened. There is room for as many as there may be streams and
 * held replies (RESOURCE_STREAMS, RESOURCE_WAITS), of which the caller has one. false: nobody can
 * wait now, neither the ticket nor the place was taken. */
bool operation_watch_add(struct operation_watch *watch,
                         const struct operation_wait *wait,
                         struct http_ticket *ticket) PV_MUSTCHECK;

/* No more waiting: whoever waits is woken. Streams end with what they have. */
bool operation_watch_is_closing(struct operation_watch *watch);
void operation_watch_close(struct operation_watch *watch);
/* Ends the thread and drops the tickets that are left: once the server has drained. */
void operation_watch_stop(struct operation_watch *watch);
void operation_watch_destroy(struct operation_watch *watch); /* when no handler runs any more */

/* Bring the metric of who waits up to date. */
void operation_watch_collect_metrics(struct operation_watch *watch);

#endif
