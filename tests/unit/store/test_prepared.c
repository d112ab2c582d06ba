/* Proves on a real PostgreSQL that frequent inserts are prepared once a connection, and that a
 * failure between preparing and running leaves no connection that remembers wrongly. */
#include <math.h>
#include <string.h>

#include "database.h"
#include "store/sql/prepared.h"
#include "store/store_internal.h"
#include "threads/clock.h"

static struct database db;
static struct pv_error err;

static struct store_tx *begin(const struct principal *who, enum store_mode mode)
{
    struct store_tx *tx = NULL;
    DO(store_begin(db.store, who, "req-1", mode, &tx, &err));
    return tx;
}

static struct advice_row new_advice(void)
{
    struct advice_row advice = {.application_name = strview_of("job"),
                                .objective = strview_of("min_time"),
                                .feasible = true,
                                .executors = 2,
                                .problem_size = (double)NAN,
                                .cores_per_executor = RUN_UNKNOWN,
                                .request = strview_of("{}"),
                                .document = strview_of("{}")};
    clock_uuid7(advice.id);
    return advice;
}

static void advise(const struct principal *who)
{
    struct advice_row advice = new_advice();
    struct store_tx *tx = begin(who, STORE_WRITE);
    DO(store_advice_insert_commit(&tx, &advice, strview_of("{}"), &err));
}

/* How many statements the pool's one connection has prepared. */
static int64_t count_prepared(const struct principal *who, struct arena *arena)
{
    struct store_tx *tx = begin(who, STORE_READ);
    struct sql sql;
    tx_sql(tx, &sql, "SELECT count(*) FROM pg_prepared_statements WHERE $1::uuid IS NOT NULL");
    PGresult *result;
    DO(tx_query(tx, &sql, &result, &err));
    struct row row = row_at(result, 0, arena);
    int64_t n = row_int(&row);
    PQclear(result);
    store_rollback(&tx);
    return n;
}

static void frequent_statements_are_prepared_once(struct arena *arena)
{
    struct principal who = database_team(&db, "prepared");
    advise(&who); /* may be the connection's first transaction, which tells whose server it is */
    advise(&who);
    int64_t after_two = count_prepared(&who, arena);
    CHECK(after_two == 4); /* settings, advice, audit, event */
    for (int i = 0; i < 5; i++)
        advise(&who);
    CHECK(count_prepared(&who, arena) == after_two);
    CHECK(store_statistics(db.store).connects == 1);
}

/* The audit row of a team that is not there fails while the statement behind it is being prepared.
 */
static void a_failure_while_preparing_costs_the_connection(struct arena *arena)
{
    struct database fresh = database_open(1);
    struct database all = db;
    db = fresh;
    struct principal who = database_team(&db, "unprepared");
    struct principal nobody = who;
    clock_uuid7(nobody.team_id);
    (void)count_prepared(&who, arena);
    struct store_tx *tx = begin(&nobody, STORE_WRITE);
    struct advice_row advice = new_advice();
    pv_error_clear(&err);
    CHECK(store_advice_insert_commit(&tx, &advice, strview_of("{}"), &err) != PV_OK);
    /* The connection is given up, but it was not lost: nothing of this is in doubt. */
    CHECK(err.code != PV_E_UNAVAILABLE && strstr(err.detail, "lost") == NULL);
    for (int i = 0; i < 3; i++)
        advise(&who);
    CHECK(count_prepared(&who, arena) == 4);
    CHECK(store_statistics(db.store).connects == 2);
    database_close(&db);
    db = all;
}

static void another_server_means_no_prepared_statements(void)
{
    PGconn *conn = PQconnectdb(db.url);
    char name[PREPARED_NAME_MAX];
    CHECK(PQstatus(conn) == CONNECTION_OK && prepared_attach(conn));
    CHECK(prepared_find(conn, "SELECT 1", name) == PREPARED_NEVER); /* nothing known yet */
    prepared_learn_backend(conn, PQbackendPID(conn) + 1);
    CHECK(prepared_find(conn, "SELECT 1", name) == PREPARED_NEVER);
    prepared_learn_backend(conn, PQbackendPID(conn));
    CHECK(prepared_find(conn, "SELECT 1", name) == PREPARED_FIRST);
    CHECK(prepared_note(conn, "SELECT 1"));
    CHECK(prepared_find(conn, "SELECT 1", name) == PREPARED_READY);
    CHECK(prepared_find(conn, "SELECT 2", name) == PREPARED_FIRST);
    PQfinish(conn);
}

int main(void)
{
    struct arena arena;
    arena_init(&arena, 0);
    db = database_open(1);
    frequent_statements_are_prepared_once(&arena);
    a_failure_while_preparing_costs_the_connection(&arena);
    another_server_means_no_prepared_statements();
    database_close(&db);
    arena_fini(&arena);
    return 0;
}
