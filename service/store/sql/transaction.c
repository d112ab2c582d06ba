#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/duty.h"
#include "store/sql/pipeline.h"
#include "store/sql/prepared.h"
#include "store/store_internal.h"
#include "threads/clock.h"

enum {
    ANSWER_SLACK_MS = 5000, /* beyond the server's own statement timeout */
    FLUSH_EVERY = 8,        /* deferred statements; see tx_defer */
    SCRATCH_LIMIT = 0
};

enum pv_code store_begin(struct store *store,
                         const struct principal *who,
                         const char *request_id,
                         enum store_mode mode,
                         struct store_tx **tx,
                         struct pv_error *err)
{
    struct store_tx *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pv_no_memory(err);
    made->store = store;
    made->who = *who;
    made->mode = mode;
    (void)snprintf(made->request_id, sizeof made->request_id, "%s",
                   request_id == NULL ? "" : request_id);
    arena_init(&made->scratch, SCRATCH_LIMIT);
    *tx = made;
    return PV_OK;
}

static void transaction_end(struct store_tx **tx)
{
    struct store_tx *old = *tx;
    pool_release(old->store, old->conn, !old->broken);
    arena_fini(&old->scratch);
    free(old);
    *tx = NULL;
}

/* --- sending --- */

/* The connection is of no more use, whatever was said on it. */
static enum pv_code transaction_lost(struct store_tx *tx, struct pv_error *err)
{
    bool discard;
    tx->failed = true;
    tx->broken = true;
    tx->lost = true;
    return sqlstate_fail(NULL, tx->request_id, &discard, err);
}

static bool send_plain(struct store_tx *tx, const struct sql *sql)
{
    return PQsendQueryParams(tx->conn, sql->text, sql->n, sql->types, sql->values, sql->lengths,
                             sql->formats, 1) == 1;
}

/* Its result comes before those that are wanted, so it may only be sent before them. */
static bool transaction_prepare(struct store_tx *tx, const struct sql *sql, const char *name)
{
    if (PQsendPrepare(tx->conn, name, sql->text, sql->n, sql->types) != 1)
        return false;
    tx->preparing = true;
    tx->deferred++;
    return prepared_note(tx->conn, sql->text);
}

static bool send_statement(struct store_tx *tx, const struct sql *sql)
{
    char name[PREPARED_NAME_MAX];
    duty_waits();
    enum prepared_step step =
        sql->repeated ? prepared_find(tx->conn, sql->text, name) : PREPARED_NEVER;
    if (step == PREPARED_NEVER || (step == PREPARED_FIRST && tx->queried > 0))
        return send_plain(tx, sql);
    if (step == PREPARED_FIRST && !transaction_prepare(tx, sql, name))
        return false;
    return PQsendQueryPrepared(tx->conn, name, sql->n, sql->values, sql->lengths, sql->formats,
                               1) == 1;
}

static bool send_word(struct store_tx *tx, const char *word)
{
    duty_waits();
    return PQsendQueryParams(tx->conn, word, 0, NULL, NULL, NULL, NULL, 1) == 1;
}

/*
 * Settings end with the transaction, so that PgBouncer may hand the server on after it. Compiling a
 * statement pays where it runs for seconds; over many months the planner thinks that of every list,
 * and each then took half a second.
 */
static bool send_settings(struct store_tx *tx)
{
    char timeout[16];
    (void)snprintf(timeout, sizeof timeout, "%u", pool_statement_timeout_ms(tx->store));
    struct sql sql;
    sql_init(&sql, &tx->scratch,
             "SELECT set_config('provisor.team_id', $1, true),"
             " set_config('statement_timeout', $2, true),"
             " set_config('idle_in_transaction_session_timeout', '60000', true),"
             " set_config('jit', 'off', true), pg_backend_pid()");
    sql.repeated = true;
    sql_text(&sql, strview_of(tx->who.team_id));
    sql_text(&sql, strview_of(timeout));
    return send_statement(tx, &sql);
}

/* Connection, BEGIN and settings with the first statement; nothing waits for their results. */
static enum pv_code transaction_start(struct store_tx *tx, struct pv_error *err)
{
    enum pv_code code = pool_acquire(tx->store, &tx->conn, err);
    if (code != PV_OK) {
        tx->failed = true;
        return code;
    }
    tx->begun = true;
    tx->preamble = 2;
    tx->learning = true;
    const char *begin = tx->mode == STORE_READ
                            ? "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
                            : "BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE";
    if (!send_word(tx, begin) || !send_settings(tx))
        return transaction_lost(tx, err);
    return PV_OK;
}

