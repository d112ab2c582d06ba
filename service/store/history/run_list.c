#include "store/history/run_internal.h"

#include <math.h>

#include "core/history/problem_size.h"
#include "core/history/run_idle.h"

/* Pages of the list of runs, and those that a replay or a repair would look at. */

_Static_assert(PROBLEM_SIZE_PREVAILING_RUNS == 20, "as in RUN_PREVAILING_MEASURE");

/* --- how much there would be to load --- */

static enum pv_code weigh_runs(struct store_tx *tx,
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
    sql.repeated = true;
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
    result_auto_t *result = NULL;
    PV_TRY(weigh_runs(tx, application_id, list->items, list->n, &result, err));
    size_t within = count_within(result, filter);
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
        struct stored_log log;
        int64_t of = row_int(&row);
        log.digest = row_bytes(&row);
        log.origin = row_bytes(&row);
        PV_TRY(row_done(&row, err));
        if (of < 1 || (size_t)of > n)
            return pv_fail(err, PV_E_INTERNAL, "a digest belongs to no run");
        run_set_log(&runs[of - 1], &log);
    }
    return PV_OK;
}

enum pv_code run_load_digests(struct store_tx *tx,
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
           "SELECT w.at, l.digest, l.origin FROM unnest($3) WITH ORDINALITY AS w (id, at), LATERAL"
           " (SELECT digest, origin FROM provisor.run_log WHERE team_id = $1"
           "  AND application_id = $2 AND run_id = w.id LIMIT 1) AS l");
    sql.repeated = true;
    sql_uuid(&sql, application_id);
    sql_uuids(&sql, runs->id, n, sizeof *runs);
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, &sql, &result, err));
    return spread_digests(result, arena, runs, n, err);
}

/* --- pages --- */

/*
 * Open bounds are infinities, so that one statement serves all. The end of the window and the
 * cursor are one bound: given both, the server starts its walk at the cursor, however far beyond
 * the window that lies (nothing is before the least id, so (t, least) is what "before t" means).
 */
void run_add_window(struct sql *sql, const char *application_id, const struct run_filter *filter)
{
    bool first_page = filter->before_us == RUN_NO_INSTANT;
    bool ends =
        filter->until_us != RUN_NO_INSTANT && (first_page || filter->until_us <= filter->before_us);
    if (application_id != NULL)
        sql_uuid(sql, application_id);
    sql_bound(sql, filter->since_us, "-infinity");
    sql_bound(sql, ends ? filter->until_us : filter->before_us, "infinity");
    sql_uuid(sql, ends ? RUN_ID_LEAST : first_page ? RUN_ID_GREATEST : filter->before_id);
    sql_int(sql, (int64_t)filter->limit + 1);
    sql_count(sql, filter->outcome == RUN_OUTCOME_ANY ? RUN_UNKNOWN
                                                      : filter->outcome == RUN_OUTCOME_SUCCEEDED);
}

static struct columns_statement by_time = {"SELECT " RUN_SELECTED " FROM provisor.run r"
                                           " WHERE r.team_id = $1 AND r.application_id = $2"
                                           " AND r.instant >= $3 AND (r.instant, r.id) < ($4, $5)"
                                           " AND ($7::bigint IS NULL"
                                           "  OR r.succeeded = ($7::bigint = 1))"
                                           " ORDER BY r.instant DESC, r.id DESC LIMIT $6",
                                           .of = RUN_SELECTED_OF};
static struct columns_statement by_ids = {
    "SELECT " RUN_SELECTED " FROM provisor.run r"
    " WHERE r.team_id = $1 AND r.application_id = $2 AND r.id = ANY ($3)"
    " ORDER BY r.instant DESC, r.id DESC",
    .of = RUN_SELECTED_OF};

static enum pv_code query_by_time(struct store_tx *tx,
                                  const struct application *application,
                                  const struct run_filter *filter,
                                  PGresult **result,
                                  struct pv_error *err)
{
    struct sql sql;
    tx_columns(tx, &sql, &by_time);
    run_add_window(&sql, application->id, filter);
    return tx_walk(tx, &sql, result, err);
}

