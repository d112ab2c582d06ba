#include <string.h>

#include "store/operations/operation_internal.h"
#include "store/outbox/outbox.h"

/*
 * Holding an operation: by a lease, fenced by the number of the attempt. Every write of a holder
 * names its attempt; one that finds no row has lost it.
 */

static enum pv_code operation_lease_lost(struct pv_error *err)
{
    return pv_fail(err, PV_E_LEASE_LOST, "the operation is not this attempt's any more");
}

/* --- across teams --- */

#define K struct operation_key
static const struct column of_key[] = {
    {"team_id", COLUMN_ID(K, team_id)},
    {"id", COLUMN_ID(K, id)},
    {"attempt", COLUMN_COUNT(K, attempt)},
};
static const struct columns key_columns = {"key", COLUMNS_OF(of_key, K)};

enum pv_code store_operation_claim(struct store *store,
                                   struct arena *arena,
                                   const struct operation_claim *claim,
                                   struct operation_key *key,
                                   bool *taken,
                                   struct pv_error *err)
{
    struct sql sql;
    sql_init(&sql, arena,
             "SELECT team_id, id, attempt"
             " FROM provisor.claim_operation($1, $2, $3, $4, $5, $6)");
    sql_text(&sql, strview_of(claim->worker));
    sql_texts(&sql, claim->kinds, claim->n_kinds, sizeof *claim->kinds);
    sql_int(&sql, claim->lease_ms);
    sql_int(&sql, claim->team_running_max);
    sql_int(&sql, claim->waited_ms);
    sql_uuids(&sql, claim->n_barred == 0 ? "" : claim->barred->team_id, claim->n_barred,
              sizeof *claim->barred);
    result_auto_t *result = NULL;
    PV_TRY(store_query_alone(store, &sql, &result, err));
    *taken = row_count(result) > 0;
    return *taken ? columns_read_row(result, 0, arena, &key_columns, key, err) : PV_OK;
}

/* Answers are few and in the order of the database, so they are looked for. */
static void note_held(const PGresult *result, struct operation_held held[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        held[i].still = held[i].cancel = false;
    for (size_t at = 0; at < row_count(result); at++) {
        struct row row = row_at(result, (int)at, NULL);
        char id[37];
        row_uuid(&row, id);
        int64_t attempt = row_int(&row);
        bool cancel = row_bool(&row);
        for (size_t i = 0; i < n; i++) {
            if (held[i].key.attempt != attempt || strcmp(held[i].key.id, id) != 0)
                continue;
            held[i].still = true;
            held[i].cancel = cancel;
        }
    }
}

enum pv_code store_operation_renew(struct store *store,
                                   struct arena *arena,
                                   int64_t lease_ms,
                                   struct operation_held held[],
                                   size_t n,
                                   struct pv_error *err)
{
    struct sql sql;
    if (n == 0)
        return PV_OK;
    sql_init(&sql, arena,
             "SELECT id, attempt, cancel"
             " FROM provisor.renew_operations($1, $2, $3, $4, $5, $6, $7)");
    sql_int(&sql, lease_ms);
    sql_uuids(&sql, held->key.team_id, n, sizeof *held);
    sql_uuids(&sql, held->key.id, n, sizeof *held);
    sql_counts(&sql, &held->key.attempt, n, sizeof *held);
    sql_counts(&sql, &held->done, n, sizeof *held);
    sql_counts(&sql, &held->total, n, sizeof *held);
    sql_texts(&sql, &held->unit, n, sizeof *held);
    result_auto_t *result = NULL;
    PV_TRY(store_query_alone(store, &sql, &result, err));
    note_held(result, held, n);
    return PV_OK;
}

enum pv_code store_operation_lost(struct store *store,
                                  struct arena *arena,
                                  size_t limit,
                                  struct operation_key **keys,
                                  size_t *n,
                                  struct pv_error *err)
{
    struct sql sql;
    sql_init(&sql, arena, "SELECT team_id, id, attempt FROM provisor.list_lost_operations($1)");
    sql_int(&sql, (int64_t)limit);
    result_auto_t *result = NULL;
    PV_TRY(store_query_alone(store, &sql, &result, err));
    bool more;
    return columns_read_items(result, limit, arena, &key_columns, keys, n, &more, err);
}

enum pv_code
store_operation_count(struct store *store, struct operation_counts *counts, struct pv_error *err)
{
    struct sql sql;
    sql_init(&sql, NULL, "SELECT queued, running, waited_s FROM provisor.count_operations()");
    result_auto_t *result = NULL;
    PV_TRY(store_query_alone(store, &sql, &result, err));
    struct row row = row_at(result, 0, NULL);
    counts->queued = row_int(&row);
    counts->running = row_int(&row);
    counts->waited_s = row_double(&row);
    return PV_OK;
}

/* --- of the team --- */

#define OF_ATTEMPT                                                                                 \
    " FROM provisor.operation o"                                                                   \
    " WHERE o.team_id = $1 AND o.id = $2 AND o.attempt = $3 AND o.status = 'running'"

static enum pv_code query_held(struct store_tx *tx,
                               struct columns_statement *statement,
                               const struct operation_key *key,
                               PGresult **result,
                               struct pv_error *err)
{
    struct sql sql;
    tx_columns(tx, &sql, statement);
    sql_uuid(&sql, key->id);
    sql_int(&sql, key->attempt);
    PV_TRY(tx_query(tx, &sql, result, err));
    return row_count(*result) == 0 ? operation_lease_lost(err) : PV_OK;
}

enum pv_code store_operation_load(struct store_tx *tx,
                                  struct arena *arena,
                                  const struct operation_key *key,
                                  struct operation_row *operation,
                                  struct pv_error *err)
{
    static struct columns_statement statement = {"SELECT {operation}, {documents}" OF_ATTEMPT,
                                                 .of = {&operation_columns, &operation_documents}};
    result_auto_t *result = NULL;
    PV_TRY(query_held(tx, &statement, key, &result, err));
    struct row row = row_at(result, 0, arena);
    columns_read(&row, &operation_columns, operation);
    columns_read(&row, &operation_documents, operation);
    return row_done(&row, err);
}

enum pv_code store_operation_load_head(struct store_tx *tx,
                                       struct arena *arena,
                                       const struct operation_key *key,
                                       struct operation_row *operation,
                                       struct pv_error *err)
{
    static struct columns_statement statement = {"SELECT {operation}" OF_ATTEMPT,
                                                 .of = {&operation_columns}};
    result_auto_t *result = NULL;
    PV_TRY(query_held(tx, &statement, key, &result, err));
    return columns_read_row(result, 0, arena, &operation_columns, operation, err);
}

/* A statement that answers the application of the one row it changed; none: lost. */
static enum pv_code change_held(struct store_tx *tx, struct sql *sql, struct pv_error *err)
{
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, sql, &result, err));
    if (row_count(result) == 0)
        PV_TRY(operation_lease_lost(err));
    struct row row = row_at(result, 0, NULL);
    char application_id[37];
    row_uuid(&row, application_id);
    store_set_application(tx, application_id);
    return PV_OK;
}

