#include <math.h>
#include <stdio.h>
#include <string.h>

#include "store/history/run_internal.h"

/* --- rows --- */

static void read_warnings(struct row *row, struct findings *warnings)
{
    struct run_warnings read;
    columns_read(row, &run_warning_columns, &read);
    *warnings = (struct findings){.arena = row->arena};
    for (size_t i = 0; !row_failed(row) && i < read.n; i++) {
        const struct run_warning_row *w = &read.rows[i];
        struct finding *warning = finding_add(warnings, w->code.at, "%s", w->message.at);
        if (w->count != RUN_UNKNOWN)
            finding_number(warning, "count", (double)w->count);
        row->exhausted = warnings->failed;
    }
}

/* What a row says of a run beside the run itself. */
struct placed {
    char application_id[37];
    int64_t instant_us;
    struct strview application_name; /* where it was selected */
};

/* has_stages says what is loaded; the caller sets it again when it loads them. */
static enum pv_code read_run(const PGresult *result,
                             size_t at,
                             struct arena *arena,
                             struct run *run,
                             struct placed *placed,
                             struct pv_error *err)
{
    struct row row = row_at(result, (int)at, arena);
    struct run r = {0};
    row_uuid(&row, placed->application_id);
    placed->instant_us = row_instant(&row);
    columns_read(&row, &run_columns, &r);
    read_warnings(&row, &r.warnings);
    if (PQnfields(result) > row.column)
        placed->application_name = row_text(&row);
    PV_TRY(row_done(&row, err));
    *run = r;
    return PV_OK;
}

/* The next two columns; what they spread to takes the place of the durations. */
static void read_sketch(struct row *row, struct run_stage *stage)
{
    size_t n, n_means, n_tasks;
    int64_t *tasks = row_counts(row, &n);
    double *means_s = row_doubles(row, &n_means);
    if (tasks == NULL || row_failed(row))
        return;
    struct task_group *groups = arena_array(row->arena, n, sizeof *groups);
    double *spread = NULL;
    for (size_t g = 0; groups != NULL && n == n_means && g < n; g++)
        groups[g] = (struct task_group){tasks[g], means_s[g]};
    row->exhausted |= groups == NULL;
    row->unreadable |= n != n_means;
    if (row_failed(row))
        return;
    enum pv_code code = task_sketch_spread(groups, n, row->arena, &spread, &n_tasks, NULL);
    row->exhausted |= code == PV_E_MEMORY;
    row->unreadable |= code != PV_OK && code != PV_E_MEMORY;
    if (code != PV_OK)
        return;
    stage->task_sketch = groups;
    stage->n_task_sketch = n;
    stage->task_durations_s = spread;
    stage->n_tasks = (int64_t)n_tasks;
}

/* A list beside the durations, where these are there: a program from before there were such lists
 * gives up the durations alone. */
static const int64_t *read_beside(struct row *row, const struct run_stage *stage)
{
    size_t n;
    const int64_t *list = row_counts(row, &n);
    if (list == NULL || stage->task_durations_s == NULL)
        return NULL;
    row->unreadable |= n != (size_t)stage->n_tasks;
    return list;
}

static void read_stage(struct row *row, struct run_stage *stage)
{
    size_t n;
    columns_read(row, &run_stage_columns, stage);
    stage->parents = row_counts(row, &stage->n_parents);
    stage->task_durations_s = row_doubles(row, &n);
    if (stage->task_durations_s != NULL)
        stage->n_tasks = (int64_t)n;
    stage->task_nodes = read_beside(row, stage);
    stage->task_read_bytes = read_beside(row, stage);
    read_sketch(row, stage);
}

/* --- stages of many runs in one statement --- */

