#ifndef STORE_STORE_INTERNAL_H
#define STORE_STORE_INTERNAL_H

#include <libpq-fe.h>

#include "core/history/run.h"
#include "store/store.h"
#include "store/usage/tally.h"

/*
 * Shared by the files of this directory: connections, statements with parameters, and readers of
 * result rows. An aggregate's file reads as SQL and a mapping of fields; nothing here knows what
 * they mean.
 */

/* --- connections (pool.c, conninfo.c, sqlstate.c) --- */

/* conninfo with our defaults where it does not say: application_name, connect_timeout, keepalives,
 * tcp_user_timeout, client_encoding. Arrays end in NULL and belong to the caller (conninfo_free).
 * PV_E_INVALID when the string cannot be parsed. */
struct conninfo {
    char **keywords;
    char **values;
};
enum pv_code
conninfo_parse(const char *text, struct conninfo *parsed, struct pv_error *err) PV_MUSTCHECK;
void conninfo_free(struct conninfo *parsed);

/* A new connection, blocking for at most its connect_timeout per host; not yet in pipeline mode.
 * PV_E_UNAVAILABLE. */
enum pv_code
connection_open(const struct conninfo *info, PGconn **conn, struct pv_error *err) PV_MUSTCHECK;

/* A connection that was alive a moment ago, in pipeline mode, no transaction. */
enum pv_code pool_acquire(struct store *store, PGconn **conn, struct pv_error *err) PV_MUSTCHECK;
/* Back to the pool; closed when it is not healthy or not idle. Accepts NULL. */
void pool_release(struct store *store, PGconn *conn, bool healthy);
unsigned pool_statement_timeout_ms(const struct store *store);
const int64_t *pool_quotas(const struct store *store); /* QUOTAS of them */
struct tally *pool_tally(const struct store *store);
const struct conninfo *pool_conninfo(const struct store *store);
bool pool_reports_events(const struct store *store); /* somebody of this process listens */
/* To them; nothing where nobody listens. */
void pool_report_events(const struct store *store, bool urgent);

/* A transaction that wrote events and that nobody of this process hears of: PostgreSQL notifies
 * others as it commits (outbox/event_listener.c). Deferred. */
enum pv_code events_report(struct store_tx *tx, struct pv_error *err) PV_MUSTCHECK;

/* What an SQLSTATE means to a caller; *discard: the connection is of no more use. NULL or "" (no
 * state: the connection is gone) is PV_E_UNAVAILABLE. */
enum pv_code sqlstate_code(const char *state, bool *discard);

/* Record a failed result (NULL: the connection is gone) in err, with retry_after_s where waiting
 * helps; what nobody expects is logged. */
enum pv_code
sqlstate_fail(const PGresult *result, const char *request_id, bool *discard, struct pv_error *err);

/* --- statements (sql.c) --- */

enum { SQL_PARAMETERS_MAX = 128 };

/*
 * A statement and its parameters, all sent in binary or as text that needs no escaping. Values are
 * borrowed until the statement is sent. What is unknown (NAN, RUN_UNKNOWN, RUN_NO_INSTANT, at ==
 * NULL, "" for a uuid) is NULL. Arrays are built in `arena`; when that is exhausted `exhausted` is
 * set and sending answers PV_E_MEMORY.
 */
struct sql {
    const char *text;
    struct arena *arena;
    int n;
    bool exhausted;
    bool repeated; /* worth preparing: always the same text, run often, any plan is as good */
    Oid types[SQL_PARAMETERS_MAX];
    const char *values[SQL_PARAMETERS_MAX];
    int lengths[SQL_PARAMETERS_MAX];
    int formats[SQL_PARAMETERS_MAX];
    unsigned char fixed[SQL_PARAMETERS_MAX][8];
};

void sql_init(struct sql *sql, struct arena *arena, const char *text);
void sql_uuid(struct sql *sql, const char *uuid);
void sql_text(struct sql *sql, struct strview text);
void sql_json(struct sql *sql, struct strview text);
void sql_bytes(struct sql *sql, const void *at, size_t n);
void sql_count(struct sql *sql, int64_t count); /* RUN_UNKNOWN is NULL */
void sql_int(struct sql *sql, int64_t number);
void sql_double(struct sql *sql, double number);
void sql_bool(struct sql *sql, bool truth);
void sql_instant(struct sql *sql, int64_t us);
/* Likewise, but what is unknown is `open`: "infinity" or "-infinity", a literal. */
void sql_bound(struct sql *sql, int64_t us, const char *open);

