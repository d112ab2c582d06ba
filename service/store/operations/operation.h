#ifndef STORE_OPERATIONS_OPERATION_H
#define STORE_OPERATIONS_OPERATION_H

#include "core/history/run.h"
#include "store/store.h"

/*
 * Long work (migration 0010). Calls that take the store look across teams, through one function of
 * the schema's owner each, and answer ids and numbers; those that take a transaction work on its
 * team alone. Texts of results live in `arena`.
 */
enum operation_status {
    OPERATION_QUEUED,
    OPERATION_RUNNING,
    OPERATION_SUCCEEDED,
    OPERATION_FAILED,
    OPERATION_CANCELLED
};

/* "queued", ... as it stands on the wire. */
const char *operation_status_word(enum operation_status status);
bool operation_status_parse(const char *word, enum operation_status *status);
bool operation_has_ended(enum operation_status status);

struct operation_row {
    char id[37];
    struct strview kind;
    char application_id[37];         /* "" for none */
    struct strview application_name; /* at == NULL: none */
    char token_id[37];
    struct strview actor; /* who asked */
    unsigned scopes;
    struct strview request_id;
    struct strview trace_id;
    struct strview request; /* JSON text; not loaded by lists */
    enum operation_status status;
    int64_t done;
    int64_t total;       /* RUN_UNKNOWN */
    struct strview unit; /* at == NULL: unknown */
    int64_t attempt;
    int64_t attempt_done;
    int64_t losses;
    int64_t events;        /* number of the last one */
    int64_t version;       /* of what people see */
    struct strview result; /* JSON text; not loaded by lists */
    struct strview error;  /* JSON text of a problem */
    int64_t created_us;
    int64_t started_us; /* RUN_NO_INSTANT where unknown, as those that follow */
    int64_t updated_us;
    int64_t finished_us;
    int64_t expires_us;
    int64_t cancel_asked_us;
    int64_t position; /* among the team's queued ones, from 1; RUN_UNKNOWN: not queued */
};

/* --- what callers of a team do --- */

/*
 * Queue a new operation: id, kind, application (with its id, or none), request and trace_id are the
 * caller's; who asks and the request id are the transaction's. With the audit row
 * "operation.submit". At most queued_max of the team may be queued: PV_E_QUOTA beyond.
 */
enum pv_code store_operation_insert(struct store_tx *tx,
                                    const struct operation_row *operation,
                                    int64_t queued_max,
                                    struct pv_error *err) PV_MUSTCHECK;

/* A new one that is running already, in the hands of the caller for lease_ms: its first attempt.
 * Otherwise as store_operation_insert, but there is no limit. The application may have a name and
 * no id. */
enum pv_code store_operation_insert_running(struct store_tx *tx,
                                            const struct operation_row *operation,
                                            const char *worker,
                                            int64_t lease_ms,
                                            struct pv_error *err) PV_MUSTCHECK;

/* PV_E_NOT_FOUND; PV_E_GONE once its time is over. */
enum pv_code store_operation_find(struct store_tx *tx,
                                  struct arena *arena,
                                  const char *id,
                                  struct operation_row *operation,
                                  struct pv_error *err) PV_MUSTCHECK;

struct operation_filter {
    const char *status; /* NULL: any, as the two below */
    const char *kind;
    const char *application_name;
    int64_t since_us;  /* created then or later; RUN_NO_INSTANT: any */
    int64_t until_us;  /* created before */
    int64_t before_us; /* cursor; RUN_NO_INSTANT: first page */
    char before_id[37];
    size_t limit;
};
struct operation_list {
    struct operation_row *items; /* newest first */
    size_t n;
    bool more;
};
enum pv_code store_operation_list(struct store_tx *tx,
                                  struct arena *arena,
                                  const struct operation_filter *filter,
                                  struct operation_list *list,
                                  struct pv_error *err) PV_MUSTCHECK;

