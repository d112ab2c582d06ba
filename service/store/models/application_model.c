#include "store/models/application_model.h"

#include <math.h>
#include <string.h>

#include "base/fault_text.h"
#include "core/scaling/history/law_errors.h"
#include "core/scaling/laws/idle_share.h"
#include "store/history/run.h"
#include "store/history/run_evidence_internal.h"
#include "store/outbox/outbox.h"
#include "store/sql/columns.h"
#include "threads/clock.h"

/* Of so many of the newest runs: a thousand runs may have ten million stages. */
enum { STAGES_ADDED_UP = 50 };

/* What a model can say of itself on the wire, so that what is kept can be read back. */
static const int64_t count_max = 1000000000000;
static const double seconds_min = 1e-9;
static const double seconds_max = 1e12;

static bool is_count(int64_t count)
{
    return count >= 1 && count <= count_max;
}

static bool is_size(double problem_size)
{
    return problem_size > 0 && problem_size <= (double)count_max;
}

/* The columns of a run; false: there is none. */
static bool read_observation(struct row *row, struct run_observations *all)
{
    if (row_is_null(row))
        return false;
    bool succeeded = row_bool(row);
    double problem_size = row_double(row);
    int64_t executors = row_int(row);
    double duration_s = row_double(row);
    double initialization_s = row_double(row);
    double stages_s = row_double(row);
    struct run_label_list labels = {NULL, 0};
    labels.labels = row_pairs(row, &labels.n);
    struct run_evidence evidence = run_evidence_read(row, executors, duration_s);
    bool timed = duration_s >= seconds_min && duration_s <= seconds_max;
    if (!succeeded)
        all->failures[all->failed++] = evidence;
    all->without_problem_size += !is_size(problem_size);
    all->without_executors += !is_count(executors);
    all->without_duration += !timed;
    if (succeeded && is_size(problem_size) && is_count(executors) && timed) {
        all->labels[all->n] = labels;
        all->evidence[all->n] = evidence;
        all->rows[all->n++] = (struct observation){
            .problem_size = problem_size,
            .executors = (double)executors,
            .duration_s = duration_s,
            .initialization_s = initialization_s <= duration_s ? initialization_s : (double)NAN,
            .speedup = (double)NAN,
            .stages_s = stages_s > 0 ? stages_s : 0,
            /* Cores and stages are known from an event log, in which executors were counted. */
            .executors_counted = evidence.replayable};
    }
    return true;
}

static enum pv_code read_observations(const PGresult *result,
                                      struct arena *arena,
                                      struct run_observations *observations,
                                      struct pv_error *err)
{
    struct run_observations all = {0};
    size_t n = row_count(result);
    all.rows = arena_array(arena, n, sizeof *all.rows);
    all.labels = arena_array(arena, n, sizeof *all.labels);
    all.evidence = arena_array(arena, n, sizeof *all.evidence);
    all.failures = arena_array(arena, n, sizeof *all.failures);
    if (all.rows == NULL || all.labels == NULL || all.evidence == NULL || all.failures == NULL)
        return pv_no_memory(err);
    if (n == 0)
        return pv_fail(err, PV_E_NOT_FOUND, "there is no application of that name");
    for (size_t i = 0; i < n; i++) {
        struct row row = row_at(result, (int)i, arena);
        all.history_version = row_int(&row);
        all.runs = row_int(&row);
        all.looked_at += read_observation(&row, &all);
        PV_TRY(row_done(&row, err));
    }
    *observations = all;
    return PV_OK;
}

enum pv_code store_team_evidence(struct store_tx *tx,
                                 struct arena *arena,
                                 const char *application_id,
                                 struct run_observations *observations,
                                 struct pv_error *err)
{
    struct sql sql;
    struct law_errors *errors = &observations->law_errors;
    result_auto_t *result = NULL;
    tx_sql(tx, &sql,
           "SELECT counted, shown FROM (SELECT m.* FROM (VALUES (false), (true)) AS k (counted)"
           " CROSS JOIN LATERAL (SELECT idle_counted AS counted, idle_evidence AS shown, fitted_at"
           "  FROM provisor.application_model WHERE team_id = $1 AND idle_counted = k.counted"
           "  AND application_id <> $2 ORDER BY fitted_at DESC, application_id LIMIT $3) AS m"
           " UNION ALL (SELECT NULL, law_error, fitted_at FROM provisor.application_model"
           "  WHERE team_id = $1 AND law_error IS NOT NULL AND application_id <> $2"
           "  ORDER BY fitted_at DESC, application_id LIMIT $4)) AS e ORDER BY fitted_at DESC");
    sql_uuid(&sql, application_id);
    sql_int(&sql, IDLE_APPLICATIONS_MAX);
    sql_int(&sql, LAW_ERRORS_MAX);
    PV_TRY(tx_query(tx, &sql, &result, err));
    size_t n = row_count(result);
    *errors = (struct law_errors){arena_array(arena, n, sizeof(double)), 0};
    if (errors->at == NULL)
        return pv_no_memory(err);
    for (int counted = 0; counted < 2; counted++) {
        observations->idle[counted] =
            (struct idle_ratios){arena_array(arena, n, sizeof(double)), 0};
        if (observations->idle[counted].at == NULL)
            return pv_no_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        struct row row = row_at(result, (int)i, arena);
        bool idle = !row_is_null(&row);
        struct idle_ratios *ratios = &observations->idle[row_bool(&row)];
        double shown = row_double(&row);
        if (idle)
            ratios->at[ratios->n++] = shown;
        else
            errors->at[errors->n++] = shown;
        PV_TRY(row_done(&row, err));
    }
    return PV_OK;
}

