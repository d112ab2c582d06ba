#ifndef OPERATION_OPERATION_H
#define OPERATION_OPERATION_H

#include <stdatomic.h>

#include "base/arena.h"
#include "config/config.h"
#include "store/operations/operation.h"
#include "store/store.h"

/*
 * Long work and what does it. Whoever wants to offer some writes a kind:
 *
 * 1. a run function (below), and a row {"refit", refit_run} in api/operations/operation_kinds.c;
 * 2. a handler for the POST that asks for it: decode and check the request, then
 *    api_operation_accept (api/operations/operation_accept.h), which queues it under the
 *    Idempotency-Key and answers 202, or waits as Prefer says. Without HTTP: operation_submit in a
 *    transaction.
 *
 * The rest is the runner's (operation/runner.h): any replica takes it from the table, holds it by a
 * lease, and gives it back when it dies or is asked to end; then it begins anew elsewhere. An
 * attempt may thus be cut off anywhere and be run again: its effects belong into the transaction of
 * operation_commit, which takes effect exactly once; or repeating them must do no harm.
 */

/* Why an attempt is to stop; the first reason stays. */
enum operation_stop { STOP_NOT, STOP_CANCELLED, STOP_LOST, STOP_ENDING };

/* What a worker and the heart beat share without a lock. */
struct progress_flags {
    atomic_int_least64_t done;
    atomic_int_least64_t total; /* RUN_UNKNOWN */
    _Atomic(const char *) unit; /* NULL: unknown */
    atomic_int stop;            /* enum operation_stop */
    atomic_bool over;           /* the slice is: give way at the next report */
    atomic_size_t beside_bytes; /* held by threads of the work's own (operation/parts.h) */
};

void progress_flags_reset(struct progress_flags *flags);
void progress_flags_stop(struct progress_flags *flags, enum operation_stop why);

struct runner_slot;

/* One attempt, on a thread which belongs to it alone. */
struct operation_run {
    const struct config *config;
    struct store *store;
    /* Of the attempt, bounded by request_memory_bytes_max; work that needs others beside it makes
     * them by arena_init_beside, so that what an operation holds while it waits is known. */
    struct arena *arena;
    struct principal who; /* asked for it: begin transactions in this name */
    struct operation_key key;
    const char *application_id; /* "" for none */
    const char *application;    /* its name then; NULL: of none */
    struct strview request;     /* JSON text, as submitted */
    const char *request_id;     /* of the request that asked: for logs and store_begin */
    const char *trace_id;
    struct strview kind;
    bool finished; /* operation_commit has */
    struct progress_flags *flags;
    void (*give_way)(struct runner_slot *slot); /* when the slice is over; NULL: never */
    struct runner_slot *slot;
};

struct operation_kind {
    const char *name; /* on the wire and in metrics; ended by a NULL name */
    /*
     * NULL: the process that asks does it by itself (operation/local_operation.h), no worker takes
     * it, and when that process is gone it has failed. Such kinds stand last. Else:
     *
     * Do the work. *result, a JSON text in run->arena or static, is kept for the client (at ==
     * NULL: null); it is not looked at when operation_commit was called. An error becomes the
     * operation's, as problem details; PV_E_UNAVAILABLE, PV_E_RETRY and PV_E_TIMEOUT give it back
     * for another attempt instead. When operation_progress or operation_goes_on say no, return
     * PV_E_CANCELLED soon: within half a second. Report often, so that others need not wait long
     * for their turn. context: as operation_runner_create was given.
     */
    enum pv_code (*run)(void *context,
                        struct operation_run *run,
                        struct strview *result,
                        struct pv_error *err);
};

/*
 * Report how far the work is: done of total (RUN_UNKNOWN: nobody knows) in `unit`, a static plural
 * such as "resamples". false: stop now (cancelled, lease lost, or the process ends). Stores three
 * words and reads two: call it as often as every microsecond of work. done never falls for those
 * who look, whatever is reported. It may return after minutes only, while other operations have
 * their turn (operation/turns.h): hold no transaction and no lock.
 */
bool operation_progress(struct operation_run *run, int64_t done, int64_t total, const char *unit);
bool operation_goes_on(const struct operation_run *run);

/*
 * Succeed inside a transaction of the caller (begun with run->who), which holds the work's effects:
 * they and the end are committed together, exactly once. PV_E_CANCELLED, PV_E_LEASE_LOST: that
 * happened meanwhile; roll back and return that code.
 */
enum pv_code operation_finish(struct operation_run *run,
                              struct store_tx *tx,
                              struct strview result,
                              struct pv_error *err) PV_MUSTCHECK;
/* operation_finish, then store_commit; *tx is NULL afterwards, also on failure. Return what it
 * answers; *result of the run function is not needed then. */
enum pv_code operation_commit(struct operation_run *run,
                              struct store_tx **tx,
                              struct strview result,
                              struct pv_error *err) PV_MUSTCHECK;

struct operation_request {
    const char *kind;
    const char *application_id;      /* NULL or "": of none */
    struct strview application_name; /* at == NULL likewise */
    struct strview request;          /* JSON text of what is to be done, for run->request */
    const char *trace_id;
};
/*
 * Queue it within tx, for the principal of tx; id is the new operation's. Runs once tx is
 * committed (operation_runner_wake makes that soon). PV_E_QUOTA: the team has as many queued as
 * it may.
 */
enum pv_code operation_submit(struct store_tx *tx,
                              const struct config *config,
                              const struct operation_request *asked,
                              char id[37],
                              struct pv_error *err) PV_MUSTCHECK;

/* The row of a new operation, with an id of its own. */
struct operation_row operation_row_of(const struct operation_request *asked);

/* "host:pid": how the table names this process as the one that works on an operation. */
enum { OPERATION_WORKER_NAME = 96 };
void operation_name_worker(char name[OPERATION_WORKER_NAME]);

/* The data of the event operation.completed; NULL when memory is exhausted. application NULL: none.
 */
const char *operation_event_data(struct arena *arena,
                                 const char *id,
                                 struct strview kind,
                                 struct strview application,
                                 enum operation_status status);

#endif