static enum pv_code queue(struct store_tx *tx, const struct sql *sql, struct pv_error *err)
{
    if (tx->failed)
        return pv_fail(err, PV_E_INTERNAL, "the transaction has failed already");
    if (sql->exhausted) {
        tx->failed = true;
        return pv_no_memory(err);
    }
    if (!tx->begun)
        PV_TRY(transaction_start(tx, err));
    return send_statement(tx, sql) ? PV_OK : transaction_lost(tx, err);
}

void tx_sql(struct store_tx *tx, struct sql *sql, const char *text)
{
    sql_init(sql, &tx->scratch, text);
    sql_uuid(sql, tx->who.team_id);
}

void store_set_application(struct store_tx *tx, const char *application_id)
{
    (void)snprintf(tx->application_id, sizeof tx->application_id, "%s", application_id);
}

enum pv_code tx_send(struct store_tx *tx, const struct sql *sql, struct pv_error *err)
{
    PV_TRY(queue(tx, sql, err));
    tx->queried++;
    return PV_OK;
}

/*
 * The server keeps answers back until the sync or until its buffer is full. It is asked for them
 * every few statements, so that the deadline of a silent server is that of few statements however
 * many are queued (receive), and short transactions still cost one message each way.
 */
enum pv_code tx_defer(struct store_tx *tx, const struct sql *sql, struct pv_error *err)
{
    PV_TRY(queue(tx, sql, err));
    tx->deferred++;
    if (tx->deferred % FLUSH_EVERY == 0 && PQsendFlushRequest(tx->conn) != 1)
        return transaction_lost(tx, err);
    return PV_OK;
}

/* --- receiving --- */

static bool transaction_succeeded(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}

static uint64_t answer_deadline(const struct store_tx *tx)
{
    uint64_t ms = (uint64_t)pool_statement_timeout_ms(tx->store) + ANSWER_SLACK_MS;
    return clock_monotonic_ns() + ms * 1000000;
}

/* The result of the settings, while they are not prepared: the last column is the server's process.
 */
static void learn_backend(struct store_tx *tx, const PGresult *result)
{
    if (PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) != 1)
        return;
    struct row row = row_at(result, 0, NULL);
    row.column = PQnfields(result) - 1;
    prepared_learn_backend(tx->conn, (int)row_int(&row));
}

/* The first failure is the one recorded; what follows it is the server's "aborted". */
static enum pv_code note_failure(struct store_tx *tx, const PGresult *result, struct pv_error *err)
{
    bool discard;
    enum pv_code code = sqlstate_fail(result, tx->request_id, &discard, err);
    tx->failed = true;
    /* Whether the statement is prepared now is anybody's guess. */
    tx->broken |= discard || tx->preparing;
    return code;
}

/* Read up to the sync: `skip` results that only have to have succeeded, then n that are kept. Each
 * has a deadline of its own: a pipeline may hold a thousand statements. */
static enum pv_code
receive(struct store_tx *tx, unsigned skip, PGresult *results[], size_t n, struct pv_error *err)
{
    enum pv_code code = PV_OK;
    bool learning = tx->learning;
    tx->learning = false;
    for (size_t i = 0;; i++) {
        PGresult *result;
        if (!pipeline_result(tx->conn, answer_deadline(tx), &result)) {
            enum pv_code gone = transaction_lost(tx, code == PV_OK ? err : NULL);
            PQclear(result);
            return code == PV_OK ? gone : code;
        }
        if (PQresultStatus(result) == PGRES_PIPELINE_SYNC) {
            PQclear(result);
            return code;
        }
        if (code == PV_OK && !transaction_succeeded(result))
            code = note_failure(tx, result, err);
        if (learning && i == 1)
            learn_backend(tx, result);
        if (i >= skip && i - skip < n)
            results[i - skip] = result;
        else
            PQclear(result);
    }
}

static enum pv_code
transaction_exchange(struct store_tx *tx, PGresult *results[], size_t n, struct pv_error *err)
{
    unsigned skip = tx->preamble + tx->deferred;
    tx->preamble = tx->deferred = tx->queried = 0;
    for (size_t i = 0; i < n; i++)
        results[i] = NULL;
    enum pv_code code =
        pipeline_sync(tx->conn) ? receive(tx, skip, results, n, err) : transaction_lost(tx, err);
    for (size_t i = 0; code != PV_OK && i < n; i++) {
        PQclear(results[i]);
        results[i] = NULL;
    }
    tx->preparing = false;
    arena_fini(&tx->scratch);
    return code;
}

enum pv_code tx_results(struct store_tx *tx, PGresult *results[], size_t n, struct pv_error *err)
{
    for (size_t i = 0; i < n; i++)
        results[i] = NULL;
    if (tx->failed)
        return pv_fail(err, PV_E_INTERNAL, "the transaction has failed already");
    if (n != tx->queried) {
        tx->failed = true;
        return pv_fail(err, PV_E_INTERNAL, "results of a transaction were miscounted");
    }
    return transaction_exchange(tx, results, n, err);
}

