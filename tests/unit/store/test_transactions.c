/* Transactions on a real PostgreSQL: their deadlines, and how they fail. */
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "database.h"
#include "store/store_internal.h"
#include "threads/clock.h"

static struct database db;

/* Longer together than any one statement may take, with all that is granted on top. */
static void many_statements_may_take_their_time(void)
{
    enum { STATEMENTS = 16, TIMEOUT_MS = 500 };
    struct principal who = database_team(&db, "transactions");
    struct pv_error err = {0};
    struct store *strict = NULL;
    struct store_tx *tx = NULL;
    DO(store_open(&(struct store_options){.conninfo = db.url,
                                          .connections_max = 1,
                                          .wait_ms = 5000,
                                          .statement_timeout_ms = TIMEOUT_MS},
                  &strict, &err));
    uint64_t began_ns = clock_monotonic_ns();
    DO(store_begin(strict, &who, "", STORE_WRITE, &tx, &err));
    for (int i = 0; i < STATEMENTS; i++) {
        struct sql sql;
        tx_sql(tx, &sql, "SELECT pg_sleep(0.4) WHERE $1::uuid IS NOT NULL");
        DO(tx_defer(tx, &sql, &err));
    }
    DO(store_commit(&tx, &err));
    CHECK(clock_monotonic_ns() - began_ns > (uint64_t)(TIMEOUT_MS + 5000) * 1000000);
    store_close(strict);
}

/* A statement fails: nothing more is sent, and the connection serves the next transaction. */
static void a_failed_transaction_sends_nothing_more(void)
{
    struct principal who = database_team(&db, "failed");
    struct pv_error err = {0};
    struct store_tx *tx = NULL;
    struct sql sql;
    PGresult *result = NULL;
    DO(store_begin(db.store, &who, "", STORE_WRITE, &tx, &err));
    tx_sql(tx, &sql, "SELECT 1 / (CASE WHEN $1::uuid IS NULL THEN 1 ELSE 0 END)");
    CHECK(tx_query(tx, &sql, &result, &err) != PV_OK && result == NULL);
    for (int again = 0; again < 2; again++) {
        tx_sql(tx, &sql, "SELECT 1 WHERE $1::uuid IS NOT NULL");
        REFUSES(PV_E_INTERNAL, tx_query(tx, &sql, &result, &err));
        CHECK(strcmp(err.detail, "the transaction has failed already") == 0 && result == NULL);
        REFUSES(PV_E_INTERNAL, tx_results(tx, NULL, 0, &err));
        CHECK(strcmp(err.detail, "the transaction has failed already") == 0);
    }
    store_rollback(&tx);
    DO(store_begin(db.store, &who, "", STORE_WRITE, &tx, &err));
    tx_sql(tx, &sql, "SELECT 1 WHERE $1::uuid IS NOT NULL");
    DO(tx_query(tx, &sql, &result, &err));
    CHECK(PQntuples(result) == 1);
    PQclear(result);
    DO(store_commit(&tx, &err));
}

/* The server ends the connection during a statement: the database is unavailable, and a second later
 * it may be back. The next transaction has another connection. */
static void a_lost_connection_is_unavailable(void)
{
    struct principal who = database_team(&db, "lost");
    struct pv_error err = {0};
    struct store_tx *tx = NULL;
    struct sql sql;
    PGresult *result = NULL;
    DO(store_begin(db.store, &who, "", STORE_WRITE, &tx, &err));
    tx_sql(tx, &sql,
           "SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(5) WHERE $1::uuid IS NOT NULL");
    REFUSES(PV_E_UNAVAILABLE, tx_query(tx, &sql, &result, &err));
    CHECK(err.code == PV_E_UNAVAILABLE && err.retry_after_s == 1 && result == NULL);
    store_rollback(&tx);
    DO(store_begin(db.store, &who, "", STORE_WRITE, &tx, &err));
    DO(store_commit(&tx, &err));
}

/* The server ends the connection because nothing was asked for too long, which is what it says. The
 * next transaction has another connection. */
static void a_connection_that_was_idle_too_long_has_timed_out(void)
{
    struct principal who = database_team(&db, "idle");
    struct pv_error err = {0};
    struct store_tx *tx = NULL;
    struct sql sql;
    PGresult *result = NULL;
    DO(store_begin(db.store, &who, "", STORE_WRITE, &tx, &err));
    tx_sql(tx, &sql,
           "SELECT set_config('idle_in_transaction_session_timeout', '10', true)"
           " WHERE $1::uuid IS NOT NULL");
    DO(tx_query(tx, &sql, &result, &err));
    PQclear(result);
    (void)nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    tx_sql(tx, &sql, "SELECT 1 WHERE $1::uuid IS NOT NULL");
    REFUSES(PV_E_TIMEOUT, tx_query(tx, &sql, &result, &err));
    CHECK(err.code == PV_E_TIMEOUT && err.retry_after_s == 1 && result == NULL);
    store_rollback(&tx);
    DO(store_begin(db.store, &who, "", STORE_WRITE, &tx, &err));
    DO(store_commit(&tx, &err));
}

/* The connection breaks and nobody says why, between two statements and at the end. */
static void a_connection_that_breaks_is_unavailable(void)
{
    struct principal who = database_team(&db, "broken");
    struct pv_error err = {0};
    for (int at_the_end = 0; at_the_end < 2; at_the_end++) {
        struct store_tx *tx = NULL;
        struct sql sql;
        PGresult *result = NULL;
        DO(store_begin(db.store, &who, "", STORE_WRITE, &tx, &err));
        tx_sql(tx, &sql, "SELECT 1 WHERE $1::uuid IS NOT NULL");
        DO(tx_query(tx, &sql, &result, &err));
        PQclear(result);
        CHECK(shutdown(PQsocket(tx->conn), SHUT_RDWR) == 0);
        tx_sql(tx, &sql, "SELECT 1 WHERE $1::uuid IS NOT NULL");
        REFUSES(PV_E_UNAVAILABLE,
                at_the_end ? store_commit(&tx, &err) : tx_query(tx, &sql, &result, &err));
        CHECK(err.code == PV_E_UNAVAILABLE && err.retry_after_s == 1);
        CHECK(strcmp(err.detail,
                     at_the_end ? "the connection to the database was lost while committing, so it "
                                  "is not known whether the change was made; ask again with the "
                                  "same Idempotency-Key"
                                : "the database is not available just now") == 0);
        if (!at_the_end) {
            REFUSES(PV_E_INTERNAL, tx_query(tx, &sql, &result, &err));
            store_rollback(&tx);
        }
        DO(store_begin(db.store, &who, "", STORE_WRITE, &tx, &err));
        DO(store_commit(&tx, &err));
    }
}

int main(void)
{
    db = database_open(1);
    many_statements_may_take_their_time();
    a_failed_transaction_sends_nothing_more();
    a_lost_connection_is_unavailable();
    a_connection_that_was_idle_too_long_has_timed_out();
    a_connection_that_breaks_is_unavailable();
    database_close(&db);
    return 0;
}
