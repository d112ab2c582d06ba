#include <math.h>
#include <stdio.h>
#include <string.h>

#include "store/run_internal.h"

#define SELECTED                                                                                   \
    "r.id, r.application_id, r.instant, r.recorded_at, r.stages_thinned > 0, " RUN_COLUMNS

/* --- rows --- */

static struct run_warning *read_warnings(struct row *row, size_t *n)
{
    size_t n_codes;
    size_t n_counts;
    size_t n_details;
    struct strview *codes = row_texts(row, &n_codes);
    int64_t *counts = row_counts(row, &n_counts);
    struct strview *details = row_texts(row, &n_details);
    *n = 0;
    struct run_warning *warnings = arena_array(row->arena, n_codes, sizeof *warnings);
    if (warnings == NULL || n_codes != n_counts || n_codes != n_details || row->failed) {
        row->failed = true;
        return NULL;
    }
    for (size_t i = 0; i < n_codes; i++)
        warnings[i] = (struct run_warning){codes[i], counts[i], details[i]};
    *n = n_codes;
    return warnings;
}

static void read_columns(struct row *row, struct run *run)
{
    row_uuid(row, run->advice_id);
    run->problem_size = row_int(row);
    run->executors = row_int(row);
    run->cores_per_executor = row_int(row);
    run->duration_s = row_double(row);
    run->initialization_s = row_double(row);
    run->started_us = row_instant(row);
    run->succeeded = row_bool(row);
    run->labels = row_pairs(row, &run->n_labels);
    run->has_stages = row_bool(row);
    run->from_log = row_bool(row);
    run->spark_application_id = row_text(row);
    run->spark_attempt_id = row_text(row);
    run->spark_version = row_text(row);
    run->ended = row_bool(row);
    run->jobs = row_int(row);
    run->stages_completed = row_int(row);
    run->stages_failed = row_int(row);
    run->tasks_succeeded = row_int(row);
    run->tasks_failed = row_int(row);
    run->task_time_s = row_double(row);
    run->failed_task_time_s = row_double(row);
    run->executors_added = row_int(row);
    run->spark_properties = row_pairs(row, &run->n_spark_properties);
    run->warnings = read_warnings(row, &run->n_warnings);
    run_figures_read(row, run);
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
    row_uuid(&row, r.id);
    row_uuid(&row, placed->application_id);
    placed->instant_us = row_instant(&row);
    r.recorded_us = row_instant(&row);
    r.tasks_thinned = row_bool(&row);
    read_columns(&row, &r);
    if (PQnfields(result) > row.column)
        placed->application_name = row_text(&row);
    enum pv_code code = row_done(&row, err);
    if (code == PV_OK)
        *run = r;
    return code;
}

/* The next two columns; what they spread to takes the place of the durations. */
static void read_sketch(struct row *row, struct run_stage *stage)
{
    size_t n, n_means, n_tasks;
    int64_t *tasks = row_counts(row, &n);
    double *means_s = row_doubles(row, &n_means);
    if (tasks == NULL || row->failed)
        return;
    struct task_group *groups = arena_array(row->arena, n, sizeof *groups);
    double *spread = NULL;
    for (size_t g = 0; groups != NULL && n == n_means && g < n; g++)
        groups[g] = (struct task_group){tasks[g], means_s[g]};
    row->failed |= groups == NULL || n != n_means ||
                   task_sketch_spread(groups, n, row->arena, &spread, &n_tasks, NULL) != PV_OK;
    if (row->failed)
        return;
    stage->task_sketch = groups;
    stage->n_task_sketch = n;
    stage->task_durations_s = spread;
    stage->n_tasks = (int64_t)n_tasks;
}

