#include "store/operations/operation_internal.h"

static void operation_all_teams_list_query(struct store_tx *tx,
                                           const char *team_name,
                                           const struct operation_filter *filter,
                                           struct sql *sql)
{
    static struct columns_statement statement = {
        "SELECT m.name, o.worker, {operation}"
        " FROM provisor.operation o JOIN provisor.team m ON m.team_id = o.team_id"
        " WHERE ($1 IS NULL OR m.name = $1) AND ($2 IS NULL OR o.status = $2)"
        " AND ($3 IS NULL OR o.kind = $3) AND ($4 IS NULL OR o.application_name = $4)"
        " AND o.created_at >= $5 AND NOT o.expired ORDER BY o.created_at DESC, o.id DESC"
        " LIMIT $6",
        .of = {&operation_columns}};
    sql_columns(sql, &tx->scratch, &statement);
    sql_text(sql, strview_of(team_name));
    sql_text(sql, strview_of(filter->status));
    sql_text(sql, strview_of(filter->kind));
    sql_text(sql, strview_of(filter->application_name));
    sql_bound(sql, filter->since_us, "-infinity");
    sql_int(sql, (int64_t)filter->limit);
}

static enum pv_code read_listed(const PGresult *result,
                                struct arena *arena,
                                struct operation_listed **items,
                                size_t *n,
                                struct pv_error *err)
{
    size_t there = row_count(result);
    struct operation_listed *read = arena_calloc(arena, there, sizeof *read);
    if (read == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < there; i++) {
        struct row row = row_at(result, (int)i, arena);
        read[i].team_name = row_text(&row);
        read[i].worker = row_text(&row);
        columns_read(&row, &operation_columns, &read[i].operation);
        PV_TRY(row_done(&row, err));
    }
    *items = read;
    *n = there;
    return PV_OK;
}

enum pv_code store_owner_operation_list(const char *owner_conninfo,
                                        struct arena *arena,
                                        const char *team_name,
                                        const struct operation_filter *filter,
                                        struct operation_listed **items,
                                        size_t *n,
                                        struct pv_error *err)
{
    registry_auto_t registry = {0};
    struct sql sql;
    result_auto_t *result = NULL;
    PV_TRY(registry_open(owner_conninfo, STORE_READ, &registry, err));
    operation_all_teams_list_query(registry.tx, team_name, filter, &sql);
    PV_TRY(tx_query(registry.tx, &sql, &result, err));
    return read_listed(result, arena, items, n, err);
}

enum pv_code store_owner_operation_cancel(const char *owner_conninfo,
                                          struct arena *arena,
                                          const char *id,
                                          int64_t keep_s,
                                          const char *(*event)(struct arena *arena,
                                                               const char *id,
                                                               struct strview kind,
                                                               struct strview application,
                                                               enum operation_status status),
                                          struct operation_row *operation,
                                          struct pv_error *err)
{
    registry_auto_t registry = {0};
    struct sql sql;
    char team_id[37];
    bool changed = false;
    PV_TRY(registry_open(owner_conninfo, STORE_WRITE, &registry, err));
    sql_init(&sql, &registry.tx->scratch, "SELECT team_id FROM provisor.operation WHERE id = $1");
    sql_uuid(&sql, id);
    PV_TRY(registry_read_team(registry.tx, &sql, "operation", team_id, err));
    PV_TRY(registry_enter(registry.tx, team_id, err));
    PV_TRY(store_operation_cancel(registry.tx, arena, id, keep_s, operation, &changed, err));
    if (changed && operation_has_ended(operation->status)) {
        const char *data = event(arena, operation->id, operation->kind, operation->application_name,
                                 operation->status);
        if (data == NULL)
            return pv_no_memory(err);
        PV_TRY(store_operation_tell(registry.tx, operation, strview_of(data), err));
    }
    return store_commit(&registry.tx, err);
}
