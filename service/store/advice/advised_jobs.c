#include "store/advice/advised_jobs.h"

#include "store/history/run.h"
#include "store/sql/columns.h"

/* Read of advice a and the admission m that follows it, if any. */
#define J struct advised_job_row
static const struct column of_job[] = {
    {"a.id", COLUMN_ID(J, advice_id)},
    {"m.id", COLUMN_ID(J, admission_id)},
    {"a.application_name", COLUMN_TEXT(J, application)},
    {"a.exact_problem_size", COLUMN_NUMBER(J, problem_size)},
    {"a.executors", COLUMN_COUNT(J, executors)},
    {"coalesce(m.granted_cores, a.executors * a.cores_per_executor)", COLUMN_NUMBER(J, cores)},
    {"a.predicted_duration_s", COLUMN_NUMBER(J, predicted_duration_s)},
    {"m.memory_bytes", COLUMN_COUNT(J, memory_bytes)},
    {"coalesce(m.starts_at, a.created_at)", COLUMN_INSTANT(J, starts_us)},
    {"coalesce(m.deadline_at, m.expires_at, a.due_at)", COLUMN_INSTANT(J, due_us)},
};
static const struct columns columns = {"job", COLUMNS_OF(of_job, J)};

enum pv_code store_advised_jobs(struct store_tx *tx,
                                struct arena *arena,
                                struct strview cluster,
                                bool without_held,
                                int64_t now_us,
                                size_t limit,
                                struct advised_job_list *list,
                                struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {job} FROM provisor.advice a LEFT JOIN LATERAL"
        " (SELECT p.*, p.ended_at IS NULL AS held FROM provisor.admission p"
        " WHERE p.team_id = a.team_id AND p.advice_id = a.id"
        " AND (p.ending = 'released' OR p.ended_at IS NULL AND p.expires_at > $3)"
        " ORDER BY p.ended_at IS NULL DESC, p.created_at DESC, p.id DESC LIMIT 1) m ON true"
        " WHERE a.team_id = $1 AND a.cluster = $2 AND a.due_at > $3"
        " AND (m.id IS NULL OR m.held AND NOT $4)"
        " AND NOT EXISTS (SELECT FROM provisor.run r"
        " WHERE r.team_id = a.team_id AND r.advice_id = a.id)"
        " ORDER BY a.created_at DESC, a.id DESC LIMIT $5",
        .of = {&columns}};
    struct sql sql;
    result_auto_t *result = NULL;
    tx_columns(tx, &sql, &statement);
    sql_text(&sql, cluster);
    sql_instant(&sql, now_us);
    sql_bool(&sql, without_held);
    sql_int(&sql, (int64_t)limit + 1);
    PV_TRY(tx_query(tx, &sql, &result, err));
    return columns_read_list(result, limit, arena, &columns, list, err);
}
