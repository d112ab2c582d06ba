#include "store/history/run_task_summary.h"

#include "store/history/run_internal.h"

/* --- which runs --- */

#define U struct unthinned
static const struct column of_unthinned[] = {
    {"team_id", COLUMN_ID(U, team_id)},
    {"application_id", COLUMN_ID(U, application_id)},
    {"run_id", COLUMN_ID(U, run_id)},
};
static const struct columns unthinned_columns = {"unthinned", COLUMNS_OF(of_unthinned, U)};

enum pv_code store_unthinned_list(struct store *store,
                                  struct arena *arena,
                                  int64_t days,
                                  size_t limit,
                                  struct unthinned **items,
                                  size_t *n,
                                  struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {unthinned} FROM provisor.list_unthinned($1, $2)", .of = {&unthinned_columns}};
    struct sql sql;
    bool more;
    sql_columns(&sql, arena, &statement);
    sql_int(&sql, days);
    sql_int(&sql, (int64_t)limit);
    result_auto_t *result = NULL;
    PV_TRY(store_query_alone(store, &sql, &result, err));
    return columns_read_items(result, limit, arena, &unthinned_columns, items, n, &more, err);
}

/* --- one run --- */

static enum pv_code read_stages(const PGresult *result,
                                struct arena *arena,
                                struct run_stage **stages,
                                size_t *n,
                                struct pv_error *err)
{
    size_t there = row_count(result);
    struct run_stage *read = arena_calloc(arena, there, sizeof *read);
    if (read == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < there; i++) {
        struct row row = row_at(result, (int)i, arena);
        size_t tasks;
        read[i].id = row_int(&row);
        read[i].task_durations_s = row_doubles(&row, &tasks);
        read[i].n_tasks = (int64_t)tasks;
        PV_TRY(row_done(&row, err));
    }
    *stages = read;
    *n = there;
    return PV_OK;
}

enum pv_code store_run_long_stages(struct store_tx *tx,
                                   struct arena *arena,
                                   const struct unthinned *run,
                                   size_t least,
                                   struct run_stage **stages,
                                   size_t *n,
                                   struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT FROM provisor.application WHERE team_id = $1 AND id = $2 FOR NO KEY UPDATE");
    sql_uuid(&sql, run->application_id);
    PV_TRY(tx_send(tx, &sql, err));
    tx_sql(tx, &sql,
           "SELECT id, task_durations_s FROM provisor.run_stage WHERE team_id = $1"
           " AND application_id = $2 AND run_id = $3 AND cardinality(task_durations_s) > $4"
           " ORDER BY id");
    sql_uuid(&sql, run->application_id);
    sql_uuid(&sql, run->run_id);
    sql_int(&sql, (int64_t)least);
    PV_TRY(tx_send(tx, &sql, err));
    results_auto_t results = {{NULL}};
    PV_TRY(tx_results(tx, results.of, 2, err));
    return read_stages(results.of[1], arena, stages, n, err);
}

static enum pv_code write_sketch(struct store_tx *tx,
                                 const char *application_id,
                                 const char *run_id,
                                 const struct run_stage *stage,
                                 struct pv_error *err)
{
    struct sql sql;
    const struct task_group *groups = stage->task_sketch;
    tx_sql(tx, &sql,
           "UPDATE provisor.run_stage SET task_durations_s = NULL, task_nodes = NULL,"
           " task_read_bytes = NULL, sketch_tasks = $5, sketch_mean_s = $6 WHERE team_id = $1 AND "
           "application_id = $2 AND run_id = $3"
           " AND id = $4");
    sql_uuid(&sql, application_id);
    sql_uuid(&sql, run_id);
    sql_int(&sql, stage->id);
    sql_counts(&sql, &groups->tasks, stage->n_task_sketch, sizeof *groups);
    sql_doubles(&sql, &groups->mean_s, stage->n_task_sketch, sizeof *groups);
    return tx_defer(tx, &sql, err);
}

enum pv_code run_write_sketches(struct store_tx *tx,
                                const char *application_id,
                                const char *run_id,
                                const struct run_stage stages[],
                                size_t n,
                                size_t *written,
                                struct pv_error *err)
{
    *written = 0;
    for (size_t i = 0; i < n; i++) {
        if (stages[i].n_task_sketch == 0)
            continue;
        PV_TRY(write_sketch(tx, application_id, run_id, &stages[i], err));
        ++*written;
    }
    struct sql sql;
    tx_sql(tx, &sql,
           "UPDATE provisor.run SET tasks_thinned = true, stages_thinned = stages_thinned + $4"
           " WHERE team_id = $1 AND application_id = $2 AND id = $3");
    sql_uuid(&sql, application_id);
    sql_uuid(&sql, run_id);
    sql_int(&sql, (int64_t)*written);
    return tx_defer(tx, &sql, err);
}

enum pv_code store_run_thin(struct store_tx *tx,
                            const struct unthinned *run,
                            const struct run_stage stages[],
                            size_t n,
                            struct pv_error *err)
{
    size_t written;
    PV_TRY(run_write_sketches(tx, run->application_id, run->run_id, stages, n, &written, err));
    if (written == 0)
        return PV_OK;
    struct sql sql;
    tx_sql(tx, &sql,
           "UPDATE provisor.application SET history_version = history_version + 1"
           " WHERE team_id = $1 AND id = $2");
    sql_uuid(&sql, run->application_id);
    return tx_defer(tx, &sql, err);
}
