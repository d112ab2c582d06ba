#include "store/maintenance/maintenance.h"

#include "store/maintenance/maintenance_internal.h"

/* The calls across teams: each is one statement of nobody's team around a function of the owner. */

enum pv_code store_maintenance_claim(struct store *store,
                                     const char *holder,
                                     int64_t every_s,
                                     int64_t lease_s,
                                     bool *claimed,
                                     struct pv_error *err)
{
    struct sql sql;
    sql_init(&sql, NULL, "SELECT provisor.claim_housekeeping($1, $2, $3)");
    sql_uuid(&sql, holder);
    sql_int(&sql, every_s);
    sql_int(&sql, lease_s);
    result_auto_t *result = NULL;
    PV_TRY(store_query_alone(store, &sql, &result, err));
    struct row row = row_at(result, 0, NULL);
    *claimed = row_bool(&row);
    return PV_OK;
}

enum pv_code store_maintenance_end(struct store *store, const char *holder, struct pv_error *err)
{
    struct sql sql;
    sql_init(&sql, NULL, "SELECT provisor.end_housekeeping($1)");
    sql_uuid(&sql, holder);
    result_auto_t *result = NULL;
    return store_query_alone(store, &sql, &result, err);
}

/* --- partitions --- */

static enum pv_code name_of(struct store *store,
                            const struct sql *sql,
                            struct arena *arena,
                            struct strview *name,
                            struct pv_error *err)
{
    result_auto_t *result = NULL;
    PV_TRY(store_query_alone(store, sql, &result, err));
    struct row row = row_at(result, 0, arena);
    struct strview text = row_text(&row);
    PV_TRY(row_done(&row, err));
    *name = text;
    return PV_OK;
}

enum pv_code store_partition_make(struct store *store,
                                  struct arena *arena,
                                  int64_t months_ahead,
                                  struct strview *name,
                                  struct pv_error *err)
{
    struct sql sql;
    sql_init(&sql, arena, "SELECT provisor.make_partition($1)");
    sql_int(&sql, months_ahead);
    return name_of(store, &sql, arena, name, err);
}

enum pv_code store_partition_drop(struct store *store,
                                  struct arena *arena,
                                  int64_t audit_days,
                                  int64_t advice_days,
                                  struct strview *name,
                                  struct pv_error *err)
{
    struct sql sql;
    sql_init(&sql, arena, "SELECT provisor.drop_partition($1, $2)");
    sql_int(&sql, audit_days);
    sql_int(&sql, advice_days);
    return name_of(store, &sql, arena, name, err);
}

/* --- lists --- */

#define R struct retention
static const struct column of_retention[] = {
    {"team_id", COLUMN_ID(R, team_id)},        {"application_id", COLUMN_ID(R, application_id)},
    {"keep_days", COLUMN_COUNT(R, keep_days)}, {"keep_runs", COLUMN_COUNT(R, keep_runs)},
    {"due", COLUMN_BOOLEAN(R, due)},
};
static const struct columns retention_columns = {"retention", COLUMNS_OF(of_retention, R)};

static const struct column of_id[] = {{"id", COLUMN_ID(struct team_id, text)}};
const struct columns id_columns = {"id", COLUMNS_OF(of_id, struct team_id)};

enum pv_code store_retention_list(struct store *store,
                                  struct arena *arena,
                                  const struct retention *after,
                                  size_t limit,
                                  int64_t default_days,
                                  int64_t default_runs,
                                  struct retention_list *list,
                                  struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {retention} FROM provisor.list_retention($1, $2, $3, $4, $5)",
        .of = {&retention_columns}};
    struct sql sql;
    bool more;
    sql_columns(&sql, arena, &statement);
    sql_uuid(&sql, after == NULL ? NULL : after->team_id);
    sql_uuid(&sql, after == NULL ? NULL : after->application_id);
    sql_int(&sql, (int64_t)limit);
    sql_int(&sql, default_days);
    sql_int(&sql, default_runs);
    result_auto_t *result = NULL;
    PV_TRY(store_query_alone(store, &sql, &result, err));
    return columns_read_items(result, limit, arena, &retention_columns, &list->items, &list->n,
                              &more, err);
}

enum pv_code store_team_ids(struct store *store,
                            struct arena *arena,
                            const char *after,
                            size_t limit,
                            struct team_id **ids,
                            size_t *n,
                            struct pv_error *err)
{
    struct sql sql;
    sql_init(&sql, arena, "SELECT * FROM provisor.list_team_ids($1, $2)");
    sql_uuid(&sql, after);
    sql_int(&sql, (int64_t)limit);
    result_auto_t *result = NULL;
    PV_TRY(store_query_alone(store, &sql, &result, err));
    bool more;
    return columns_read_items(result, limit, arena, &id_columns, ids, n, &more, err);
}

enum pv_code store_audit_expire(
    struct store *store, int64_t days, size_t batch, size_t *gone, struct pv_error *err)
{
    struct sql sql;
    sql_init(&sql, NULL, "SELECT provisor.expire_audit($1, $2)");
    sql_int(&sql, days);
    sql_int(&sql, (int64_t)batch);
    result_auto_t *result = NULL;
    PV_TRY(store_query_alone(store, &sql, &result, err));
    struct row row = row_at(result, 0, NULL);
    *gone = (size_t)row_int(&row);
    return PV_OK;
}
