#include "store/advice/advice.h"

#include "store/store_internal.h"

static enum pv_code
insert(struct store_tx *tx, const struct advice_row *advice, struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "INSERT INTO provisor.advice (team_id, id, application_id, application_name, objective,"
           " feasible, executors, predicted_duration_s, deadline_s, request, document, created_at,"
           " problem_size, cores_per_executor, lower_s, upper_s, confidence, model_kind,"
           " deadline_probability)"
           " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, coalesce($12, now()), $13, $14,"
           " $15, $16, $17, $18, $19)");
    sql.repeated = true;
    sql_uuid(&sql, advice->id);
    sql_uuid(&sql, advice->application_id);
    sql_text(&sql, advice->application_name);
    sql_text(&sql, advice->objective);
    sql_bool(&sql, advice->feasible);
    sql_count(&sql, advice->executors);
    sql_double(&sql, advice->predicted_duration_s);
    sql_double(&sql, advice->deadline_s);
    sql_json(&sql, advice->request);
    sql_json(&sql, advice->document);
    sql_instant(&sql, advice->created_us > 0 ? advice->created_us : RUN_NO_INSTANT);
    sql_count(&sql, advice->problem_size);
    sql_count(&sql, advice->cores_per_executor);
    sql_double(&sql, advice->lower_s);
    sql_double(&sql, advice->upper_s);
    sql_double(&sql, advice->confidence);
    sql_text(&sql, advice->model_kind);
    sql_double(&sql, advice->deadline_probability);
    return tx_defer(tx, &sql, err);
}

enum pv_code store_advice_insert_commit(struct store_tx **tx,
                                        const struct advice_row *advice,
                                        struct strview event_data,
                                        struct pv_error *err)
{
    store_tell_of(*tx, advice->application_id);
    enum pv_code code = insert(*tx, advice, err);
    if (code == PV_OK)
        code = journal_audit(*tx, "advice.insert", "advice", strview_of(advice->id), err);
    if (code == PV_OK)
        code = journal_event(*tx, "advice.created", event_data, err);
    if (code == PV_OK && !advice->feasible)
        code = journal_event(*tx, "deadline.infeasible", event_data, err);
    if (code == PV_OK)
        return store_commit(tx, err);
    store_rollback(tx);
    return code;
}

#define HEADLINE                                                                                   \
    "id, application_id, application_name, objective, feasible, executors, predicted_duration_s,"  \
    " deadline_s, document, created_at"

static enum pv_code read_advice(const PGresult *result,
                                size_t at,
                                struct arena *arena,
                                bool whole,
                                struct advice_row *advice,
                                struct pv_error *err)
{
    struct row row = row_at(result, (int)at, arena);
    struct advice_row a = {0};
    row_uuid(&row, a.id);
    row_uuid(&row, a.application_id);
    a.application_name = row_text(&row);
    a.objective = row_text(&row);
    a.feasible = row_bool(&row);
    a.executors = row_int(&row);
    a.predicted_duration_s = row_double(&row);
    a.deadline_s = row_double(&row);
    a.document = row_text(&row);
    a.created_us = row_instant(&row);
    if (whole) {
        a.request = row_text(&row);
        a.cores_per_executor = row_int(&row);
        a.lower_s = row_double(&row);
        a.upper_s = row_double(&row);
    }
    PV_TRY(row_done(&row, err));
    *advice = a;
    return PV_OK;
}

enum pv_code store_advice_find(struct store_tx *tx,
                               struct arena *arena,
                               const char *id,
                               struct advice_row *advice,
                               struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT " HEADLINE ", request, cores_per_executor, lower_s, upper_s FROM "
           "provisor.advice WHERE team_id = $1 AND id = $2");
    sql_uuid(&sql, id);
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, &sql, &result, err));
    if (row_count(result) == 0)
        return pv_fail(err, PV_E_NOT_FOUND, "there is no advice of that id");
    return read_advice(result, 0, arena, true, advice, err);
}

/* Two statements rather than "$2 IS NULL OR ...", so that each walks its own index. */
static void list_query(struct store_tx *tx, const struct advice_filter *filter, struct sql *sql)
{
    bool all = filter->application_name == NULL;
    tx_sql(
        tx, sql,
        all ? "SELECT " HEADLINE " FROM provisor.advice WHERE team_id = $1"
              " AND (created_at, id) < ($2, $3) AND created_at >= $5 AND created_at < $6"
              " AND ($7::bigint IS NULL OR feasible = ($7::bigint = 1))"
              " ORDER BY created_at DESC, id DESC LIMIT $4"
            : "SELECT " HEADLINE " FROM provisor.advice WHERE team_id = $1"
              " AND (created_at, id) < ($2, $3) AND created_at >= $5 AND created_at < $6"
              " AND ($7::bigint IS NULL OR feasible = ($7::bigint = 1)) AND application_name = $8"
              " ORDER BY created_at DESC, id DESC LIMIT $4");
    sql_bound(sql, filter->before_us, "infinity");
    sql_uuid(sql, filter->before_us == RUN_NO_INSTANT ? "ffffffff-ffff-ffff-ffff-ffffffffffff"
                                                      : filter->before_id);
    sql_int(sql, (int64_t)filter->limit + 1);
    sql_bound(sql, filter->since_us, "-infinity");
    sql_bound(sql, filter->until_us, "infinity");
    sql_count(sql, filter->feasible);
    if (!all)
        sql_text(sql, strview_of(filter->application_name));
}

enum pv_code store_advice_list(struct store_tx *tx,
                               struct arena *arena,
                               const struct advice_filter *filter,
                               struct advice_list *list,
                               struct pv_error *err)
{
    struct sql sql;
    list_query(tx, filter, &sql);
    result_auto_t *result = NULL;
    PV_TRY(tx_walk(tx, &sql, &result, err));
    size_t there = row_count(result);
    struct advice_list read = {.more = there > filter->limit};
    read.n = read.more ? filter->limit : there;
    read.items = arena_calloc(arena, read.n, sizeof *read.items);
    if (read.items == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < read.n; i++)
        PV_TRY(read_advice(result, i, arena, false, &read.items[i], err));
    *list = read;
    return PV_OK;
}