static void read_stage(struct row *row, struct run_stage *stage)
{
    stage->id = row_int(row);
    stage->name = row_text(row);
    stage->parents = row_counts(row, &stage->n_parents);
    stage->n_tasks = row_int(row);
    size_t n;
    stage->task_durations_s = row_doubles(row, &n);
    stage->task_duration_s = row_double(row);
    stage->task_time_s = row_double(row);
    stage->duration_s = row_double(row);
    stage->started_s = row_double(row);
    stage->input_records = row_double(row);
    stage->nominal_rate_per_s = row_double(row);
    stage->skipped = row_bool(row);
    stage_figures_read(row, stage);
    if (stage->task_durations_s != NULL)
        stage->n_tasks = (int64_t)n;
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
    tx_sql(tx, sql,
           "SELECT w.at - 1, s.* FROM unnest($3) WITH ORDINALITY AS w (run_id, at), LATERAL"
           " (SELECT id, name, parents, tasks, CASE WHEN $4 THEN task_durations_s END,"
           " task_duration_s, task_time_s, duration_s, started_s, input_records,"
           " nominal_rate_per_s, skipped, " STAGE_FIGURE_COLUMNS
           ", CASE WHEN $4 THEN sketch_tasks END, CASE WHEN $4 THEN sketch_mean_s END"
           " FROM provisor.run_stage WHERE team_id = $1 AND application_id = $2"
           " AND run_id = w.run_id AND run_id = ANY ($3)" /* tells the planner which months */
           " ORDER BY id) AS s"
           " ORDER BY w.at, s.id");
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
        return pv_fail(err, PV_E_MEMORY, "not enough memory for the stages");
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

static enum pv_code load_stages(struct store_tx *tx,
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
    stages_query(tx, application_id, runs, n, (with & RUN_WITH_TASKS) != 0, &sql);
    PGresult *result;
    enum pv_code code = tx_query(tx, &sql, &result, err);
    if (code == PV_OK)
        code = spread_stages(result, arena, runs, n, err);
    PQclear(result);
    return code;
}

/* --- how much there would be to load --- */

static enum pv_code weigh(struct store_tx *tx,
                          const char *application_id,
                          const struct run runs[],
                          size_t n,
                          PGresult **result,
                          struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT w.at, s.n, s.tasks FROM unnest($3) WITH ORDINALITY AS w (id, at), LATERAL"
           " (SELECT count(*) AS n, coalesce(sum(tasks), 0)::bigint AS tasks"
           "  FROM provisor.run_stage"
           "  WHERE team_id = $1 AND application_id = $2 AND run_id = w.id) AS s"
           " ORDER BY w.at");
    sql_uuid(&sql, application_id);
    sql_uuids(&sql, runs->id, n, sizeof *runs);
    return tx_query(tx, &sql, result, err);
}

/* So many of the runs stay within the bounds together; one at least. */
static size_t count_within(const PGresult *result, const struct run_filter *filter)
{
    const bool tasks_too = (filter->with & RUN_WITH_TASKS) != 0;
    uint64_t stages_most = filter->stages_most == 0 ? UINT64_MAX : filter->stages_most;
    uint64_t tasks_most = filter->tasks_most == 0 || !tasks_too ? UINT64_MAX : filter->tasks_most;
    uint64_t stages = 0;
    uint64_t tasks = 0;
    size_t n = row_count(result);
    for (size_t i = 0; i < n; i++) {
        struct row row = row_at(result, (int)i, NULL);
        (void)row_int(&row);
        stages += (uint64_t)row_int(&row);
        tasks += (uint64_t)row_int(&row);
        if (i > 0 && (stages > stages_most || tasks > tasks_most))
            return i;
    }
    return n;
}

static enum pv_code bound_list(struct store_tx *tx,
                               const char *application_id,
                               const struct run_filter *filter,
                               struct run_list *list,
                               struct pv_error *err)
{
    bool loads = (filter->with & (RUN_WITH_STAGES | RUN_WITH_TASKS)) != 0;
    bool bounded = filter->stages_most > 0 || filter->tasks_most > 0;
    if (!loads || !bounded || list->n == 0)
        return PV_OK;
    PGresult *result;
    enum pv_code code = weigh(tx, application_id, list->items, list->n, &result, err);
    if (code != PV_OK)
        return code;
    size_t within = count_within(result, filter);
    PQclear(result);
    list->more |= within < list->n;
    list->n = within;
    return PV_OK;
}

/* --- which log each was read from --- */

