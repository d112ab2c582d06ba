#include "store/access/access.h"
#include "store/store_internal.h"

static enum pv_code read_audit(const PGresult *result,
                               size_t at,
                               struct arena *arena,
                               struct audit_row *audit,
                               struct pv_error *err)
{
    struct row row = row_at(result, (int)at, arena);
    row_uuid(&row, audit->id);
    row_uuid(&row, audit->token_id);
    audit->actor = row_text(&row);
    audit->action = row_text(&row);
    audit->subject = row_text(&row);
    audit->request_id = row_text(&row);
    audit->at_us = row_instant(&row);
    return row_done(&row, err);
}

/* Ids are UUIDv7: their order is the order of time. */
enum pv_code store_audit_list(struct store_tx *tx,
                              struct arena *arena,
                              const char *before_id,
                              size_t limit,
                              struct audit_list *list,
                              struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT id, token_id, actor, action, subject, request_id, at FROM provisor.audit"
           " WHERE team_id = $1 AND id < coalesce($2, 'ffffffff-ffff-ffff-ffff-ffffffffffff')"
           " ORDER BY id DESC LIMIT $3");
    sql_uuid(&sql, before_id);
    sql_int(&sql, (int64_t)limit + 1);
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, &sql, &result, err));
    size_t there = row_count(result);
    struct audit_list read = {.n = there > limit ? limit : there, .more = there > limit};
    read.items = arena_calloc(arena, read.n, sizeof *read.items);
    if (read.items == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < read.n; i++)
        PV_TRY(read_audit(result, i, arena, &read.items[i], err));
    *list = read;
    return PV_OK;
}