/*
 * Ask for the end: a queued one is cancelled, a running one is asked to stop, one that has ended
 * stays as it is. *changed: it was asked for the first time; then with the audit row
 * "operation.cancel". Nothing a running one still does takes effect through
 * store_operation_finish any more. keep_s: how long what became of it is kept. As
 * store_operation_find; the event of the outbox is the caller's, where it ended by this.
 */
enum pv_code store_operation_cancel(struct store_tx *tx,
                                    struct arena *arena,
                                    const char *id,
                                    int64_t keep_s,
                                    struct operation_row *operation,
                                    bool *changed,
                                    struct pv_error *err) PV_MUSTCHECK;

/* --- what those that do the work need --- */

struct operation_key {
    char team_id[37];
    char id[37];
    int64_t attempt; /* the fence: what an earlier attempt writes is refused */
};

struct operation_claim {
    const char *worker;
    const struct strview *kinds;
    size_t n_kinds;
    int64_t lease_ms;
    int64_t team_running_max;
    int64_t waited_ms;                  /* none that was asked for later than that */
    const struct operation_key *barred; /* none of their teams */
    size_t n_barred;
};
/* Take one, of the team with the fewest running (and fewer than team_running_max) the one that has
 * waited longest. *taken is false when there is none. */
enum pv_code store_operation_claim(struct store *store,
                                   struct arena *arena,
                                   const struct operation_claim *claim,
                                   struct operation_key *key,
                                   bool *taken,
                                   struct pv_error *err) PV_MUSTCHECK;

/* All of an operation that this attempt still holds (or lost: see below); PV_E_LEASE_LOST else. */
enum pv_code store_operation_load(struct store_tx *tx,
                                  struct arena *arena,
                                  const struct operation_key *key,
                                  struct operation_row *operation,
                                  struct pv_error *err) PV_MUSTCHECK;

/* Likewise without its request and result, for giving it up: little, however large they are. */
enum pv_code store_operation_load_head(struct store_tx *tx,
                                       struct arena *arena,
                                       const struct operation_key *key,
                                       struct operation_row *operation,
                                       struct pv_error *err) PV_MUSTCHECK;

struct operation_held {
    struct operation_key key;
    int64_t done;
    int64_t total;       /* RUN_UNKNOWN */
    struct strview unit; /* at == NULL: unknown */
    bool still;          /* written: the lease holds on */
    bool cancel;         /* written: it is to stop */
};
/* One statement for all: renew the leases, write the progress that moved. */
enum pv_code store_operation_renew(struct store *store,
                                   struct arena *arena,
                                   int64_t lease_ms,
                                   struct operation_held held[],
                                   size_t n,
                                   struct pv_error *err) PV_MUSTCHECK;

/* At most `limit` whose leases ran out. */
enum pv_code store_operation_lost(struct store *store,
                                  struct arena *arena,
                                  size_t limit,
                                  struct operation_key **keys,
                                  size_t *n,
                                  struct pv_error *err) PV_MUSTCHECK;

/*
 * Back into the queue, where it stands as early as before. loss: count it, and let it rest: a
 * second after the first, twice as long after each further one, five minutes at most.
 * lost_only: only if the lease ran out. PV_E_LEASE_LOST: not this attempt's any more.
 */
enum pv_code store_operation_requeue(struct store_tx *tx,
                                     const struct operation_key *key,
                                     bool loss,
                                     bool lost_only,
                                     struct pv_error *err) PV_MUSTCHECK;

struct operation_end {
    enum operation_status status;
    struct strview result; /* JSON text, with OPERATION_SUCCEEDED */
    struct strview error;  /* JSON text, with OPERATION_FAILED */
    struct strview event;  /* JSON text for the outbox: operation.completed */
    int64_t done;          /* as the attempt reported last; it never goes back */
    int64_t total;         /* RUN_UNKNOWN */
    struct strview unit;   /* at == NULL: unknown */
    int64_t keep_s;
    bool lost_only; /* only if the lease ran out */
};
/*
 * End the attempt, with the event for the outbox; the caller commits, with whatever else tx did.
 * PV_E_LEASE_LOST: the attempt does not hold it any more; PV_E_CANCELLED: it is to succeed although
 * its cancellation was asked for. Nothing of tx may be committed then.
 */
