#include "store/history/run_durations.h"

#include "store/history/run.h"
#include "store/history/run_evidence_internal.h"
#include "store/models/application_model.h"
#include "store/store_internal.h"

static enum pv_code read_list(const PGresult *result,
                              struct arena *arena,
                              struct run_observations *observations,
                              struct pv_error *err)
{
    struct run_observations all = {.n = row_count(result)};
    all.rows = arena_array(arena, all.n, sizeof *all.rows);
    all.labels = arena_array(arena, all.n, sizeof *all.labels);
    all.evidence = arena_array(arena, all.n, sizeof *all.evidence);
    if (all.rows == NULL || all.labels == NULL || all.evidence == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < all.n; i++) {
        struct row row = row_at(result, (int)i, arena);
        all.labels[i].labels = row_pairs(&row, &all.labels[i].n);
        double problem_size = row_double(&row);
        int64_t executors = row_int(&row);
        double duration_s = row_double(&row);
        double initialization_s = row_double(&row);
        all.rows[i] = model_seen(problem_size, (double)executors, duration_s, initialization_s);
        all.evidence[i] = run_evidence_read(&row, executors, duration_s);
        /* Stages and cores are known from an event log, in which executors have been counted. */
        all.rows[i].executors_counted = all.evidence[i].replayable;
        PV_TRY(row_done(&row, err));
    }
    *observations = all;
    return PV_OK;
}

enum pv_code store_run_durations(struct store_tx *tx,
                                 struct arena *arena,
                                 const struct application *application,
                                 size_t limit,
                                 struct run_observations *observations,
                                 struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT r.label_keys, r.label_values, " RUN_SIZE ", r.executors,"
           " " RUN_WORKED_S ", " RUN_INITIALIZED_S ", " RUN_EVIDENCE_COLUMNS
           " FROM provisor.run r WHERE r.team_id = $1 AND r.application_id = $2 AND r.succeeded"
           " AND " RUN_PREDICTS " AND " RUN_SIZE " > 0 AND r.executors >= 1"
           " AND " RUN_WORKED_S " > 0"
           " ORDER BY r.instant DESC, r.id DESC LIMIT $3");
    sql_uuid(&sql, application->id);
    sql_int(&sql, (int64_t)limit);
    result_auto_t *result = NULL;
    PV_TRY(tx_walk(tx, &sql, &result, err));
    PV_TRY(read_list(result, arena, observations, err));
    PV_TRY(store_theta_find(tx, arena, application->id, &observations->theta, err));
    return store_team_evidence(tx, arena, application->id, observations, err);
}
