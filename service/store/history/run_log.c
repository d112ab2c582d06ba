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

void run_read_log(struct row *row, struct stored_log *log)
{
    row_uuid(row, log->run_id);
    log->digest = row_bytes(row);
    log->origin = row_bytes(row);
}

static enum stored_log_match match_log(const struct run *run, const struct stored_log *log)
{
    unsigned char origin[LOG_ORIGIN_BYTES_MAX];
    if (log->digest.at != NULL && run->log_digest.at != NULL &&
        strview_equal(log->digest, run->log_digest))
        return STORED_LOG_SAME;
    if (log->origin.at == NULL)
        return STORED_LOG_MAYBE;
    size_t n = log_origin_write(run, origin);
    return log_origin_agrees(log->origin, (struct strview){(const char *)origin, n})
               ? STORED_LOG_OF_RUN
               : STORED_LOG_OTHER;
}

void run_match_log(const struct run *run,
                   const struct stored_log *log,
                   struct stored_log *best,
                   enum stored_log_match *match)
{
    enum stored_log_match found = match_log(run, log);
    if (found <= *match)
        return;
    *match = found;
    *best = *log;
}

bool run_has_origin_of(const struct run *stored, const struct run *run)
{
    unsigned char left[LOG_ORIGIN_BYTES_MAX], right[LOG_ORIGIN_BYTES_MAX];
    size_t n = log_origin_write(stored, left);
    size_t m = log_origin_write(run, right);
    return log_origin_agrees((struct strview){(const char *)left, n},
                             (struct strview){(const char *)right, m});
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
           "  'cores_per_executor', r.cores_per_executor, 'problem_size', " RUN_PROBLEM_SIZE("r.")
           ", 'tasks_succeeded', r.tasks_succeeded, 'tasks_failed', r.tasks_failed,"
           "  'log_complete', r.ended, 'log_digest', (SELECT encode(l.digest, 'hex')"
           "   FROM provisor.run_log l WHERE l.team_id = $1 AND l.application_id = $2"
           "   AND l.run_id = $3 LIMIT 1))"
           " FROM provisor.run r WHERE r.team_id = $1 AND r.application_id = $2 AND r.id = $3");
    sql_uuid(&sql, application_id);
    sql_uuid(&sql, run_id);
    sql_uuid(&sql, id);
    sql_uuid(&sql, tx->who.token_id);
    sql_text(&sql, strview_of(tx->who.actor));
    sql_text(&sql, strview_of(tx->request_id));
    PV_TRY(tx_defer(tx, &sql, err));
    return run_queue_removal(tx, application_id, run_id, err);
}
