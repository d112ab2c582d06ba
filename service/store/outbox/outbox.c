#include "store/outbox/outbox.h"

#include "store/store_internal.h"
#include "threads/clock.h"

enum pv_code
outbox_append(struct store_tx *tx, const char *type, struct strview data, struct pv_error *err)
{
    char id[37];
    clock_uuid7(id);
    struct sql sql;
    tx_sql(tx, &sql,
           "INSERT INTO provisor.outbox (team_id, id, type, data, application_id)"
           " VALUES ($1, $2, $3, $4, $5)");
    sql.repeated = true;
    sql_uuid(&sql, id);
    sql_text(&sql, strview_of(type));
    sql_json(&sql, data);
    sql_uuid(&sql, tx->application_id);
    return tx_defer(tx, &sql, err);
}

/* Ids and the headline. PostgreSQL builds the JSON from the parameters. */
enum pv_code outbox_append_run(struct store_tx *tx,
                               const struct application *application,
                               const struct run *run,
                               struct pv_error *err)
{
    char id[37];
    clock_uuid7(id);
    struct sql sql;
    tx_sql(tx, &sql,
           "INSERT INTO provisor.outbox (team_id, id, type, data, application_id)"
           " VALUES ($1, $2, 'run.ingested',"
           " json_build_object('run_id', $3, 'application', $4, 'problem_size', $5,"
           " 'executors', $6, 'duration_s', $7, 'succeeded', $8), $9)");
    sql.repeated = true;
    sql_uuid(&sql, id);
    sql_uuid(&sql, run->id);
    sql_text(&sql, application->name);
    sql_double(&sql, run->problem_size);
    sql_count(&sql, run->executors);
    sql_double(&sql, run->duration_s);
    sql_bool(&sql, run->succeeded);
    sql_uuid(&sql, application->id);
    return tx_defer(tx, &sql, err);
}

enum pv_code outbox_append_import(struct store_tx *tx,
                                  const struct application *application,
                                  int64_t inserted,
                                  int64_t replaced,
                                  struct pv_error *err)
{
    char id[37];
    clock_uuid7(id);
    struct sql sql;
    tx_sql(tx, &sql,
           "INSERT INTO provisor.outbox (team_id, id, type, data, application_id)"
           " VALUES ($1, $2, 'run.ingested',"
           " json_build_object('run_id', NULL, 'application', $3::text, 'imported', $4::bigint,"
           " 'replaced', $5::bigint), $6)");
    sql_uuid(&sql, id);
    sql_text(&sql, application->name);
    sql_int(&sql, inserted);
    sql_int(&sql, replaced);
    sql_uuid(&sql, application->id);
    return tx_defer(tx, &sql, err);
}