static enum pv_code query_by_label(struct store_tx *tx,
                                   struct arena *arena,
                                   const struct application *application,
                                   const struct run_filter *filter,
                                   PGresult **result,
                                   struct pv_error *err)
{
    struct run_id *ids;
    size_t n;
    *result = NULL;
    PV_TRY(run_ids_by_label(tx, arena, application->id, filter, &ids, &n, err));
    struct sql sql;
    tx_columns(tx, &sql, &by_ids);
    sql.repeated = true;
    sql_uuid(&sql, application->id);
    sql_uuids(&sql, ids->text, n, sizeof *ids);
    return tx_query(tx, &sql, result, err);
}

/* The runs of a page, without what lies in other tables. */
static enum pv_code read_page(struct store_tx *tx,
                              struct arena *arena,
                              const struct application *application,
                              const struct run_filter *filter,
                              struct run_list *list,
                              struct pv_error *err)
{
    result_auto_t *result = NULL;
    PV_TRY(filter->n_labels == 0 ? query_by_time(tx, application, filter, &result, err)
                                 : query_by_label(tx, arena, application, filter, &result, err));
    return run_read_list(result, arena, filter->limit, list, err);
}

enum pv_code store_run_list(struct store_tx *tx,
                            struct arena *arena,
                            const struct application *application,
                            const struct run_filter *filter,
                            struct run_list *list,
                            struct pv_error *err)
{
    struct run_list read;
    PV_TRY(read_page(tx, arena, application, filter, &read, err));
    PV_TRY(bound_list(tx, application->id, filter, &read, err));
    PV_TRY(run_load_digests(tx, arena, application->id, read.items, read.n, filter->with, err));
    PV_TRY(run_load_stages(tx, arena, application->id, read.items, read.n, filter->with, err));
    *list = read;
    return PV_OK;
}

enum pv_code store_run_list_of_team(struct store_tx *tx,
                                    struct arena *arena,
                                    const struct run_filter *filter,
                                    struct run_list *list,
                                    struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT " RUN_SELECTED ", a.application_name FROM provisor.run r" RUN_JOIN_NAME
        " WHERE r.team_id = $1 AND r.instant >= $2 AND (r.instant, r.id) < ($3, $4)"
        " AND ($6::bigint IS NULL OR r.succeeded = ($6::bigint = 1))"
        " ORDER BY r.instant DESC, r.id DESC LIMIT $5",
        .of = RUN_SELECTED_OF};
    struct sql sql;
    tx_columns(tx, &sql, &statement);
    run_add_window(&sql, NULL, filter);
    result_auto_t *result = NULL;
    PV_TRY(tx_walk(tx, &sql, &result, err));
    return run_read_list(result, arena, filter->limit, list, err);
}

/* --- chosen for a replay, or counted --- */

/*
 * Nearest in size: the limit nearest from above and from below, each the head of an index, are
 * enough; the nearest of both are among them. Likewise of the runs that have a whole size alone
 * (RUN_PROBLEM_SIZE): sizes are compared column by column, because row level security lets only
 * leakproof operators bound a walk along an index, which casts are not. `replayable` leads both
 * indexes, so runs that cannot be replayed are not even walked over.
 */
#define HEAD(bound, descending)                                                                    \
    "(SELECT h.id AS chosen FROM provisor.run h WHERE h.team_id = $1 AND h.application_id = $2"    \
    " AND h.replayable = f.replayable_too AND h.succeeded AND " RUN_PREDICTS " AND " bound         \
    " ORDER BY h.exact_problem_size" descending ", h.problem_size" descending                      \
    ", h.instant DESC, h.id DESC LIMIT $5)"
#define EXACT_ABOVE HEAD("h.exact_problem_size >= $3", "")
#define EXACT_BELOW HEAD("h.exact_problem_size < $3", " DESC")
#define WHOLE_ABOVE HEAD("h.exact_problem_size IS NULL AND h.problem_size >= ceil($3)::bigint", "")
#define WHOLE_BELOW                                                                                \
    HEAD("h.exact_problem_size IS NULL AND h.problem_size < ceil($3)::bigint", " DESC")