enum pv_code store_theta_find(struct store_tx *tx,
                              struct arena *arena,
                              const char *application_id,
                              const struct process_theta **theta,
                              struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    *theta = NULL;
    tx_sql(tx, &sql,
           "SELECT theta_cells, theta FROM provisor.application_model"
           " WHERE team_id = $1 AND application_id = $2 AND theta IS NOT NULL");
    sql_uuid(&sql, application_id);
    PV_TRY(tx_query(tx, &sql, &result, err));
    if (row_count(result) == 0)
        return PV_OK;
    struct row row = row_at(result, 0, arena);
    struct process_theta *found = arena_calloc(arena, 1, sizeof *found);
    if (found == NULL)
        return pv_no_memory(err);
    found->cells = (uint64_t)row_int(&row);
    const double *at = row_doubles(&row, &found->n);
    PV_TRY(row_done(&row, err));
    if (found->n > PROCESS_THETA_MAX)
        return PV_OK; /* of another program */
    memcpy(found->at, at, found->n * sizeof *at);
    *theta = found;
    return PV_OK;
}

enum pv_code store_theta_keep(struct store_tx *tx,
                              const char *application_id,
                              const struct process_theta *theta,
                              struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "UPDATE provisor.application_model SET theta_cells = $3, theta = $4"
           " WHERE team_id = $1 AND application_id = $2");
    sql_uuid(&sql, application_id);
    sql_int(&sql, (int64_t)theta->cells);
    sql_doubles(&sql, theta->at, theta->n, sizeof theta->at[0]);
    return tx_defer(tx, &sql, err);
}

enum pv_code store_run_observations(struct store_tx *tx,
                                    struct arena *arena,
                                    const char *application_id,
                                    size_t most,
                                    struct run_observations *observations,
                                    struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    tx_sql(tx, &sql,
           "SELECT a.history_version, a.runs, r.succeeded, " RUN_SIZE ", r.executors,"
           " " RUN_WORKED_S ", " RUN_INITIALIZED_S ", s.duration_s, r.label_keys,"
           " r.label_values, " RUN_EVIDENCE_COLUMNS " FROM provisor.application a"
           " LEFT JOIN LATERAL (SELECT *, row_number() OVER (ORDER BY instant DESC, id DESC) AS nth"
           "  FROM provisor.run WHERE team_id = $1 AND application_id = $2 AND " RUN_PREDICTS
           "  ORDER BY instant DESC, id DESC LIMIT $3) AS r ON true"
           " LEFT JOIN LATERAL (SELECT CASE WHEN bool_and(skipped OR duration_s IS NOT NULL)"
           "   THEN sum(duration_s) FILTER (WHERE NOT skipped) END AS duration_s"
           "  FROM provisor.run_stage WHERE team_id = $1 AND application_id = $2"
           "  AND run_id = r.id AND r.nth <= $4 AND r.initialization_s IS NOT NULL) AS s ON true"
           " WHERE a.team_id = $1 AND a.id = $2");
    sql_uuid(&sql, application_id);
    sql_int(&sql, (int64_t)most);
    sql_int(&sql, STAGES_ADDED_UP);
    PV_TRY(tx_walk(tx, &sql, &result, err));
    PV_TRY(read_observations(result, arena, observations, err));
    return store_team_evidence(tx, arena, application_id, observations, err);
}

#define M struct application_model
static const struct column of_model[] = {
    {"a.id", COLUMN_ID(M, application_id)},
    {"a.name", COLUMN_TEXT(M, application)},
    {"a.history_version", COLUMN_COUNT(M, history_now)},
    {"m.history_version", COLUMN_COUNT(M, history_version)},
    {"m.recipe", COLUMN_TEXT(M, fingerprint)},
    {"m.fitted", COLUMN_COUNT(M, fitted)},
    {"m.selected", COLUMN_TEXT(M, selected)},
    {"m.refusal_code", COLUMN_TEXT(M, refusal_code)},
    {"m.refusal", COLUMN_TEXT(M, refusal)},
    {"m.document", COLUMN_JSON(M, document)},
    {"m.refit", COLUMN_JSON(M, refit)},
    {"m.refit_version", COLUMN_COUNT(M, refit_version)},
};
static const struct columns model_columns = {"model", COLUMNS_OF(of_model, M)};

