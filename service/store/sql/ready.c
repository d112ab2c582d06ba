#include "store/sql/migrations.h"
#include "store/store_internal.h"
#include "threads/clock.h"

/*
 * Whether this program works with the database as it is. Asked before anything is there, too: a
 * look into the catalog comes first, since to ask for a table that is missing would be an error in
 * the logs of both.
 */

static enum pv_code not_migrated(struct pv_error *err)
{
    return pv_fail(err, PV_E_UNAVAILABLE, "the database has not been migrated yet");
}

static enum pv_code check_table(struct store *store, struct pv_error *err)
{
    struct sql sql;
    sql_init(&sql, NULL,
             "SELECT count(*) FROM pg_catalog.pg_class c"
             " JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
             " WHERE n.nspname = 'provisor' AND c.relname = 'migration'"
             " AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')");
    result_auto_t *result = NULL;
    PV_TRY(store_query_alone(store, &sql, &result, err));
    struct row row = row_at(result, 0, NULL);
    return row_int(&row) > 0 ? PV_OK : not_migrated(err);
}

static enum pv_code check_versions(int64_t newest, int64_t oldest_program, struct pv_error *err)
{
    if (newest < (int64_t)migrate_newest())
        return not_migrated(err);
    if (oldest_program > (int64_t)migrate_newest())
        return pv_fail(err, PV_E_UNAVAILABLE,
                       "the database works with programs from version %lld on; this one is at %u",
                       (long long)oldest_program, migrate_newest());
    return PV_OK;
}

enum pv_code store_ready(struct store *store, struct store_clock *clock, struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    PV_TRY(check_table(store, err));
    /* As JSON, since the table may be older than its column. */
    sql_init(&sql, NULL,
             "SELECT max(version)::bigint,"
             " coalesce(max((to_jsonb(m) ->> 'oldest_program')::bigint), 0),"
             " clock_timestamp() FROM provisor.migration m");
    uint64_t began_ns = clock_monotonic_ns();
    PV_TRY(store_query_alone(store, &sql, &result, err));
    int64_t within_us = (int64_t)((clock_monotonic_ns() - began_ns) / 2000);
    int64_t asked_us = clock_wall_us() - within_us; /* if both ways took as long */
    struct row row = row_at(result, 0, NULL);
    int64_t newest = row_int(&row);
    int64_t oldest_program = row_int(&row);
    int64_t database_us = row_instant(&row);
    PV_TRY(row_done(&row, err));
    if (clock != NULL)
        *clock = (struct store_clock){.ahead_us = database_us - asked_us, .within_us = within_us};
    return check_versions(newest, oldest_program, err);
}
