#include "store/maintenance/maintenance.h"

#include "store/store_internal.h"

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
    PGresult *result;
    enum pv_code code = store_query_alone(store, &sql, &result, err);
    PQclear(result);
    return code;
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

static enum pv_code read_retention(const PGresult *result,
                                   struct arena *arena,
                                   struct retention_list *list,
                                   struct pv_error *err)
{
    size_t n = row_count(result);
    struct retention *items = arena_calloc(arena, n, sizeof *items);
    if (items == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        struct row row = row_at(result, (int)i, arena);
        row_uuid(&row, items[i].team_id);
        row_uuid(&row, items[i].application_id);
        items[i].keep_days = row_int(&row);
        items[i].keep_runs = row_int(&row);
        items[i].due = row_bool(&row);
    }
    *list = (struct retention_list){items, n};
    return PV_OK;
}

enum pv_code store_retention_list(struct store *store,
                                  struct arena *arena,
                                  const struct retention *after,
                                  size_t limit,
                                  int64_t default_days,
                                  int64_t default_runs,
                                  struct retention_list *list,
                                  struct pv_error *err)
{
    struct sql sql;
    sql_init(&sql, arena,
             "SELECT team_id, application_id, keep_days, keep_runs, due"
             " FROM provisor.list_retention($1, $2, $3, $4, $5)");
    sql_uuid(&sql, after == NULL ? NULL : after->team_id);
    sql_uuid(&sql, after == NULL ? NULL : after->application_id);
    sql_int(&sql, (int64_t)limit);
    sql_int(&sql, default_days);
    sql_int(&sql, default_runs);
    result_auto_t *result = NULL;
    PV_TRY(store_query_alone(store, &sql, &result, err));
    return read_retention(result, arena, list, err);
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
    size_t there = row_count(result);
    struct team_id *read = arena_calloc(arena, there, sizeof *read);
    for (size_t i = 0; read != NULL && i < there; i++) {
        struct row row = row_at(result, (int)i, arena);
        row_uuid(&row, read[i].text);
    }
    if (read == NULL)
        return pv_no_memory(err);
    *ids = read;
    *n = there;
    return PV_OK;
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