static void stages_query(struct store_tx *tx,
                         const char *application_id,
                         const struct run runs[],
                         size_t n,
                         bool with_tasks,
                         struct sql *sql)
{
    static struct columns_statement statement = {
        "SELECT w.at - 1, s.* FROM unnest($3) WITH ORDINALITY AS w (run_id, at), LATERAL"
        " (SELECT {stage}, parents, CASE WHEN $4 THEN task_durations_s END,"
        " CASE WHEN $4 THEN task_nodes END, CASE WHEN $4 THEN task_read_bytes END,"
        " CASE WHEN $4 THEN sketch_tasks END, CASE WHEN $4 THEN sketch_mean_s END"
        " FROM provisor.run_stage WHERE team_id = $1 AND application_id = $2"
        " AND run_id = w.run_id AND run_id = ANY ($3)" /* tells the planner which months */
        " ORDER BY id) AS s"
        " ORDER BY w.at, s.id",
        .of = {&run_stage_columns}};
    tx_columns(tx, sql, &statement);
    sql->repeated = true;
    sql_uuid(sql, application_id);
    sql_uuids(sql, runs->id, n, sizeof *runs);
    sql_bool(sql, with_tasks);
}

static enum pv_code spread_stages(
    const PGresult *result, struct arena *arena, struct run runs[], size_t n, struct pv_error *err)
{
    size_t rows = row_count(result);
    struct run_stage *stages = arena_calloc(arena, rows, sizeof *stages);
    if (stages == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < rows; i++) {
        struct row row = row_at(result, (int)i, arena);
        int64_t of = row_int(&row);
        if (of < 0 || (size_t)of >= n)
            return pv_fail(err, PV_E_INTERNAL, "a stage belongs to no run");
        read_stage(&row, &stages[i]);
        enum pv_code code = row_done(&row, err);
        if (code != PV_OK)
            return code;
        struct run *run = &runs[of];
        if (run->n_stages++ == 0)
            run->stages = &stages[i];
    }
    return PV_OK;
}

static void nodes_query(struct store_tx *tx,
                        const char *application_id,
                        const struct run runs[],
                        size_t n,
                        struct sql *sql)
{
    static struct columns_statement statement = {
        "SELECT w.at - 1, {nodes} FROM unnest($3) WITH ORDINALITY AS w (run_id, at)"
        " JOIN provisor.run r ON r.team_id = $1 AND r.application_id = $2 AND r.id = w.run_id"
        " AND r.id = ANY ($3)" /* tells the planner which months */
        " WHERE cardinality(r.node_names) > 0 OR cardinality(r.executor_added_s) > 0",
        .of = {&run_node_columns}};
    tx_columns(tx, sql, &statement);
    sql->repeated = true;
    sql_uuid(sql, application_id);
    sql_uuids(sql, runs->id, n, sizeof *runs);
}

static enum pv_code spread_nodes(
    const PGresult *result, struct arena *arena, struct run runs[], size_t n, struct pv_error *err)
{
    size_t rows = row_count(result);
    for (size_t i = 0; i < rows; i++) {
        struct row row = row_at(result, (int)i, arena);
        int64_t of = row_int(&row);
        if (of < 0 || (size_t)of >= n)
            return pv_fail(err, PV_E_INTERNAL, "nodes belong to no run");
        columns_read(&row, &run_node_columns, &runs[of]);
        PV_TRY(row_done(&row, err));
    }
    return PV_OK;
}

enum pv_code run_load_stages(struct store_tx *tx,
                             struct arena *arena,
                             const char *application_id,
                             struct run runs[],
                             size_t n,
                             unsigned with,
                             struct pv_error *err)
{
    if (n == 0 || (with & (RUN_WITH_STAGES | RUN_WITH_TASKS)) == 0) {
        for (size_t i = 0; i < n; i++)
            runs[i].has_stages = false;
        return PV_OK;
    }
    struct sql sql;
    results_auto_t results = {{NULL}};
    stages_query(tx, application_id, runs, n, (with & RUN_WITH_TASKS) != 0, &sql);
    PV_TRY(tx_send(tx, &sql, err));
    nodes_query(tx, application_id, runs, n, &sql);
    PV_TRY(tx_send(tx, &sql, err));
    PV_TRY(tx_results(tx, results.of, 2, err));
    PV_TRY(spread_stages(results.of[0], arena, runs, n, err));
    return spread_nodes(results.of[1], arena, runs, n, err);
}

/* --- one run --- */

