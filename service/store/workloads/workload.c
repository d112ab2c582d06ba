#include "store/workloads/workload.h"

#include <inttypes.h>

#include "base/plural.h"
#include "store/sql/columns_query.h"
#include "store/usage/usage.h"

#define W struct workload_record
static const struct column of_workload[] = {
    {"id", COLUMN_ID(W, id)},
    {"name", COLUMN_TEXT(W, name)},
    {"format", COLUMN_WORD(W, origin, workload_origin_words)},
    {"jobs", COLUMN_COUNT(W, jobs)},
    {"tasks", COLUMN_COUNT(W, tasks)},
    {"reduce_tasks", COLUMN_COUNT(W, reduce_tasks)},
    {"runs", COLUMN_COUNT(W, runs)},
    {"reduce_runs", COLUMN_COUNT(W, reduce_runs)},
    {"name_bytes", COLUMN_COUNT(W, name_bytes)},
    {"chunks", COLUMN_COUNT(W, chunks)},
    {"bytes", COLUMN_COUNT(W, bytes)},
    {"sorted", COLUMN_BOOLEAN(W, sorted)},
    {"law_jobs", COLUMN_COUNT(W, law_jobs)},
    {"law_seconds_per_byte", COLUMN_NUMBER(W, law_seconds_per_byte)},
    {"law_r_squared", COLUMN_NUMBER(W, law_r_squared)},
    {"law_log_r_squared", COLUMN_NUMBER(W, law_log_r_squared)},
    {"law_without_input_s", COLUMN_NUMBER(W, law_without_input_s)},
    {"summary", COLUMN_JSON(W, summary)},
    {"created_at", COLUMN_INSTANT(W, created_us), .computed = true},
};
static const struct columns columns = {"workload", COLUMNS_OF(of_workload, W)};

static enum pv_code
audit(struct store_tx *tx, const char *action, const char *id, struct pv_error *err)
{
    return journal_audit(tx, action, "workload", strview_of(id), err);
}

/* --- reading --- */

enum pv_code store_workload_find(struct store_tx *tx,
                                 struct arena *arena,
                                 const char *id,
                                 struct workload_record *workload,
                                 struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {workload} FROM provisor.workload WHERE team_id = $1 AND id = $2",
        .of = {&columns}};
    struct sql sql;
    tx_columns(tx, &sql, &statement);
    sql_uuid(&sql, id);
    return columns_query_one(tx, &sql, arena, &columns, workload, err);
}

enum pv_code store_workload_list(struct store_tx *tx,
                                 struct arena *arena,
                                 const char *after_id,
                                 size_t limit,
                                 struct workload_page *page,
                                 struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {workload} FROM provisor.workload WHERE team_id = $1" COLUMNS_AFTER_ID,
        .of = {&columns}};
    return columns_query_page(tx, &statement, after_id, limit, arena, &columns, page, err);
}

enum pv_code store_workload_chunk(struct store_tx *tx,
                                  struct arena *arena,
                                  const char *id,
                                  int64_t position,
                                  struct strview *content,
                                  struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    tx_sql(tx, &sql,
           "SELECT content FROM provisor.workload_chunk"
           " WHERE team_id = $1 AND workload_id = $2 AND position = $3");
    sql.repeated = true;
    sql_uuid(&sql, id);
    sql_int(&sql, position);
    PV_TRY(tx_query(tx, &sql, &result, err));
    if (row_count(result) == 0)
        return columns_none_there(&columns, err);
    struct row row = row_at(result, 0, arena);
    *content = row_bytes(&row);
    return row_done(&row, err);
}

/* --- writing --- */

enum pv_code store_workload_append(struct store_tx *tx,
                                   const char id[37],
                                   int64_t position,
                                   struct strview content,
                                   struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    tx_sql(tx, &sql,
           "INSERT INTO provisor.workload_chunk (team_id, workload_id, position, content)"
           " VALUES ($1, $2, $3, $4)");
    sql.repeated = true;
    sql_uuid(&sql, id);
    sql_int(&sql, position);
    sql_bytes(&sql, content.at, content.n);
    return tx_query(tx, &sql, &result, err); /* deferred they would all be in memory */
}

static enum pv_code refuse(const struct workload_room *room,
                           int64_t workloads,
                           int64_t bytes,
                           int64_t more,
                           struct pv_error *err)
{
    if (workloads >= room->workloads)
        return pv_fail(err, PV_E_LIMIT,
                       "the team has %" PRId64 " workload%s already, as many as it may "
                       "(workloads_max)",
                       workloads, PLURAL(workloads));
    return pv_fail(err, PV_E_LIMIT,
                   "the workloads of the team would take %" PRId64 " byte%s, more than the %" PRId64
                   " that they may (workload_bytes_max)",
                   bytes + more, PLURAL(bytes + more), room->bytes);
}

enum pv_code store_workload_check_room(struct store_tx *tx,
                                       const struct workload_room *room,
                                       int64_t more,
                                       struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    tx_sql(tx, &sql,
           "SELECT count(*), coalesce(sum(bytes), 0)::bigint FROM provisor.workload"
           " WHERE team_id = $1");
    PV_TRY(tx_query(tx, &sql, &result, err));
    struct row row = row_at(result, 0, NULL);
    int64_t workloads = row_int(&row);
    int64_t bytes = row_int(&row);
    PV_TRY(row_done(&row, err));
    return workloads < room->workloads && more <= room->bytes - bytes
               ? PV_OK
               : refuse(room, workloads, bytes, more, err);
}

enum pv_code store_workload_finish(struct store_tx *tx,
                                   struct arena *arena,
                                   const struct workload_room *room,
                                   struct workload_record *workload,
                                   struct pv_error *err)
{
    static struct columns_statement statement = {
        "INSERT INTO provisor.workload (team_id, {workload:written})"
        " VALUES ($1, {workload:values}) RETURNING {workload}",
        .of = {&columns}};
    struct sql sql;
    PV_TRY(tx_lock_team(tx, "workload", err));
    PV_TRY(store_workload_check_room(tx, room, workload->bytes, err));
    tx_columns(tx, &sql, &statement);
    columns_bind(&sql, &columns, workload);
    PV_TRY(columns_query_one(tx, &sql, arena, &columns, workload, err));
    PV_TRY(usage_check(tx, 1u << QUOTA_BYTES, err));
    return audit(tx, "workload.insert", workload->id, err);
}

enum pv_code store_workload_delete(struct store_tx *tx, const char *id, struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    tx_sql(tx, &sql, "DELETE FROM provisor.workload WHERE team_id = $1 AND id = $2 RETURNING 1");
    sql_uuid(&sql, id);
    PV_TRY(tx_query(tx, &sql, &result, err));
    return row_count(result) > 0 ? audit(tx, "workload.delete", id, err)
                                 : columns_none_there(&columns, err);
}
