#include "store/store_internal.h"

enum pv_code tx_lock_team(struct store_tx *tx, const char *kind, struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT pg_advisory_xact_lock(hashtextextended("
           "'provisor.' || $2::text || ' ' || $1::text, 0))");
    sql.repeated = true;
    sql_text(&sql, strview_of(kind));
    return tx_defer(tx, &sql, err);
}
