#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/access.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/principal.h"

/*
 * PostgreSQL behind structs: SQL text and PGresult never leave this directory. A struct store is a
 * pool of connections, safe from any thread; a struct store_tx is one transaction of one team and
 * belongs to one thread at a time. Everything works behind PgBouncer in transaction mode (no
 * session state; named statements only where the server is seen to stay the same).
 *
 * Codes every call here may answer: PV_E_UNAVAILABLE (no connection within the wait, server gone,
 * starting, read only; err->retry_after_s is set), PV_E_RETRY (serialisation failure or deadlock),
 * PV_E_TIMEOUT (statement timeout), PV_E_MEMORY, PV_E_INTERNAL. After any failure the transaction
 * can only be rolled back.
 */
struct store;

struct store_options {
    const char *conninfo; /* libpq connection string or URI, several hosts allowed */
    unsigned connections_max;
    unsigned wait_ms; /* for a free connection */
    unsigned statement_timeout_ms;
    int64_t quotas[QUOTAS]; /* of a team that has none of its own; 0: no bound */
};

/* Opens lazily: succeeds while PostgreSQL is down. PV_E_INVALID: the connection string cannot be
 * read (err does not quote it: it may hold a password); PV_E_MEMORY. */
enum pv_code
store_open(const struct store_options *options, struct store **store, struct pv_error *err);
void store_close(struct store *store); /* after the last transaction */

/*
 * PV_OK when a connection answers and this program works with the schema (for /readyz): it has all
 * migrations of this program, and none that asks for a newer one.
 *
 * clock            written once the database has answered; may be NULL
 * PV_E_UNAVAILABLE also: not migrated yet, or too far
 */
struct store_clock {
    int64_t ahead_us;  /* of the database's clock, compared with this machine's */
    int64_t within_us; /* how exactly that is known: half the time that the question took */
};
enum pv_code
store_ready(struct store *store, struct store_clock *clock, struct pv_error *err) PV_MUSTCHECK;

struct store_statistics {
    unsigned connections_in_use;
    unsigned connections_idle;
    unsigned waiting;
    uint64_t connects;
    uint64_t connect_failures;
};
struct store_statistics store_statistics(struct store *store);

/* --- transactions --- */

struct store_tx;

enum store_mode { STORE_READ, STORE_WRITE };

/*
 * Begin for the team of `who`; row level security sees that team and nothing else. request_id (may
 * be "") goes into audit rows. BEGIN and the team setting travel with the first statement.
 */
enum pv_code store_begin(struct store *store,
                         const struct principal *who,
                         const char *request_id,
                         enum store_mode mode,
                         struct store_tx **tx,
                         struct pv_error *err) PV_MUSTCHECK;

/* Commit and give the connection back; *tx is NULL afterwards, also on failure. */
enum pv_code store_commit(struct store_tx **tx, struct pv_error *err) PV_MUSTCHECK;

/* Undo and give the connection back; accepts a NULL *tx. */
void store_rollback(struct store_tx **tx);

/* A transaction that is undone, and its connection given back, wherever its block is left without a
 * commit: `store_tx_auto_t *tx = NULL;`. */
#define store_tx_auto_t __attribute__((cleanup(store_rollback))) struct store_tx

/*
 * From here on the transaction is about this application ("": about none): the events and the reply
 * it keeps are deleted with the application. Calls that write runs, advice, operations and
 * applications set it themselves.
 */
void store_set_application(struct store_tx *tx, const char *application_id);

/* --- migrations --- */

struct store_migrate_options {
    const char *conninfo;     /* of the schema's owner */
    unsigned lock_timeout_ms; /* a statement waits no longer for a lock, others wait behind it */
    unsigned lock_wait_s;     /* after which a migration is no longer tried again */
    /* Wait that long before it is tried again; false: don't. NULL: sleep. */
    bool (*pause)(void *context, long ms);
    void *context;
};

/*
 * Apply the numbered migrations built into the program that the database lacks, one process at a
 * time. While they wait for a lock nobody else waits for longer than lock_timeout_ms. A database
 * that is newer than the program is left as it is, if it says that the program still works with it.
 * *applied counts the migrations.
 *
 * PV_E_RETRY: others use a table or apply migrations themselves, still; PV_E_INTERNAL: PostgreSQL
 * refuses a statement, or the database is not what this program knows.
 */
enum pv_code store_migrate(const struct store_migrate_options *options,
                           unsigned *applied,
                           struct pv_error *err) PV_MUSTCHECK;

#endif