static struct columns_statement nearest = {
    "SELECT " RUN_SELECTED " FROM (VALUES (true), (false)) AS f (replayable_too), LATERAL"
    " (" EXACT_ABOVE " UNION ALL " EXACT_BELOW " UNION ALL " WHOLE_ABOVE " UNION ALL " WHOLE_BELOW
    ") AS n"
    " JOIN provisor.run r ON r.team_id = $1 AND r.application_id = $2 AND r.id = n.chosen"
    " WHERE f.replayable_too OR NOT $4"
    " ORDER BY abs(" RUN_SIZE " - $3), r.instant DESC, r.id DESC LIMIT $5",
    .of = RUN_SELECTED_OF};
/*
 * Runs nearest in size and cores, by replay_curve_distance (core/advice/replay_curve.h), among the NEAREST_CANDIDATES
 * nearest in size in each direction. Runs of no size or no cores, which a record may have, come last.
 */
enum { NEAREST_CANDIDATES = 500 };
static struct columns_statement nearest_in_cores = {
    "SELECT " RUN_SELECTED " FROM (VALUES (true)) AS f (replayable_too), LATERAL"
    " (" EXACT_ABOVE " UNION ALL " EXACT_BELOW " UNION ALL " WHOLE_ABOVE " UNION ALL " WHOLE_BELOW
    ") AS n"
    " JOIN provisor.run r ON r.team_id = $1 AND r.application_id = $2 AND r.id = n.chosen"
    " ORDER BY abs(ln(nullif(" RUN_SIZE ", 0) / $3))"
    " + abs(ln(nullif(r.executors::double precision * r.cores_per_executor, 0) / $4)) / 2,"
    " r.instant DESC, r.id DESC LIMIT $6",
    .of = RUN_SELECTED_OF};
static struct columns_statement latest = {
    "SELECT " RUN_SELECTED " FROM provisor.run r WHERE r.team_id = $1 AND r.application_id = $2"
    " AND r.succeeded AND " RUN_PREDICTS " AND (r.replayable OR NOT $3)"
    " ORDER BY r.instant DESC, r.id DESC LIMIT $4",
    .of = RUN_SELECTED_OF};

static enum pv_code read_nearest(struct store_tx *tx,
                                 struct arena *arena,
                                 const struct application *application,
                                 struct sql *sql,
                                 size_t limit,
                                 struct run_list *list,
                                 struct pv_error *err)
{
    struct run_list read;
    result_auto_t *result = NULL;
    PV_TRY(tx_walk(tx, sql, &result, err));
    PV_TRY(run_read_list(result, arena, limit, &read, err));
    PV_TRY(run_load_stages(tx, arena, application->id, read.items, read.n, RUN_WITH_TASKS, err));
    for (size_t i = 0; i < read.n; i++)
        PV_TRY(run_leave_out_idle(&read.items[i], arena, err));
    *list = read;
    return PV_OK;
}

enum pv_code store_run_nearest(struct store_tx *tx,
                               struct arena *arena,
                               const struct application *application,
                               double problem_size,
                               bool replayable,
                               size_t limit,
                               struct run_list *list,
                               struct pv_error *err)
{
    struct sql sql;
    tx_columns(tx, &sql, isnan(problem_size) ? &latest : &nearest);
    sql_uuid(&sql, application->id);
    if (!isnan(problem_size))
        sql_double(&sql, problem_size);
    sql_bool(&sql, replayable);
    sql_int(&sql, (int64_t)limit);
    return read_nearest(tx, arena, application, &sql, limit, list, err);
}

/* The size of the latest run that can be replayed; NAN: there is none. */
static enum pv_code latest_size(struct store_tx *tx,
                                struct arena *arena,
                                const struct application *application,
                                double *problem_size,
                                struct pv_error *err)
{
    struct sql sql;
    struct run_list read;
    result_auto_t *result = NULL;
    tx_columns(tx, &sql, &latest);
    sql_uuid(&sql, application->id);
    sql_bool(&sql, true);
    sql_int(&sql, 1);
    PV_TRY(tx_walk(tx, &sql, &result, err));
    PV_TRY(run_read_list(result, arena, 1, &read, err));
    *problem_size = read.n == 0 ? (double)NAN : read.items[0].problem_size;
    return PV_OK;
}

