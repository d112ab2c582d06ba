#include "store/operations/operation_internal.h"

static enum pv_code
count_rows(struct store_tx *tx, struct sql *sql, size_t *gone, struct pv_error *err)
{
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, sql, &result, err));
    struct row row = row_at(result, 0, NULL);
    *gone = (size_t)row_int(&row);
    return PV_OK;
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
