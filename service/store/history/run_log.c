#include "store/history/run_internal.h"

#include "threads/clock.h"

/*
 * Which logs are stored. Application id and attempt are the key, but several runs can have the same
 * ones: such twins are numbered. The number only makes the key unique; which run a log is of
 * follows from its origin.
 */

static void add_log_key(struct sql *sql, const char *application_id, const struct run *run)
{
    struct strview attempt = run->spark_attempt_id;
    sql_uuid(sql, application_id);
    sql_text(sql, run->spark_application_id);
    sql_text(sql, attempt.at == NULL ? strview_of("") : attempt);
}

enum pv_code run_send_logs(struct store_tx *tx,
                           const char *application_id,
                           const struct run *run,
                           struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT run_id, digest, origin FROM provisor.run_log WHERE team_id = $1"
           " AND application_id = $2 AND spark_application_id = $3 AND spark_attempt_id = $4");
    add_log_key(&sql, application_id, run);
    return tx_send(tx, &sql, err);
}

enum pv_code
run_read_log(struct row *row, const struct run *run, struct run_logs *logs, struct pv_error *err)
{
    unsigned char origin[LOG_ORIGIN_BYTES_MAX];
    struct stored_log log;
    row_uuid(row, log.run_id);
    log.digest = row_bytes(row);
    log.origin = row_bytes(row);
    PV_TRY(row_done(row, err));
    if (logs->same)
        return PV_OK;
    logs->same = log.digest.at != NULL && run->log_digest.at != NULL &&
                 strview_equal(log.digest, run->log_digest);
    struct strview own = {(const char *)origin, log_origin_write(run, origin)};
    if (logs->same)
        logs->n = 0;
    if (logs->same || log_origin_agrees(log.origin, own))
        logs->items[logs->n++] = log;
    return PV_OK;
}

enum pv_code run_read_logs(const PGresult *result,
                           struct arena *arena,
                           const struct run *run,
                           struct run_logs *logs,
                           struct pv_error *err)
{
    *logs = (struct run_logs){.items = arena_array(arena, row_count(result), sizeof *logs->items)};
    if (logs->items == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < row_count(result); i++) {
        struct row row = row_at(result, (int)i, arena);
        PV_TRY(run_read_log(&row, run, logs, err));
    }
    return PV_OK;
}

void run_set_log(struct run *run, const struct stored_log *log)
{
    run->log_digest = log->digest;
    if (log->origin.n > LOG_ORIGIN_HEAD)
        run->log_beginning =
            (struct strview){log->origin.at + LOG_ORIGIN_HEAD, log->origin.n - LOG_ORIGIN_HEAD};
}

/* Two transactions that take the same number for a twin: one of them starts again. */
enum pv_code run_queue_log(struct store_tx *tx,
                           const char *application_id,
                           const struct run *run,
                           struct pv_error *err)
{
    if (run->spark_application_id.at == NULL)
        return PV_OK;
    struct sql sql;
    unsigned char origin[LOG_ORIGIN_BYTES_MAX];
    tx_sql(tx, &sql,
           "INSERT INTO provisor.run_log (team_id, application_id, spark_application_id,"
           " spark_attempt_id, run_id, digest, ended, origin, twin)"
           " SELECT $1, $2, $3, $4, $5, $6, $7, $8, (SELECT coalesce(max(twin) + 1, 0)"
           "  FROM provisor.run_log WHERE team_id = $1 AND application_id = $2"
           "  AND spark_application_id = $3 AND spark_attempt_id = $4)");
    sql.repeated = true;
    add_log_key(&sql, application_id, run);
    sql_uuid(&sql, run->id);
    sql_bytes(&sql, (const unsigned char *)run->log_digest.at, run->log_digest.n);
    sql_bool(&sql, run->ended);
    sql_bytes(&sql, origin, log_origin_write(run, origin));
    return tx_defer(tx, &sql, err);
}

enum pv_code run_queue_replaced(struct store_tx *tx,
                                const char *application_id,
                                const char *run_id,
                                struct pv_error *err)
{
    char id[37];
    struct sql sql;
    clock_uuid7(id);
    tx_sql(tx, &sql,
           "INSERT INTO provisor.audit (team_id, id, token_id, actor, action, subject, request_id,"
           " replaced)"
           " SELECT $1, $4, $5, $6, 'run.replace', 'run/' || $3, $7, json_build_object("
           "  'duration_s', r.duration_s, 'executors', r.executors,"
           "  'cores_per_executor', r.cores_per_executor, 'problem_size', " RUN_SIZE ","
           "  'tasks_succeeded', r.tasks_succeeded, 'tasks_failed', r.tasks_failed,"
           "  'log_complete', r.ended, 'log_digest', (SELECT encode(l.digest, 'hex')"
           "   FROM provisor.run_log l WHERE l.team_id = $1 AND l.application_id = $2"
           "   AND l.run_id = $3 LIMIT 1))"
           " FROM provisor.run r"
           " WHERE r.team_id = $1 AND r.application_id = $2 AND r.id = $3");
    sql_uuid(&sql, application_id);
    sql_uuid(&sql, run_id);
    sql_uuid(&sql, id);
    sql_uuid(&sql, tx->who.token_id);
    sql_text(&sql, strview_of(tx->who.actor));
    sql_text(&sql, strview_of(tx->request_id));
    PV_TRY(tx_defer(tx, &sql, err));
    return run_queue_removal(tx, application_id, run_id, err);
}