/* Arrays over a member of an array of structs: its first address, how many, how far apart. */
void sql_counts(struct sql *sql, const int64_t *first, size_t n, size_t stride);
void sql_doubles(struct sql *sql, const double *first, size_t n, size_t stride);
void sql_bools(struct sql *sql, const bool *first, size_t n, size_t stride);
void sql_texts(struct sql *sql, const struct strview *first, size_t n, size_t stride);
void sql_uuids(struct sql *sql, const char *first, size_t n, size_t stride);
/* Two parameters: keys and values. */
void sql_pairs(struct sql *sql, const struct run_label *pairs, size_t n);

/* --- transactions (transaction.c) --- */

struct store_tx {
    struct store *store;
    PGconn *conn; /* taken at the first statement */
    struct principal who;
    char application_id[37]; /* what events and kept replies are about; "": none */
    char request_id[128];
    enum store_mode mode;
    bool begun;        /* BEGIN was sent */
    bool failed;       /* can only be rolled back */
    bool broken;       /* the connection is not used again */
    bool lost;         /* nothing more is heard from the server */
    bool learning;     /* the results to come begin with BEGIN and the settings */
    bool has_events;   /* an event was written: whoever dispatches them is to hear of it */
    bool is_urgent;    /* likewise, a webhook was changed, or a delivery asked for */
    bool preparing;    /* a statement was sent to be prepared and its result is still to come */
    unsigned preamble; /* results of BEGIN and the settings still to come */
    unsigned deferred; /* statements sent whose results say nothing but success */
    unsigned queried;  /* statements sent whose results are wanted */
    struct arena scratch;
    unsigned char idempotency_hash[32]; /* from claim to keep */
    struct tally_amounts owed;          /* to the tally, where this is not committed */
    int64_t run_bytes;                  /* of runs written and not yet added to their application */
};

/* A statement of tx; its first parameter, $1, is the team. */
void tx_sql(struct store_tx *tx, struct sql *sql, const char *text);

/* Put the statement into the pipeline. Its result comes with the next tx_results. */
enum pv_code tx_send(struct store_tx *tx, const struct sql *sql, struct pv_error *err) PV_MUSTCHECK;
/* Likewise for a statement that only has to succeed: costs no round trip of its own. libpq copies
 * text and values before this returns, so sql and all it points at may go. */
enum pv_code
tx_defer(struct store_tx *tx, const struct sql *sql, struct pv_error *err) PV_MUSTCHECK;
/* Until the transaction ends no other one of the team gets the same lock: for things of a kind, that
 * what is counted of them still holds when one more is there. Deferred. */
enum pv_code tx_lock_team(struct store_tx *tx, const char *kind, struct pv_error *err) PV_MUSTCHECK;
/* One round trip: results[i] of the i-th tx_send since the last time, in order; n must be their
 * number. On failure there are none and the transaction can only be rolled back. tx_defer may not
 * come after a tx_send that still waits for its result. */
enum pv_code
tx_results(struct store_tx *tx, PGresult *results[], size_t n, struct pv_error *err) PV_MUSTCHECK;
/* tx_send and tx_results of one. */
enum pv_code tx_query(struct store_tx *tx,
                      const struct sql *sql,
                      PGresult **result,
                      struct pv_error *err) PV_MUSTCHECK;

/* --- across teams, for the command line, as the schema's owner (access/owner.c) --- */

/* One transaction of nobody's team that sees all of them, closed wherever its block is left:
 * `registry_auto_t registry = {0};`. */
struct registry {
    struct store *store;
    struct store_tx *tx;
};
#define registry_auto_t __attribute__((cleanup(registry_close))) struct registry
void registry_close(struct registry *registry);
/* PV_E_FORBIDDEN unless the role may do what the schema's owner may: for any other the registry of
 * teams and tokens is empty or refused, which would say nothing of why. */
enum pv_code registry_open(const char *owner_conninfo,
                           enum store_mode mode,
                           struct registry *registry,
                           struct pv_error *err) PV_MUSTCHECK;