enum pv_code store_operation_finish(struct store_tx *tx,
                                    const struct operation_key *key,
                                    const struct operation_end *end,
                                    struct pv_error *err) PV_MUSTCHECK;

/* The outbox event of one that was cancelled while queued. */
enum pv_code store_operation_tell(struct store_tx *tx,
                                  const struct operation_row *operation,
                                  struct strview event,
                                  struct pv_error *err) PV_MUSTCHECK;

struct operation_counts {
    int64_t queued;
    int64_t running;
    double waited_s; /* the oldest queued one */
};
enum pv_code store_operation_count(struct store *store,
                                   struct operation_counts *counts,
                                   struct pv_error *err) PV_MUSTCHECK;

/* --- what those that watch need --- */

struct operation_watched {
    char team_id[37];
    char id[37];
    char token_id[37]; /* who watches */
    int64_t events;    /* written: number of the last event, RUN_UNKNOWN: it is not there */
    bool ended;        /* written */
    bool revoked;      /* written: the token is no good any more */
};
enum pv_code store_operation_watch(struct store *store,
                                   struct arena *arena,
                                   struct operation_watched watched[],
                                   size_t n,
                                   struct pv_error *err) PV_MUSTCHECK;

struct operation_event {
    int64_t number;
    bool is_progress;
    enum operation_status status;
    bool cancelling;
    int64_t attempt;
    int64_t done;
    int64_t total;
    struct strview unit;
    int64_t at_us;
};
/* The next `limit` events behind number `after`. */
enum pv_code store_operation_events(struct store_tx *tx,
                                    struct arena *arena,
                                    const char *id,
                                    int64_t after,
                                    size_t limit,
                                    struct operation_event **events,
                                    size_t *n,
                                    struct pv_error *err) PV_MUSTCHECK;

/* --- for the command line, as the schema's owner, who sees all teams --- */

struct operation_listed {
    struct strview team_name;
    struct strview worker; /* the process that holds or last held it; at == NULL: none did */
    struct operation_row operation;
};
/* Newest first, at most filter->limit; team_name NULL: of all teams. */
enum pv_code store_owner_operation_list(const char *owner_conninfo,
                                        struct arena *arena,
                                        const char *team_name,
                                        const struct operation_filter *filter,
                                        struct operation_listed **items,
                                        size_t *n,
                                        struct pv_error *err) PV_MUSTCHECK;

/* store_operation_cancel of whichever team; event: the data of operation.completed where it ended
 * by this, in the arena (NULL: no memory). */
enum pv_code store_owner_operation_cancel(const char *owner_conninfo,
                                          struct arena *arena,
                                          const char *id,
                                          int64_t keep_s,
                                          const char *(*event)(struct arena *arena,
                                                               const char *id,
                                                               struct strview kind,
                                                               struct strview application,
                                                               enum operation_status status),
                                          struct operation_row *operation,
                                          struct pv_error *err) PV_MUSTCHECK;

/* --- housekeeping --- */

/* At most `batch` whose time is over lose all but that they were there; *gone counts them. */
enum pv_code store_operations_expire(struct store_tx *tx,
                                     size_t batch,
                                     size_t *gone,
                                     struct pv_error *err) PV_MUSTCHECK;
/* And at most `batch` that expired more than `days` ago go altogether. */
enum pv_code store_operations_remove(struct store_tx *tx,
                                     int64_t days,
                                     size_t batch,
                                     size_t *gone,
                                     struct pv_error *err) PV_MUSTCHECK;

#endif