enum pv_code store_operation_requeue(struct store_tx *tx,
                                     const struct operation_key *key,
                                     bool loss,
                                     bool lost_only,
                                     struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "UPDATE provisor.operation SET status = 'queued', lease_until = NULL,"
           " losses = losses + CASE WHEN $4 THEN 1 ELSE 0 END,"
           " not_before = CASE WHEN $4 THEN now() + least(300, power(2, least(losses, 20)))"
           " * interval '1 second' ELSE now() END"
           " WHERE team_id = $1 AND id = $2 AND attempt = $3 AND status = 'running'"
           " AND (NOT $5 OR lease_until < clock_timestamp()) RETURNING application_id");
    sql_uuid(&sql, key->id);
    sql_int(&sql, key->attempt);
    sql_bool(&sql, loss);
    sql_bool(&sql, lost_only);
    return change_held(tx, &sql, err);
}

/* Of one that could not succeed: cancelled, or not this attempt's any more? */
static enum pv_code
explain_refusal(struct store_tx *tx, const struct operation_key *key, struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    tx_sql(tx, &sql,
           "SELECT FROM provisor.operation WHERE team_id = $1 AND id = $2 AND attempt = $3"
           " AND status = 'running' AND cancel_asked_at IS NOT NULL");
    sql_uuid(&sql, key->id);
    sql_int(&sql, key->attempt);
    PV_TRY(tx_query(tx, &sql, &result, err));
    return row_count(result) == 0 ? operation_lease_lost(err)
                                  : pv_fail(err, PV_E_CANCELLED, "the operation was cancelled");
}

enum pv_code store_operation_finish(struct store_tx *tx,
                                    const struct operation_key *key,
                                    const struct operation_end *end,
                                    struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "UPDATE provisor.operation SET status = $4, lease_until = NULL, result = $5, error = $6,"
           " finished_at = clock_timestamp(),"
           " expires_at = clock_timestamp() + $7 * interval '1 second',"
           " done = greatest(done, $9, CASE WHEN $4 = 'succeeded' THEN coalesce($10, total) END),"
           " total = coalesce($10, total), unit = coalesce($11, unit)"
           " WHERE team_id = $1 AND id = $2 AND attempt = $3 AND status = 'running'"
           " AND ($4 <> 'succeeded' OR cancel_asked_at IS NULL)"
           " AND (NOT $8 OR lease_until < clock_timestamp()) RETURNING application_id");
    sql_uuid(&sql, key->id);
    sql_int(&sql, key->attempt);
    sql_text(&sql, strview_of(operation_status_word(end->status)));
    sql_json(&sql, end->result);
    sql_json(&sql, end->error);
    sql_int(&sql, end->keep_s);
    sql_bool(&sql, end->lost_only);
    sql_int(&sql, end->done);
    sql_count(&sql, end->total);
    sql_text(&sql, end->unit);
    enum pv_code code = change_held(tx, &sql, err);
    if (code == PV_E_LEASE_LOST && end->status == OPERATION_SUCCEEDED) {
        pv_error_clear(err);
        return explain_refusal(tx, key, err);
    }
    PV_TRY(code);
    const struct outbox_event event = {.type = "operation.completed",
                                       .severity = end->status == OPERATION_FAILED ? EVENT_WARNING
                                                                                   : EVENT_INFO,
                                       .data = end->event};
    return outbox_append(tx, &event, err);
}
