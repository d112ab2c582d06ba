#include "store/history/run_durations.h"

#include "store/history/run_evidence_internal.h"
#include "store/store_internal.h"

static enum pv_code read_list(const PGresult *result,
                              struct arena *arena,
                              struct run_duration_list *list,
                              struct pv_error *err)
{
    size_t n = row_count(result);
    struct run_duration *items = arena_calloc(arena, n, sizeof *items);
    if (items == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        struct row row = row_at(result, (int)i, arena);
        items[i].replayable = row_bool(&row);
        items[i].labels.labels = row_pairs(&row, &items[i].labels.n);
        items[i].problem_size = row_int(&row);
        items[i].executors = row_int(&row);
        items[i].cores_per_executor = row_int(&row);
        items[i].duration_s = row_double(&row);
        items[i].initialization_s = row_double(&row);
        items[i].evidence = run_evidence_read(&row, items[i].executors, items[i].duration_s);
        items[i].weight = 1;
        enum pv_code code = row_done(&row, err);
        if (code != PV_OK)
            return code;
    }
    *list = (struct run_duration_list){items, n};
    return PV_OK;
}

enum pv_code store_run_durations(struct store_tx *tx,
                                 struct arena *arena,
                                 const struct application *application,
                                 size_t limit,
                                 struct run_duration_list *list,
                                 struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT replayable, label_keys, label_values, problem_size, executors,"
           " cores_per_executor, duration_s, initialization_s,"
           " " RUN_EVIDENCE_COLUMNS(
               "") " FROM provisor.run WHERE team_id = $1 AND application_id = $2 AND succeeded"
                   " AND problem_size >= 1 AND executors >= 1 AND duration_s > 0"
                   " ORDER BY instant DESC, id DESC LIMIT $3");
    sql_uuid(&sql, application->id);
    sql_int(&sql, (int64_t)limit);
    result_auto_t *result = NULL;
    PV_TRY(tx_walk(tx, &sql, &result, err));
    return read_list(result, arena, list, err);
}