enum pv_code store_application_model_find(struct store_tx *tx,
                                          struct arena *arena,
                                          const char *name,
                                          struct application_model *model,
                                          struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {model} FROM provisor.application a LEFT JOIN provisor.application_model m"
        "  ON m.team_id = a.team_id AND m.application_id = a.id"
        " WHERE a.team_id = $1 AND a.name = $2",
        .of = {&model_columns}};
    struct sql sql;
    result_auto_t *result = NULL;
    tx_columns(tx, &sql, &statement);
    sql_text(&sql, strview_of(name));
    PV_TRY(tx_query(tx, &sql, &result, err));
    if (row_count(result) == 0)
        return pv_fail(err, PV_E_NOT_FOUND, "there is no application %s", fault_quote(name).text);
    *model = (struct application_model){.fitted = 0};
    return columns_read_row(result, 0, arena, &model_columns, model, err);
}

/* Once a drift: whoever stores the same models a second time finds it reported. */
static enum pv_code
report_drift(struct store_tx *tx, const struct application_model *model, struct pv_error *err)
{
    char id[37];
    struct sql sql;
    clock_uuid7(id);
    tx_sql(tx, &sql,
           "WITH reported AS (UPDATE provisor.application_model SET drift_told_at = $3"
           "  WHERE team_id = $1 AND application_id = $2 AND history_version = $4"
           "  AND (drift_told_at IS NULL OR drift_told_at < $3) RETURNING application_id)"
           " INSERT INTO provisor.outbox (team_id, id, type, data, application_id, severity)"
           " SELECT $1, $5, 'model.drifted', $6, application_id, $7 FROM reported");
    sql_uuid(&sql, model->application_id);
    sql_instant(&sql, model->drift_us);
    sql_int(&sql, model->history_version);
    sql_uuid(&sql, id);
    sql_json(&sql, model->drift_event);
    sql_int(&sql, EVENT_WARNING);
    tx->has_events = true;
    return tx_defer(tx, &sql, err);
}

/* The application is locked against removal first: models of one that is gone are nobody's. */
enum pv_code store_application_model_keep(struct store_tx *tx,
                                          const struct application_model *model,
                                          struct pv_error *err)
{
    struct sql sql;
    tx_sql(
        tx, &sql,
        "INSERT INTO provisor.application_model AS m (team_id, application_id, history_version,"
        " recipe, fitted, selected, refusal_code, refusal, document, idle_evidence, idle_counted,"
        " law_error)"
        " SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10,"
        "  CASE WHEN $10 IS NOT NULL THEN $11 END, $12 FROM (SELECT FROM provisor.application"
        "  WHERE team_id = $1 AND id = $2 FOR KEY SHARE) AS a"
        " ON CONFLICT (team_id, application_id) DO UPDATE SET"
        "  history_version = excluded.history_version, recipe = excluded.recipe,"
        "  fitted = excluded.fitted, selected = excluded.selected,"
        "  refusal_code = excluded.refusal_code, refusal = excluded.refusal,"
        "  document = excluded.document, idle_evidence = excluded.idle_evidence,"
        "  idle_counted = excluded.idle_counted, law_error = excluded.law_error, fitted_at = now()"
        " WHERE m.history_version <= excluded.history_version");
    sql_uuid(&sql, model->application_id);
    sql_int(&sql, model->history_version);
    sql_text(&sql, model->fingerprint);
    sql_int(&sql, model->fitted);
    sql_text(&sql, model->selected);
    sql_text(&sql, model->refusal_code);
    sql_text(&sql, model->refusal);
    sql_json(&sql, model->document);
    sql_double(&sql, model->idle_evidence);
    sql_bool(&sql, model->idle_counted);
    sql_double(&sql, model->law_error);
    PV_TRY(tx_defer(tx, &sql, err));
    return model->drift_event.at != NULL ? report_drift(tx, model, err) : PV_OK;
}

enum pv_code store_application_refit_keep(struct store_tx *tx,
                                          const char *application_id,
                                          int64_t history_version,
                                          struct strview refit,
                                          int64_t *now,
                                          struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    tx_sql(tx, &sql,
           "UPDATE provisor.application_model m SET"
           " refit = CASE WHEN m.refit_version > $3 THEN m.refit ELSE $4 END,"
           " refit_version = greatest(m.refit_version, $3)"
           " FROM (SELECT id, history_version FROM provisor.application"
           "  WHERE team_id = $1 AND id = $2 FOR KEY SHARE) AS a"
           " WHERE m.team_id = $1 AND m.application_id = a.id RETURNING a.history_version");
    sql_uuid(&sql, application_id);
    sql_int(&sql, history_version);
    sql_json(&sql, refit);
    PV_TRY(tx_query(tx, &sql, &result, err));
    if (row_count(result) == 0)
        return pv_fail(err, PV_E_NOT_FOUND, "the application was removed meanwhile");
    struct row row = row_at(result, 0, NULL);
    *now = row_int(&row);
    return row_done(&row, err);
}
