#include "store/access/access.h"
#include "store/sql/columns.h"

#define A struct audit_record
static const struct column of_audit[] = {
    {"id", COLUMN_ID(A, id)},
    {"token_id", COLUMN_ID(A, token_id)},
    {"actor", COLUMN_TEXT(A, actor)},
    {"action", COLUMN_TEXT(A, action)},
    {"subject", COLUMN_TEXT(A, subject)},
    {"nullif(request_id, '')", COLUMN_TEXT(A, request_id)},
    {"at", COLUMN_INSTANT(A, at_us)},
    {"replaced", COLUMN_JSON(A, replaced)},
};
static const struct columns columns = {"audit", COLUMNS_OF(of_audit, A)};

/* Ids are UUIDv7: their order is the order of time. */
enum pv_code store_audit_list(struct store_tx *tx,
                              struct arena *arena,
                              const char *before_id,
                              size_t limit,
                              struct audit_list *list,
                              struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {audit} FROM provisor.audit"
        " WHERE team_id = $1 AND id < coalesce($2, 'ffffffff-ffff-ffff-ffff-ffffffffffff')"
        " ORDER BY id DESC LIMIT $3",
        .of = {&columns}};
    struct sql sql;
    result_auto_t *result = NULL;
    tx_columns(tx, &sql, &statement);
    sql_uuid(&sql, before_id);
    sql_int(&sql, (int64_t)limit + 1);
    PV_TRY(tx_query(tx, &sql, &result, err));
    return columns_read_list(result, limit, arena, &columns, list, err);
}
