#include "store/store_internal.h"
#include "threads/clock.h"

enum pv_code journal_audit(struct store_tx *tx,
                           const char *action,
                           const char *kind,
                           struct strview subject,
                           struct pv_error *err)
{
    char id[37];
    clock_uuid7(id);
    struct sql sql;
    tx_sql(tx, &sql,
           "INSERT INTO provisor.audit (team_id, id, token_id, actor, action, subject, request_id)"
           " VALUES ($1, $2, $3, $4, $5, $6 || '/' || $7, $8)");
    sql.repeated = true;
    sql_uuid(&sql, id);
    sql_uuid(&sql, tx->who.token_id);
    sql_text(&sql, strview_of(tx->who.actor));
    sql_text(&sql, strview_of(action));
    sql_text(&sql, strview_of(kind));
    sql_text(&sql, subject);
    sql_text(&sql, strview_of(tx->request_id));
    return tx_defer(tx, &sql, err);
}