static enum pv_code spread_digests(
    const PGresult *result, struct arena *arena, struct run runs[], size_t n, struct pv_error *err)
{
    for (size_t i = 0; i < row_count(result); i++) {
        struct row row = row_at(result, (int)i, arena);
        int64_t of = row_int(&row);
        struct strview digest = row_bytes(&row);
        enum pv_code code = row_done(&row, err);
        if (code != PV_OK)
            return code;
        if (of < 1 || (size_t)of > n)
            return pv_fail(err, PV_E_INTERNAL, "a digest belongs to no run");
        runs[of - 1].log_digest = digest;
    }
    return PV_OK;
}

static enum pv_code load_digests(struct store_tx *tx,
                                 struct arena *arena,
                                 const char *application_id,
                                 struct run runs[],
                                 size_t n,
                                 unsigned with,
                                 struct pv_error *err)
{
    if (n == 0 || (with & RUN_WITH_DIGEST) == 0)
        return PV_OK;
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT w.at, l.digest FROM unnest($3) WITH ORDINALITY AS w (id, at), LATERAL"
           " (SELECT digest FROM provisor.run_log WHERE team_id = $1 AND application_id = $2"
           "  AND run_id = w.id AND digest IS NOT NULL LIMIT 1) AS l");
    sql_uuid(&sql, application_id);
    sql_uuids(&sql, runs->id, n, sizeof *runs);
    PGresult *result;
    enum pv_code code = tx_query(tx, &sql, &result, err);
    if (code == PV_OK)
        code = spread_digests(result, arena, runs, n, err);
    PQclear(result);
    return code;
}

/* --- one run --- */

enum pv_code run_load(struct store_tx *tx,
                      struct arena *arena,
                      const char *application_id,
                      const char *run_id,
                      struct run *run,
                      struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT " SELECTED " FROM provisor.run r"
           " WHERE r.team_id = $1 AND r.application_id = $2 AND r.id = $3");
    sql_uuid(&sql, application_id);
    sql_uuid(&sql, run_id);
    PGresult *result;
    enum pv_code code = tx_query(tx, &sql, &result, err);
    if (code == PV_OK && row_count(result) == 0)
        code = pv_fail(err, PV_E_NOT_FOUND, "there is no run of that id");
    struct placed placed;
    if (code == PV_OK)
        code = read_run(result, 0, arena, run, &placed, err);
    PQclear(result);
    if (code == PV_OK)
        run->has_stages = false;
    return code;
}

static void find_query(struct store_tx *tx, const char *name, const char *run_id, struct sql *sql)
{
    static const char query[] =
        "SELECT " SELECTED ", a.application_name FROM provisor.run r"
        " JOIN (SELECT team_id AS its_team, id AS its_id, name AS application_name"
        " FROM provisor.application) a ON a.its_team = r.team_id AND a.its_id = r.application_id"
        " WHERE r.team_id = $1 AND r.id = $2 AND ($3 IS NULL OR a.application_name = $3)";
    tx_sql(tx, sql, query);
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
    PGresult *result;
    enum pv_code code = tx_query(tx, &sql, &result, err);
    if (code == PV_OK && row_count(result) == 0)
        code = pv_fail(err, PV_E_NOT_FOUND, "there is no run of that id");
    struct placed placed;
    struct run found;
    if (code == PV_OK)
        code = read_run(result, 0, arena, &found, &placed, err);
    PQclear(result);
    if (code == PV_OK)
        code = load_stages(tx, arena, placed.application_id, &found, 1, with, err);
    if (code != PV_OK)
        return code;
    *run = found;
    if (application_name_out != NULL)
        *application_name_out = placed.application_name;
    return PV_OK;
}

/* --- lists --- */

