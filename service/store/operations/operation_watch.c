#include "store/operations/operation_internal.h"

/* What streams and waiting requests ask for, and what the housekeeping removes. */

enum pv_code store_operation_watch(struct store *store,
                                   struct arena *arena,
                                   struct operation_watched watched[],
                                   size_t n,
                                   struct pv_error *err)
{
    struct sql sql;
    if (n == 0)
        return PV_OK;
    sql_init(&sql, arena,
             "SELECT at, events, ended, barred FROM provisor.watch_operations($1, $2, $3)");
    sql_uuids(&sql, watched->team_id, n, sizeof *watched);
    sql_uuids(&sql, watched->id, n, sizeof *watched);
    sql_uuids(&sql, watched->token_id, n, sizeof *watched);
    result_auto_t *result = NULL;
    PV_TRY(store_query_alone(store, &sql, &result, err));
    for (size_t i = 0; i < n; i++) {
        watched[i].events = RUN_UNKNOWN;
        watched[i].ended = watched[i].barred = false;
    }
    for (size_t i = 0; i < row_count(result); i++) {
        struct row row = row_at(result, (int)i, NULL);
        size_t at = (size_t)row_int(&row) - 1;
        if (at >= n)
            continue;
        watched[at].events = row_int(&row);
        watched[at].ended = row_bool(&row);
        watched[at].barred = row_bool(&row);
    }
    return PV_OK;
}

static enum pv_code read_event(const PGresult *result,
                               size_t at,
                               struct arena *arena,
                               struct operation_event *event,
                               struct pv_error *err)
{
    struct row row = row_at(result, (int)at, arena);
    event->number = row_int(&row);
    event->is_progress = row_bool(&row);
    event->status = row_operation_status(&row);
    event->cancelling = row_bool(&row);
    event->attempt = row_int(&row);
    event->done = row_int(&row);
    event->total = row_int(&row);
    event->unit = row_text(&row);
    event->at_us = row_instant(&row);
    return row_done(&row, err);
}

enum pv_code store_operation_events(struct store_tx *tx,
                                    struct arena *arena,
                                    const char *id,
                                    int64_t after,
                                    size_t limit,
                                    struct operation_event **events,
                                    size_t *n,
                                    struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT number, is_progress, status, cancelling, attempt, done, total, unit, at"
           " FROM provisor.operation_event WHERE team_id = $1 AND operation_id = $2 AND number > $3"
           " ORDER BY number LIMIT $4");
    sql.repeated = true;
    sql_uuid(&sql, id);
    sql_int(&sql, after);
    sql_int(&sql, (int64_t)limit);
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, &sql, &result, err));
    size_t there = row_count(result);
    struct operation_event *read = arena_calloc(arena, there, sizeof *read);
    if (read == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < there; i++)
        PV_TRY(read_event(result, i, arena, &read[i], err));
    *events = read;
    *n = there;
    return PV_OK;
}

/* --- housekeeping --- */

static enum pv_code
count_rows(struct store_tx *tx, struct sql *sql, size_t *gone, struct pv_error *err)
{
    PGresult *result;
    enum pv_code code = tx_query(tx, sql, &result, err);
    if (code == PV_OK) {
        struct row row = row_at(result, 0, NULL);
        *gone = (size_t)row_int(&row);
    }
    PQclear(result);
    return code;
}

enum pv_code
store_operations_expire(struct store_tx *tx, size_t batch, size_t *gone, struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "WITH old AS MATERIALIZED (SELECT id FROM provisor.operation"
           " WHERE team_id = $1 AND expires_at <= now() AND NOT expired"
           " ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED),"
           " events AS (DELETE FROM provisor.operation_event e USING old"
           " WHERE e.team_id = $1 AND e.operation_id = old.id),"
           " emptied AS (UPDATE provisor.operation o SET expired = true, request = NULL,"
           " result = NULL, error = NULL, actor = '', request_id = '', trace_id = ''"
           " FROM old WHERE o.team_id = $1 AND o.id = old.id RETURNING 1)"
           " SELECT count(*) FROM emptied");
    sql_int(&sql, (int64_t)batch);
    return count_rows(tx, &sql, gone, err);
}

enum pv_code store_operations_remove(
    struct store_tx *tx, int64_t days, size_t batch, size_t *gone, struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "WITH old AS MATERIALIZED (SELECT id FROM provisor.operation"
           " WHERE team_id = $1 AND expired AND expires_at < now() - $2 * interval '1 day'"
           " ORDER BY expires_at LIMIT $3 FOR UPDATE SKIP LOCKED),"
           " removed AS (DELETE FROM provisor.operation o USING old"
           " WHERE o.team_id = $1 AND o.id = old.id RETURNING 1)"
           " SELECT count(*) FROM removed");
    sql_int(&sql, days);
    sql_int(&sql, (int64_t)batch);
    return count_rows(tx, &sql, gone, err);
}