enum pv_code store_run_nearest_in_cores(struct store_tx *tx,
                                        struct arena *arena,
                                        const struct application *application,
                                        double problem_size,
                                        int64_t cores,
                                        size_t limit,
                                        struct run_list *list,
                                        struct pv_error *err)
{
    struct sql sql;
    *list = (struct run_list){.n = 0};
    if (isnan(problem_size))
        PV_TRY(latest_size(tx, arena, application, &problem_size, err));
    if (!(problem_size > 0)) /* the latest one, or none */
        return store_run_nearest(tx, arena, application, (double)NAN, true, limit, list, err);
    tx_columns(tx, &sql, &nearest_in_cores);
    sql_uuid(&sql, application->id);
    sql_double(&sql, problem_size);
    sql_double(&sql, (double)cores);
    sql_int(&sql, NEAREST_CANDIDATES);
    sql_int(&sql, (int64_t)limit);
    return read_nearest(tx, arena, application, &sql, limit, list, err);
}

/* As the ids stand; runs that were not found leave no gap. */
static enum pv_code
order_by_ids(const struct run_id ids[], size_t n, struct arena *arena, struct run_list *list)
{
    struct run *ordered = arena_array(arena, list->n, sizeof *ordered);
    size_t found = 0;
    if (ordered == NULL)
        return PV_E_MEMORY;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < list->n && found < list->n; k++)
            if (strcmp(ids[i].text, list->items[k].id) == 0)
                ordered[found++] = list->items[k];
    *list = (struct run_list){.items = ordered, .n = found};
    return PV_OK;
}

enum pv_code store_run_of_ids(struct store_tx *tx,
                              struct arena *arena,
                              const struct application *application,
                              const struct run_id ids[],
                              size_t n,
                              struct run_list *list,
                              struct pv_error *err)
{
    struct sql sql;
    struct run_list read;
    result_auto_t *result = NULL;
    tx_columns(tx, &sql, &by_ids);
    sql.repeated = true;
    sql_uuid(&sql, application->id);
    sql_uuids(&sql, ids->text, n, sizeof *ids);
    PV_TRY(tx_query(tx, &sql, &result, err));
    PV_TRY(run_read_list(result, arena, n, &read, err));
    if (order_by_ids(ids, n, arena, &read) != PV_OK)
        return pv_no_memory(err);
    PV_TRY(run_load_stages(tx, arena, application->id, read.items, read.n, RUN_WITH_TASKS, err));
    for (size_t i = 0; i < read.n; i++)
        PV_TRY(run_leave_out_idle(&read.items[i], arena, err));
    *list = read;
    return PV_OK;
}

enum pv_code store_run_missing_counts(struct store_tx *tx,
                                      const struct application *application,
                                      struct missing_counts *counts,
                                      struct pv_error *err)
{
    static const char text[] =
        "SELECT count(*), count(*) FILTER (WHERE NOT r.succeeded),"
        " count(*) FILTER (WHERE r.executors IS NULL),"
        " count(*) FILTER (WHERE r.cores_per_executor IS NULL),"
        " count(*) FILTER (WHERE r.exact_problem_size IS NULL AND r.problem_size IS NULL),"
        " count(*) FILTER (WHERE NOT r.has_stages),"
        " count(*) FILTER (WHERE NOT " RUN_IS_BATCH ") FROM"
        " (SELECT * FROM provisor.run WHERE team_id = $1 AND application_id = $2"
        "  ORDER BY instant DESC, id DESC LIMIT $3) AS r";
    struct sql sql;
    result_auto_t *result = NULL;
    tx_sql(tx, &sql, text);
    sql_uuid(&sql, application->id);
    sql_int(&sql, RUN_MISSING_LOOKED_AT);
    PV_TRY(tx_walk(tx, &sql, &result, err));
    struct row row = row_at(result, 0, &tx->scratch);
    struct missing_counts read = {.runs = row_int(&row)};
    read.failed = row_int(&row);
    read.executors = row_int(&row);
    read.cores_per_executor = row_int(&row);
    read.problem_size = row_int(&row);
    read.stages = row_int(&row);
    read.streaming = row_int(&row);
    PV_TRY(row_done(&row, err));
    *counts = read;
    return PV_OK;
}