enum pv_code
tx_query(struct store_tx *tx, const struct sql *sql, PGresult **result, struct pv_error *err)
{
    *result = NULL;
    enum pv_code code = tx_send(tx, sql, err);
    return code != PV_OK ? code : tx_results(tx, result, 1, err);
}

/* Settings of the transaction, so what an operator has set holds again in the next. */
static enum pv_code set_walking(struct store_tx *tx, bool walking, struct pv_error *err)
{
    struct sql sql;
    sql_init(&sql, &tx->scratch,
             "SELECT set_config('plan_cache_mode', $1, true), set_config('enable_sort', $2, true),"
             " set_config('enable_hashjoin', $2, true), set_config('enable_bitmapscan', $2, true)");
    sql.repeated = true;
    sql_text(&sql, strview_of(walking ? "force_generic_plan" : "auto"));
    sql_text(&sql, strview_of(walking ? "off" : "on"));
    return tx_defer(tx, &sql, err);
}

enum pv_code tx_walk(struct store_tx *tx, struct sql *sql, PGresult **result, struct pv_error *err)
{
    *result = NULL;
    sql->repeated = true;
    enum pv_code code = set_walking(tx, true, err);
    if (code == PV_OK)
        code = tx_query(tx, sql, result, err);
    if (code == PV_OK)
        code = set_walking(tx, false, err);
    if (code != PV_OK) {
        PQclear(*result);
        *result = NULL;
    }
    return code;
}

/* --- ending --- */

/* COMMIT of a transaction that failed answers "ROLLBACK" and no error. */
static enum pv_code commit(struct store_tx *tx, struct pv_error *err)
{
    if (tx->failed)
        return pv_fail(err, PV_E_INTERNAL, "the transaction has failed already");
    if (!tx->begun)
        return PV_OK;
    if (!send_word(tx, "COMMIT"))
        return transaction_lost(tx, err);
    unsigned unread = tx->queried;
    tx->deferred += unread;
    PGresult *result = NULL;
    enum pv_code code = transaction_exchange(tx, &result, 1, err);
    if (code == PV_E_UNAVAILABLE && tx->lost && err != NULL)
        (void)snprintf(
            err->detail, sizeof err->detail,
            "the connection to the database was lost while committing, so it is not known"
            " whether the change was made; ask again with the same Idempotency-Key");
    if (code != PV_OK)
        return code;
    bool committed = strcmp(PQcmdStatus(result), "COMMIT") == 0;
    PQclear(result);
    tx->begun = !committed;
    return committed ? PV_OK : pv_fail(err, PV_E_INTERNAL, "the database undid the transaction");
}

enum pv_code store_commit(struct store_tx **tx, struct pv_error *err)
{
    const struct store *store = (*tx)->store;
    bool is_urgent = (*tx)->is_urgent;
    bool has_events = (*tx)->has_events || is_urgent;
    enum pv_code code = has_events && !pool_reports_events(store) ? events_report(*tx, err) : PV_OK;
    if (code == PV_OK)
        code = commit(*tx, err);
    if (code != PV_OK) {
        store_rollback(tx);
        return code;
    }
    transaction_end(tx);
    if (has_events)
        pool_report_events(store, is_urgent);
    return PV_OK;
}

/* What is queued is read first; if it fails the ROLLBACK behind it is skipped, so a second one. */
static void undo(struct store_tx *tx)
{
    for (int attempt = 0; attempt < 2 && !tx->broken; attempt++) {
        if (PQtransactionStatus(tx->conn) == PQTRANS_IDLE)
            return;
        if (!send_word(tx, "ROLLBACK")) {
            tx->broken = true;
            return;
        }
        (void)transaction_exchange(tx, NULL, 0, NULL);
    }
}

void store_rollback(struct store_tx **tx)
{
    if (*tx == NULL)
        return;
    if ((*tx)->begun && (*tx)->conn != NULL && !(*tx)->broken)
        undo(*tx);
    tally_undo(pool_tally((*tx)->store), (*tx)->who.team_id, &(*tx)->owed);
    transaction_end(tx);
}

enum pv_code store_query_alone(struct store *store,
                               const struct sql *sql,
                               PGresult **result,
                               struct pv_error *err)
{
    static const struct principal nobody;
    struct store_tx *tx = NULL;
    *result = NULL;
    enum pv_code code = store_begin(store, &nobody, "", STORE_WRITE, &tx, err);
    if (code == PV_OK)
        code = queue(tx, sql, err);
    if (code == PV_OK && !send_word(tx, "COMMIT"))
        code = transaction_lost(tx, err);
    PGresult *results[2] = {NULL, NULL};
    if (code == PV_OK)
        code = transaction_exchange(tx, results, 2, err);
    PQclear(results[1]);
    *result = results[0];
    store_rollback(&tx);
    return code;
}
