#include "store/history/run_measured.h"

#include <math.h>
#include <stdio.h>

#include "store/history/run_internal.h"

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

static double number_of(int64_t count)
{
    return count == RUN_UNKNOWN ? (double)NAN : (double)count;
}

/* The labels that a run must have. */
struct wanted {
    const struct run_label *labels;
    size_t n;
};

static bool has_label(const struct run_label labels[], size_t n, const struct run_label *wanted)
{
    for (size_t i = 0; i < n; i++)
        if (strview_equal(labels[i].key, wanted->key) &&
            strview_equal(labels[i].value, wanted->value))
            return true;
    return false;
}

static bool has_labels(struct row *row, const struct wanted *wanted)
{
    size_t n;
    const struct run_label *labels = row_pairs(row, &n);
    for (size_t i = 0; i < wanted->n; i++)
        if (!has_label(labels, n, &wanted->labels[i]))
            return false;
    return true;
}

/* Three columns: tasks, their time and the longest of each stage. */
static void read_stages(struct row *row, struct diagnosis_run *run)
{
    size_t n[3];
    const double *tasks = row_doubles(row, &n[0]);
    const double *task_time_s = row_doubles(row, &n[1]);
    const double *longest_s = row_doubles(row, &n[2]);
    row->unreadable |= n[1] != n[0] || n[2] != n[0];
    if (tasks == NULL || task_time_s == NULL || longest_s == NULL || row->unreadable)
        return;
    struct diagnosis_stage *stages = arena_array(row->arena, n[0], sizeof *stages);
    row->exhausted |= stages == NULL;
    for (size_t i = 0; stages != NULL && i < n[0]; i++)
        stages[i] = (struct diagnosis_stage){tasks[i], task_time_s[i], longest_s[i]};
    run->stages = stages;
    run->n_stages = stages == NULL ? 0 : n[0];
}

/* The columns behind history_version and runs; false: there is no run, or not one of those wanted.
 */
static bool
read_measured(struct row *row, const struct wanted *wanted, struct run_measured_list *all)
{
    if (row_is_null(row))
        return false;
    bool succeeded = row_bool(row);
    if (!has_labels(row, wanted))
        return false;
    bool has_stages = row_bool(row);
    bool measured = row_bool(row);
    double size = row_double(row);
    int64_t executors = row_int(row);
    struct diagnosis_run run = {.problem_size = size,
                                .executors = number_of(executors),
                                .cores_per_executor = number_of(row_int(row))};
    run.duration_s = row_double(row);
    run.initialization_s = row_double(row);
    run.spilled_bytes = number_of(row_int(row));
    run.parallel_s = row_double(row);
    run.max_task_s = row_double(row);
    run.induced_s = row_double(row);
    run.serial_s = row_double(row);
    read_stages(row, &run);
    bool timed = run.duration_s >= seconds_min && run.duration_s <= seconds_max;
    all->failed += !succeeded;
    all->without_problem_size += !is_size(size);
    all->without_executors += !is_count(executors);
    all->without_duration += !timed;
    all->unmeasured += has_stages && !measured;
    if (succeeded && is_size(size) && is_count(executors) && timed)
        all->items[all->n++] = run;
    return true;
}

static enum pv_code read_list(const PGresult *result,
                              struct arena *arena,
                              const struct wanted *wanted,
                              struct run_measured_list *list,
                              struct pv_error *err)
{
    struct run_measured_list all = {0};
    size_t n = row_count(result);
    all.items = arena_array(arena, n, sizeof *all.items);
    if (all.items == NULL)
        return pv_no_memory(err);
    if (n == 0)
        return pv_fail(err, PV_E_NOT_FOUND, "there is no application of that name");
    for (size_t i = 0; i < n; i++) {
        struct row row = row_at(result, (int)i, arena);
        all.history_version = row_int(&row);
        all.runs = row_int(&row);
        all.looked_at += read_measured(&row, wanted, &all);
        PV_TRY(row_done(&row, err));
    }
    *list = all;
    return PV_OK;
}