enum pv_code run_load(struct store_tx *tx,
                      struct arena *arena,
                      const char *application_id,
                      const char *run_id,
                      struct run *run,
                      struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT " RUN_SELECTED " FROM provisor.run r"
        " WHERE r.team_id = $1 AND r.application_id = $2 AND r.id = $3",
        .of = RUN_SELECTED_OF};
    struct sql sql;
    tx_columns(tx, &sql, &statement);
    sql_uuid(&sql, application_id);
    sql_uuid(&sql, run_id);
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, &sql, &result, err));
    if (row_count(result) == 0)
        return pv_fail(err, PV_E_NOT_FOUND, "there is no run of that id");
    struct placed placed;
    PV_TRY(read_run(result, 0, arena, run, &placed, err));
    run->has_stages = false;
    return PV_OK;
}

static void find_query(struct store_tx *tx, const char *name, const char *run_id, struct sql *sql)
{
    static struct columns_statement statement = {
        "SELECT " RUN_SELECTED ", a.application_name FROM provisor.run r" RUN_JOIN_NAME
        " WHERE r.team_id = $1 AND r.id = $2 AND ($3 IS NULL OR a.application_name = $3)",
        .of = RUN_SELECTED_OF};
    tx_columns(tx, sql, &statement);
    sql_uuid(sql, run_id);
    sql_text(sql, strview_of(name));
}

enum pv_code store_run_find(struct store_tx *tx,
                            struct arena *arena,
                            const char *application_name,
                            const char *run_id,
                            unsigned with,
                            struct run *run,
                            struct strview *application_name_out,
                            struct pv_error *err)
{
    struct sql sql;
    find_query(tx, application_name, run_id, &sql);
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, &sql, &result, err));
    if (row_count(result) == 0)
        return pv_fail(err, PV_E_NOT_FOUND, "there is no run of that id");
    struct placed placed;
    struct run found;
    PV_TRY(read_run(result, 0, arena, &found, &placed, err));
    PV_TRY(run_load_stages(tx, arena, placed.application_id, &found, 1, with, err));
    *run = found;
    if (application_name_out != NULL)
        *application_name_out = placed.application_name;
    return PV_OK;
}

/* --- many runs --- */

enum pv_code run_read_list(const PGresult *result,
                           struct arena *arena,
                           size_t limit,
                           struct run_list *list,
                           struct pv_error *err)
{
    size_t there = row_count(result);
    struct run_list read = {.n = there > limit ? limit : there, .more = there > limit};
    read.items = arena_calloc(arena, read.n, sizeof *read.items);
    read.instants_us = arena_calloc(arena, read.n, sizeof *read.instants_us);
    read.applications = arena_calloc(arena, read.n, sizeof *read.applications);
    if (read.items == NULL || read.instants_us == NULL || read.applications == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < read.n; i++) {
        struct placed placed = {.application_name = {NULL, 0}};
        PV_TRY(read_run(result, i, arena, &read.items[i], &placed, err));
        read.instants_us[i] = placed.instant_us;
        read.applications[i] = placed.application_name;
    }
    *list = read;
    return PV_OK;
}

enum pv_code run_load_many(struct store_tx *tx,
                           struct arena *arena,
                           const char *application_id,
                           struct run runs[],
                           size_t n,
                           unsigned with,
                           struct pv_error *err)
{
    if (n == 0)
        return PV_OK;
    static struct columns_statement statement = {
        "SELECT " RUN_SELECTED " FROM unnest($3) WITH ORDINALITY AS w (wanted, at), LATERAL"
        " (SELECT * FROM provisor.run WHERE team_id = $1 AND id = w.wanted LIMIT 2) AS r"
        " WHERE r.application_id = $2 ORDER BY w.at",
        .of = RUN_SELECTED_OF};
    struct sql sql;
    tx_columns(tx, &sql, &statement);
    sql_uuid(&sql, application_id);
    sql_uuids(&sql, runs->id, n, sizeof *runs);
    struct run_list read = {.n = 0};
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, &sql, &result, err));
    PV_TRY(run_read_list(result, arena, n, &read, err));
    if (read.n < n)
        return pv_fail(err, PV_E_RETRY, "a run has just been deleted");
    PV_TRY(run_load_stages(tx, arena, application_id, read.items, n, with, err));
    memcpy(runs, read.items, n * sizeof *runs);
    return PV_OK;
}
