#ifndef API_OPERATIONS_OPERATION_WATCH_H
#define API_OPERATIONS_OPERATION_WATCH_H

#include <stdatomic.h>

#include "base/arena.h"
#include "config/config.h"
#include "http/park.h"
#include "store/operations/operation.h"

/*
 * Streams and replies that wait for operations, whichever replica works on them: one thread asks
 * the database about all of them in one statement, a few times a second while there are any, and
 * wakes those for whom something happened. No LISTEN, so it works behind PgBouncer in transaction
 * mode. Everything is safe from any thread.
 */
struct operation_watch;

/* NULL: no memory or thread. Borrows both. */
struct operation_watch *operation_watch_create(struct store *store, const struct config *config);

struct operation_wait {
    struct operation_watched what; /* team, operation and token */
    bool until_end;                /* only its end counts; else any event beyond `seen` */
    int64_t seen;
    uint64_t wake_at_ns;  /* monotonic: at the latest then */
    atomic_bool *revoked; /* set when the token is no good any more; NULL: nobody asks */
};
/* The ticket is used once it has happened. false: nobody can wait now, the ticket was not taken. */
bool operation_watch_add(struct operation_watch *watch,
                         const struct operation_wait *wait,
                         struct http_ticket *ticket) PV_MUSTCHECK;

/* No more waiting: whoever waits is woken. Streams end with what they have. */
bool operation_watch_is_closing(struct operation_watch *watch);
void operation_watch_close(struct operation_watch *watch);
/* Ends the thread and drops the tickets that are left: once the server has drained. */
void operation_watch_stop(struct operation_watch *watch);
void operation_watch_destroy(struct operation_watch *watch); /* when no handler runs any more */

/* A place for a stream of that team, given back with _leave. PV_E_QUOTA: the team has as many open
 * as it may; PV_E_UNAVAILABLE: the process has. */
enum pv_code operation_watch_enter(struct operation_watch *watch,
                                   const char *team_id,
                                   struct pv_error *err) PV_MUSTCHECK;
void operation_watch_leave(struct operation_watch *watch, const char *team_id);

/* Bring the metrics of who waits up to date. */
void operation_watch_collect_metrics(struct operation_watch *watch);

#endif
