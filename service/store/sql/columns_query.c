#include "store/sql/columns_query.h"

enum pv_code columns_none_there(const struct columns *columns, struct pv_error *err)
{
    return pv_fail(err, PV_E_NOT_FOUND, "there is no %s of that id", columns->name);
}

enum pv_code columns_query_one(struct store_tx *tx,
                               const struct sql *sql,
                               struct arena *arena,
                               const struct columns *columns,
                               void *object,
                               struct pv_error *err)
{
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, sql, &result, err));
    return row_count(result) == 0 ? columns_none_there(columns, err)
                                  : columns_read_row(result, 0, arena, columns, object, err);
}

enum pv_code columns_query_items(struct store_tx *tx,
                                 struct columns_statement *statement,
                                 const char *after_id,
                                 size_t limit,
                                 struct arena *arena,
                                 const struct columns *columns,
                                 void *items_address,
                                 size_t *n,
                                 bool *more,
                                 struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    tx_columns(tx, &sql, statement);
    sql_uuid(&sql, after_id);
    sql_int(&sql, (int64_t)limit + 1);
    PV_TRY(tx_query(tx, &sql, &result, err));
    return columns_read_items(result, limit, arena, columns, items_address, n, more, err);
}