static enum pv_code read_list(struct store_tx *tx,
                              const struct sql *sql,
                              struct arena *arena,
                              size_t limit,
                              struct run_list *list,
                              struct pv_error *err)
{
    PGresult *result;
    enum pv_code code = tx_query(tx, sql, &result, err);
    if (code != PV_OK)
        return code;
    size_t there = row_count(result);
    struct run_list read = {.n = there > limit ? limit : there, .more = there > limit};
    read.items = arena_calloc(arena, read.n, sizeof *read.items);
    read.instants_us = arena_calloc(arena, read.n, sizeof *read.instants_us);
    if (read.items == NULL || read.instants_us == NULL)
        code = pv_fail(err, PV_E_MEMORY, "not enough memory for the list");
    for (size_t i = 0; code == PV_OK && i < read.n; i++) {
        struct placed placed;
        code = read_run(result, i, arena, &read.items[i], &placed, err);
        read.instants_us[i] = placed.instant_us;
    }
    PQclear(result);
    if (code == PV_OK)
        *list = read;
    return code;
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
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT " SELECTED " FROM unnest($3) WITH ORDINALITY AS w (wanted, at), LATERAL"
           " (SELECT * FROM provisor.run WHERE team_id = $1 AND id = w.wanted LIMIT 2) AS r"
           " WHERE r.application_id = $2 ORDER BY w.at");
    sql_uuid(&sql, application_id);
    sql_uuids(&sql, runs->id, n, sizeof *runs);
    struct run_list read;
    enum pv_code code = read_list(tx, &sql, arena, n, &read, err);
    if (code == PV_OK && read.n < n)
        code = pv_fail(err, PV_E_RETRY, "a run has just been deleted");
    if (code == PV_OK)
        code = load_stages(tx, arena, application_id, read.items, n, with, err);
    if (code == PV_OK)
        memcpy(runs, read.items, n * sizeof *runs);
    return code;
}

/*
 * Open bounds are sent as infinities, so that one statement serves, the index is walked and one
 * plan is as good as another: over a year of months it takes the server longer to make a plan than
 * to follow it.
 */
static const char by_time[] = "SELECT " SELECTED " FROM provisor.run r"
                              " WHERE r.team_id = $1 AND r.application_id = $2"
                              " AND r.instant >= $3 AND r.instant < $4"
                              " AND (r.instant, r.id) < ($5, $6)"
                              " ORDER BY r.instant DESC, r.id DESC LIMIT $7";
static const char by_ids[] = "SELECT " SELECTED " FROM provisor.run r"
                             " WHERE r.team_id = $1 AND r.application_id = $2 AND r.id = ANY ($3)"
                             " ORDER BY r.instant DESC, r.id DESC";

static void time_query(struct store_tx *tx,
                       const struct application *application,
                       const struct run_filter *filter,
                       struct sql *sql)
{
    bool first_page = filter->before_us == RUN_NO_INSTANT;
    tx_sql(tx, sql, by_time);
    sql->repeated = true;
    sql_uuid(sql, application->id);
    sql_bound(sql, filter->since_us, "-infinity");
    sql_bound(sql, filter->until_us, "infinity");
    sql_bound(sql, filter->before_us, "infinity");
    sql_uuid(sql, first_page ? "ffffffff-ffff-ffff-ffff-ffffffffffff" : filter->before_id);
    sql_int(sql, (int64_t)filter->limit + 1);
}

/* The runs of a page, without what lies in other tables. */
static enum pv_code read_page(struct store_tx *tx,
                              struct arena *arena,
                              const struct application *application,
                              const struct run_filter *filter,
                              struct run_list *list,
                              struct pv_error *err)
{
    struct sql sql;
    if (filter->n_labels == 0) {
        time_query(tx, application, filter, &sql);
        return read_list(tx, &sql, arena, filter->limit, list, err);
    }
    struct run_id *ids;
    size_t n;
    enum pv_code code = run_ids_by_label(tx, arena, application->id, filter, &ids, &n, err);
    if (code != PV_OK)
        return code;
    tx_sql(tx, &sql, by_ids);
    sql_uuid(&sql, application->id);
    sql_uuids(&sql, ids->text, n, sizeof *ids);
    return read_list(tx, &sql, arena, filter->limit, list, err);
}

enum pv_code store_run_list(struct store_tx *tx,
                            struct arena *arena,
                            const struct application *application,
                            const struct run_filter *filter,
                            struct run_list *list,
                            struct pv_error *err)
{
    struct run_list read;
    enum pv_code code = read_page(tx, arena, application, filter, &read, err);
    if (code == PV_OK)
        code = bound_list(tx, application->id, filter, &read, err);
    if (code == PV_OK)
        code = load_digests(tx, arena, application->id, read.items, read.n, filter->with, err);
    if (code == PV_OK)
        code = load_stages(tx, arena, application->id, read.items, read.n, filter->with, err);
    if (code == PV_OK)
        *list = read;
    return code;
}