/* Likewise, with these quotas for teams that have none of their own. */
enum pv_code registry_open_bounded(const char *owner_conninfo,
                                   const int64_t quotas[QUOTAS],
                                   enum store_mode mode,
                                   struct registry *registry,
                                   struct pv_error *err) PV_MUSTCHECK;
/* From here on it is a transaction of that team. */
enum pv_code
registry_enter(struct store_tx *tx, const char team_id[37], struct pv_error *err) PV_MUSTCHECK;
/* The team that the statement finds; `missing` says what there is not when it finds none. */
enum pv_code registry_read_team(struct store_tx *tx,
                                const struct sql *sql,
                                const char *missing,
                                char team_id[37],
                                struct pv_error *err) PV_MUSTCHECK;

/* The team of that name. PV_E_NOT_FOUND. */
enum pv_code registry_find_team(struct store_tx *tx,
                                const char *name,
                                char team_id[37],
                                struct pv_error *err) PV_MUSTCHECK;

/* --- lists --- */

/*
 * tx_query of a list: a statement whose rows come in the order of an index and end with a LIMIT.
 * Planned once a connection where that is possible, for any parameters. Told nothing of them the
 * server takes every month for nearly empty and would rather read and sort all of it; for the
 * length of this statement it is made to walk.
 */
enum pv_code
tx_walk(struct store_tx *tx, struct sql *sql, PGresult **result, struct pv_error *err) PV_MUSTCHECK;

/* --- rows (rows.c) --- */

/*
 * Reads the columns of one row from left to right; results are binary. Copies go into `arena`;
 * whether it was exhausted or a column was not what was asked for is remembered, so a mapping is
 * checked once, at its end (row_done). NULL reads as what is unknown.
 */
struct row {
    const PGresult *result;
    int at;
    int column;
    struct arena *arena;
    bool exhausted;  /* the arena was */
    bool unreadable; /* a value is not what was asked for, or damaged */
};

/* A result that is given back wherever its block is left: `result_auto_t *result = NULL;`. */
#define result_auto_t __attribute__((cleanup(result_clear))) PGresult
void result_clear(PGresult **result);

/* Likewise several: `results_auto_t results = {{NULL}};`. */
struct results {
    PGresult *of[4];
};
#define results_auto_t __attribute__((cleanup(results_clear))) struct results
void results_clear(struct results *results);

struct row row_at(const PGresult *result, int at, struct arena *arena);
size_t row_count(const PGresult *result);
bool row_failed(const struct row *row); /* either way, so far */
/* PV_E_MEMORY: it was exhausted; PV_E_INTERNAL: it was unreadable. */
enum pv_code row_done(const struct row *row, struct pv_error *err) PV_MUSTCHECK;
bool row_is_null(const struct row *row); /* the next column; does not move */
void row_uuid(struct row *row, char out[37]);
struct strview row_text(struct row *row);  /* NUL-terminated copy */
struct strview row_bytes(struct row *row); /* likewise */
int64_t row_int(struct row *row);
double row_double(struct row *row);
bool row_bool(struct row *row);
int64_t row_instant(struct row *row);
size_t row_array_length(const struct row *row); /* of the next column; does not move */
int64_t *row_counts(struct row *row, size_t *n);
double *row_doubles(struct row *row, size_t *n); /* NULL when the column is */
bool *row_bools(struct row *row, size_t *n);
struct strview *row_texts(struct row *row, size_t *n);
struct run_label *row_pairs(struct row *row, size_t *n); /* two columns */

/* --- what writers leave behind (journal.c) --- */

/* An audit row with the transaction: action "run.insert", subject "application/x". Deferred. */
enum pv_code journal_audit(struct store_tx *tx,
                           const char *action,
                           const char *kind,
                           struct strview subject,
                           struct pv_error *err) PV_MUSTCHECK;

/* One transaction of nobody's team around one statement: look-ups before a team is known. */
enum pv_code store_query_alone(struct store *store,
                               const struct sql *sql,
                               PGresult **result,
                               struct pv_error *err) PV_MUSTCHECK;

/* Version of the newest migration built in. */
unsigned migrate_newest(void);

#endif
