#include "store/outbox/outbox.h"

#include "store/store_internal.h"
#include "threads/clock.h"

/* Severity, and labels as an object: two parameters of texts. */
static void add_filters(struct sql *sql,
                        enum event_severity severity,
                        const struct run_label *labels,
                        size_t n_labels)
{
    sql_int(sql, severity);
    sql_pairs(sql, labels, n_labels);
}

enum pv_code
outbox_append(struct store_tx *tx, const struct outbox_event *event, struct pv_error *err)
{
    char id[37];
    clock_uuid7(id);
    struct sql sql;
    tx_sql(tx, &sql,
           "INSERT INTO provisor.outbox (team_id, id, type, data, application_id, severity, labels)"
           " VALUES ($1, $2, $3, $4, $5, $6, nullif(jsonb_object($7, $8), '{}'))");
    sql.repeated = true;
    sql_uuid(&sql, id);
    sql_text(&sql, strview_of(event->type));
    sql_json(&sql, event->data);
    sql_uuid(&sql, tx->application_id);
    add_filters(&sql, event->severity, event->labels, event->n_labels);
    tx->has_events = true;
    return tx_defer(tx, &sql, err);
}

/* Ids and the headline. PostgreSQL builds the JSON from the parameters. */
static enum pv_code append_ingested(struct store_tx *tx,
                                    const struct application *application,
                                    const struct run *run,
                                    struct pv_error *err)
{
    char id[37];
    clock_uuid7(id);
    struct sql sql;
    tx_sql(tx, &sql,
           "INSERT INTO provisor.outbox (team_id, id, type, data, application_id, severity, labels)"
           " VALUES ($1, $2, 'run.ingested',"
           " json_build_object('run_id', $3, 'application', $4, 'problem_size', $5,"
           " 'executors', $6, 'duration_s', $7, 'succeeded', $8), $9, $10,"
           " nullif(jsonb_object($11, $12), '{}'))");
    sql.repeated = true;
    sql_uuid(&sql, id);
    sql_uuid(&sql, run->id);
    sql_text(&sql, application->name);
    sql_double(&sql, run->problem_size);
    sql_count(&sql, run->executors);
    sql_double(&sql, run->duration_s);
    sql_bool(&sql, run->succeeded);
    sql_uuid(&sql, application->id);
    add_filters(&sql, EVENT_INFO, run->labels, run->n_labels);
    return tx_defer(tx, &sql, err);
}

/* The statement looks for itself whether it was. */
static enum pv_code append_missed(struct store_tx *tx,
                                  const struct application *application,
                                  const struct run *run,
                                  struct pv_error *err)
{
    char id[37];
    clock_uuid7(id);
    struct sql sql;
    tx_sql(tx, &sql,
           "INSERT INTO provisor.outbox (team_id, id, type, data, application_id, severity, labels)"
           " SELECT $1, $2, 'deadline.missed',"
           " json_build_object('run_id', $3, 'application', $4, 'advice_id', a.id,"
           " 'deadline_s', a.deadline_s, 'duration_s', $5,"
           " 'predicted_duration_s', a.predicted_duration_s), $7, $8,"
           " nullif(jsonb_object($9, $10), '{}')"
           " FROM provisor.advice a WHERE a.team_id = $1 AND a.id = $6 AND a.deadline_s < $5");
    sql.repeated = true;
    sql_uuid(&sql, id);
    sql_uuid(&sql, run->id);
    sql_text(&sql, application->name);
    sql_double(&sql, run->duration_s);
    sql_uuid(&sql, run->advice_id);
    sql_uuid(&sql, application->id);
    add_filters(&sql, EVENT_CRITICAL, run->labels, run->n_labels);
    return tx_defer(tx, &sql, err);
}

enum pv_code outbox_append_run(struct store_tx *tx,
                               const struct application *application,
                               const struct run *run,
                               struct pv_error *err)
{
    tx->has_events = true;
    PV_TRY(append_ingested(tx, application, run, err));
    return run->advice_id[0] == '\0' ? PV_OK : append_missed(tx, application, run, err);
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
    tx->has_events = true;
    return tx_defer(tx, &sql, err);
}
