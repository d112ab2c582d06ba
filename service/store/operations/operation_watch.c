#include "store/operations/operation_internal.h"

/* What streams and waiting requests ask for. */

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
        watched[i].ended = watched[i].revoked = false;
    }
    for (size_t i = 0; i < row_count(result); i++) {
        struct row row = row_at(result, (int)i, NULL);
        size_t at = (size_t)row_int(&row) - 1;
        if (at >= n)
            continue;
        watched[at].events = row_int(&row);
        watched[at].ended = row_bool(&row);
        watched[at].revoked = row_bool(&row);
    }
    return PV_OK;
}

#define E struct operation_event
static const struct column of_event[] = {
    {"number", COLUMN_COUNT(E, number)},
    {"is_progress", COLUMN_BOOLEAN(E, is_progress)},
    {"status", COLUMN_WORD(E, status, operation_status_words)},
    {"cancelling", COLUMN_BOOLEAN(E, cancelling)},
    {"attempt", COLUMN_COUNT(E, attempt)},
    {"done", COLUMN_COUNT(E, done)},
    {"total", COLUMN_COUNT(E, total)},
    {"unit", COLUMN_TEXT(E, unit)},
    {"at", COLUMN_INSTANT(E, at_us)},
};
static const struct columns event_columns = {"event", COLUMNS_OF(of_event, E)};

enum pv_code store_operation_events(struct store_tx *tx,
                                    struct arena *arena,
                                    const char *id,
                                    int64_t after,
                                    size_t limit,
                                    struct operation_event **events,
                                    size_t *n,
                                    struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {event} FROM provisor.operation_event"
        " WHERE team_id = $1 AND operation_id = $2 AND number > $3 ORDER BY number LIMIT $4",
        .of = {&event_columns}};
    struct sql sql;
    result_auto_t *result = NULL;
    bool more;
    tx_columns(tx, &sql, &statement);
    sql.repeated = true;
    sql_uuid(&sql, id);
    sql_int(&sql, after);
    sql_int(&sql, (int64_t)limit);
    PV_TRY(tx_query(tx, &sql, &result, err));
    return columns_read_items(result, limit, arena, &event_columns, events, n, &more, err);
}