/*
 * Nearest in size: the limit nearest from above and from below, each the head of an index, are
 * enough; the nearest of both are among them. `replayable` leads both indexes, so runs that cannot
 * be replayed are not even walked over.
 */
static const char nearest[] =
    "SELECT " SELECTED " FROM (VALUES (true), (false)) AS f (replayable_too), LATERAL"
    " ((SELECT u.id AS chosen FROM provisor.run u"
    "  WHERE u.team_id = $1 AND u.application_id = $2 AND u.replayable = f.replayable_too"
    "  AND u.succeeded AND u.problem_size >= $3"
    "  ORDER BY u.problem_size, u.instant DESC, u.id DESC LIMIT $5)"
    " UNION ALL (SELECT d.id FROM provisor.run d"
    "  WHERE d.team_id = $1 AND d.application_id = $2 AND d.replayable = f.replayable_too"
    "  AND d.succeeded AND d.problem_size < $3"
    "  ORDER BY d.problem_size DESC, d.instant DESC, d.id DESC LIMIT $5)) AS n"
    " JOIN provisor.run r ON r.team_id = $1 AND r.application_id = $2 AND r.id = n.chosen"
    " WHERE f.replayable_too OR NOT $4"
    " ORDER BY abs(r.problem_size - $3), r.instant DESC, r.id DESC LIMIT $5";
static const char latest[] =
    "SELECT " SELECTED " FROM provisor.run r WHERE r.team_id = $1 AND r.application_id = $2"
    " AND r.succeeded AND (r.replayable OR NOT $3)"
    " ORDER BY r.instant DESC, r.id DESC LIMIT $4";

enum pv_code store_run_nearest(struct store_tx *tx,
                               struct arena *arena,
                               const struct application *application,
                               int64_t problem_size,
                               bool replayable,
                               size_t limit,
                               struct run_list *list,
                               struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql, problem_size == RUN_UNKNOWN ? latest : nearest);
    sql_uuid(&sql, application->id);
    if (problem_size != RUN_UNKNOWN)
        sql_int(&sql, problem_size);
    sql_bool(&sql, replayable);
    sql_int(&sql, (int64_t)limit);
    struct run_list read;
    enum pv_code code = read_list(tx, &sql, arena, limit, &read, err);
    if (code == PV_OK)
        code = load_stages(tx, arena, application->id, read.items, read.n, RUN_WITH_TASKS, err);
    if (code == PV_OK)
        *list = read;
    return code;
}

enum pv_code store_run_count_lacks(struct store_tx *tx,
                                   const struct application *application,
                                   struct run_lacks *lacks,
                                   struct pv_error *err)
{
    static const char text[] =
        "SELECT count(*), count(*) FILTER (WHERE NOT r.succeeded),"
        " count(*) FILTER (WHERE r.executors IS NULL),"
        " count(*) FILTER (WHERE r.cores_per_executor IS NULL),"
        " count(*) FILTER (WHERE r.problem_size IS NULL),"
        " count(*) FILTER (WHERE NOT r.has_stages) FROM"
        " (SELECT * FROM provisor.run WHERE team_id = $1 AND application_id = $2"
        "  ORDER BY instant DESC, id DESC LIMIT $3) AS r";
    struct sql sql;
    PGresult *result;
    tx_sql(tx, &sql, text);
    sql_uuid(&sql, application->id);
    sql_int(&sql, RUN_LACKS_LOOKED_AT);
    enum pv_code code = tx_query(tx, &sql, &result, err);
    if (code != PV_OK)
        return code;
    struct row row = row_at(result, 0, &tx->scratch);
    struct run_lacks read = {.runs = row_int(&row)};
    read.failed = row_int(&row);
    read.executors = row_int(&row);
    read.cores_per_executor = row_int(&row);
    read.problem_size = row_int(&row);
    read.stages = row_int(&row);
    code = row_done(&row, err);
    PQclear(result);
    if (code == PV_OK)
        *lacks = read;
    return code;
}