enum pv_code store_run_measured(struct store_tx *tx,
                                struct arena *arena,
                                const char *application_id,
                                size_t most,
                                const struct run_label labels[],
                                size_t n_labels,
                                struct run_measured_list *list,
                                struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    const struct wanted wanted = {labels, n_labels};
    tx_sql(tx, &sql,
           "SELECT a.history_version, a.runs, r.succeeded, r.label_keys, r.label_values,"
           " r.has_stages, r.measured, " RUN_SIZE ", r.executors, r.cores_per_executor,"
           " " RUN_WORKED_S ", " RUN_INITIALIZED_S ","
           " r.disk_spilled_bytes, r.parallel_s, r.max_task_s, r.induced_s, r.serial_s,"
           " s.tasks, s.task_time_s, s.longest_s"
           " FROM provisor.application a"
           " LEFT JOIN LATERAL (SELECT * FROM provisor.run"
           "  WHERE team_id = $1 AND application_id = $2 AND " RUN_PREDICTS
           "  ORDER BY instant DESC, id DESC LIMIT $3) AS r ON true"
           " LEFT JOIN LATERAL (SELECT array_agg(tasks::float8 ORDER BY id) AS tasks,"
           "   array_agg(task_time_s ORDER BY id) AS task_time_s,"
           /* Only stages that leave cores idle need it: reading tasks is dear. */
           "   array_agg(CASE WHEN tasks < r.executors::float8 * r.cores_per_executor THEN"
           "     (SELECT max(d) FROM unnest(task_durations_s) AS t(d)) END ORDER BY id)"
           "     AS longest_s"
           "  FROM provisor.run_stage WHERE team_id = $1 AND application_id = $2"
           "   AND run_id = r.id AND NOT skipped AND r.measured) AS s ON true"
           " WHERE a.team_id = $1 AND a.id = $2");
    sql_uuid(&sql, application_id);
    sql_int(&sql, (int64_t)most);
    PV_TRY(tx_walk(tx, &sql, &result, err));
    return read_list(result, arena, &wanted, list, err);
}

/* --- runs that were there before --- */

static enum pv_code find_older(struct store_tx *tx,
                               struct arena *arena,
                               const char *application_id,
                               size_t most,
                               size_t some,
                               struct run **runs,
                               size_t *n,
                               struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    tx_sql(tx, &sql,
           "SELECT id FROM (SELECT id, instant, has_stages, measured FROM provisor.run"
           "  WHERE team_id = $1 AND application_id = $2"
           "  ORDER BY instant DESC, id DESC LIMIT $3) AS r"
           " WHERE has_stages AND NOT measured ORDER BY instant DESC, id DESC LIMIT $4");
    sql_uuid(&sql, application_id);
    sql_int(&sql, (int64_t)most);
    sql_int(&sql, (int64_t)some);
    PV_TRY(tx_walk(tx, &sql, &result, err));
    *n = row_count(result);
    *runs = arena_calloc(arena, *n, sizeof **runs);
    if (*runs == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < *n; i++) {
        struct row row = row_at(result, (int)i, NULL);
        row_uuid(&row, (*runs)[i].id);
        PV_TRY(row_done(&row, err));
    }
    return PV_OK;
}

/* As whoever writes or removes several runs of an application does: in one order, no two wait for
 * each other. Deferred. */
static enum pv_code
lock_application(struct store_tx *tx, const char *application_id, struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT FROM provisor.application WHERE team_id = $1 AND id = $2 FOR NO KEY UPDATE");
    sql_uuid(&sql, application_id);
    return tx_defer(tx, &sql, err);
}

static enum pv_code keep_measures(struct store_tx *tx,
                                  const char *application_id,
                                  const char *run_id,
                                  const struct run_measures *measures,
                                  struct pv_error *err)
{
    static struct columns_statement statement = {
        "UPDATE provisor.run SET (measured, {measures:written}) = (true, {measures:values})"
        " WHERE team_id = $1 AND application_id = $2 AND id = $3",
        .of = {&run_measure_columns}};
    struct sql sql;
    tx_columns(tx, &sql, &statement);
    sql_uuid(&sql, application_id);
    sql_uuid(&sql, run_id);
    columns_bind(&sql, &run_measure_columns, measures);
    return tx_defer(tx, &sql, err);
}

enum pv_code store_run_measure_older(struct store_tx *tx,
                                     struct arena *arena,
                                     const char *application_id,
                                     size_t most,
                                     size_t some,
                                     size_t *measured,
                                     struct pv_error *err)
{
    struct run *runs = NULL;
    *measured = 0;
    size_t n = 0;
    PV_TRY(find_older(tx, arena, application_id, most, some, &runs, &n, err));
    struct run_measures *measures = arena_array(arena, n, sizeof *measures);
    enum pv_code code = measures == NULL ? pv_no_memory(err) : PV_OK;
    /* One by one: each may have millions of tasks. */
    for (size_t i = 0; code == PV_OK && i < n; i++) {
        struct arena_mark mark = arena_mark(arena);
        struct run run = runs[i];
        code = run_load_many(tx, arena, application_id, &run, 1, RUN_WITH_TASKS, err);
        if (code == PV_OK)
            code = run_measure(&run, arena, &measures[i], err);
        arena_rewind(arena, mark);
    }
    /* Only now: whoever brings a run must not wait for the reading. */
    if (code == PV_OK && n > 0)
        code = lock_application(tx, application_id, err);
    for (size_t i = 0; code == PV_OK && i < n; i++)
        code = keep_measures(tx, application_id, runs[i].id, &measures[i], err);
    *measured = code == PV_OK ? n : 0;
    return code;
}
