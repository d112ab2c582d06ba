/* Deadlines of transactions on a real PostgreSQL. */
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

int main(void)
{
    db = database_open(1);
    many_statements_may_take_their_time();
    database_close(&db);
    return 0;
}
