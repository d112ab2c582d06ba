#include "store/advice/accuracy.h"

#include "store/advice/accuracy_internal.h"
#include "store/history/run_internal.h"

/* Both statements read this one relation, of all runs that name advice or of some. */
#define HELD_AGAINST(runs)                                                                         \
    "SELECT r.id, r.advice_id, r.instant, r.succeeded, r.problem_size, r.executors,"               \
    " r.cores_per_executor, r.duration_s, a.problem_size AS advised_problem_size,"                 \
    " a.executors AS advised_executors, a.cores_per_executor AS advised_cores,"                    \
    " a.predicted_duration_s, a.lower_s, a.upper_s, a.confidence, a.model_kind,"                   \
    " " ACCURACY_COMPARED " AS compared, " ACCURACY_ERROR_PERCENT                                  \
    " AS error_percent, " ACCURACY_INSIDE " AS inside"                                             \
    " FROM " runs " AS r JOIN provisor.advice a ON a.team_id = r.team_id AND a.id = r.advice_id"   \
    " WHERE r.team_id = $1 AND r.application_id = $2 AND r.advice_id IS NOT NULL"
#define ADVISED                                                                                    \
    "FROM provisor.run WHERE team_id = $1 AND application_id = $2 AND advice_id IS NOT NULL"

static void list_query(struct store_tx *tx,
                       const struct application *application,
                       const struct accuracy_filter *filter,
                       struct sql *sql)
{
    tx_sql(tx, sql,
           HELD_AGAINST("provisor.run") " AND (r.instant, r.id) < ($3, $4)"
                                        " ORDER BY r.instant DESC, r.id DESC LIMIT $5");
    sql_uuid(sql, application->id);
    sql_bound(sql, filter->before_us, "infinity");
    sql_uuid(sql, filter->before_us == RUN_NO_INSTANT ? RUN_ID_GREATEST : filter->before_id);
    sql_int(sql, (int64_t)filter->limit + 1);
}

/* The newest only: sums over all of them would grow with the history at every look, and kept ones
 * would have to be taken back when a month of advice is dropped. Sums run in the order of the ids,
 * so that the same rows give the same digits. */
static void
summary_query(struct store_tx *tx, const struct application *application, struct sql *sql)
{
    tx_sql(tx, sql,
           "SELECT count(*), count(*) FILTER (WHERE compared),"
           " avg(abs(error_percent) ORDER BY id) FILTER (WHERE compared),"
           " avg(error_percent ORDER BY id) FILTER (WHERE compared),"
           " avg(CASE WHEN inside THEN 1.0::float8 ELSE 0.0::float8 END)"
           " FILTER (WHERE compared AND inside IS NOT NULL),"
           " avg(confidence ORDER BY id) FILTER (WHERE compared AND inside IS NOT NULL)"
           ", EXISTS (SELECT " ADVISED " OFFSET $3) FROM (" HELD_AGAINST(
               "(SELECT * " ADVISED " ORDER BY instant DESC, id DESC LIMIT $3)") ") AS held");
    sql_uuid(sql, application->id);
    sql_int(sql, ACCURACY_SUMMARY_RUNS);
}

static enum pv_code read_item(const PGresult *result,
                              size_t at,
                              struct arena *arena,
                              struct accuracy_row *item,
                              struct pv_error *err)
{
    struct row row = row_at(result, (int)at, arena);
    row_uuid(&row, item->run_id);
    row_uuid(&row, item->advice_id);
    item->instant_us = row_instant(&row);
    item->succeeded = row_bool(&row);
    item->problem_size = row_int(&row);
    item->executors = row_int(&row);
    item->cores_per_executor = row_int(&row);
    item->duration_s = row_double(&row);
    item->advised_problem_size = row_int(&row);
    item->advised_executors = row_int(&row);
    item->advised_cores_per_executor = row_int(&row);
    item->predicted_duration_s = row_double(&row);
    item->lower_s = row_double(&row);
    item->upper_s = row_double(&row);
    item->confidence = row_double(&row);
    item->model_kind = row_text(&row);
    item->compared = row_bool(&row);
    item->error_percent = row_double(&row);
    item->inside_known = !row_is_null(&row);
    item->inside = row_bool(&row);
    return row_done(&row, err);
}

static enum pv_code read_list(const PGresult *result,
                              size_t limit,
                              struct arena *arena,
                              struct accuracy_list *list,
                              struct pv_error *err)
{
    size_t there = row_count(result);
    list->more = there > limit;
    list->n = list->more ? limit : there;
    list->items = arena_calloc(arena, list->n, sizeof *list->items);
    if (list->items == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < list->n; i++)
        PV_TRY(read_item(result, i, arena, &list->items[i], err));
    return PV_OK;
}

static enum pv_code read_summary(const PGresult *result,
                                 struct arena *arena,
                                 struct accuracy_summary *summary,
                                 struct pv_error *err)
{
    struct row row = row_at(result, 0, arena);
    summary->runs = row_int(&row);
    summary->compared = row_int(&row);
    summary->mape_percent = row_double(&row);
    summary->mean_error_percent = row_double(&row);
    summary->inside_interval = row_double(&row);
    summary->confidence = row_double(&row);
    summary->newest_only = row_bool(&row);
    return row_done(&row, err);
}

enum pv_code store_accuracy_list(struct store_tx *tx,
                                 struct arena *arena,
                                 const struct application *application,
                                 const struct accuracy_filter *filter,
                                 struct accuracy_list *list,
                                 struct pv_error *err)
{
    struct sql sql;
    struct accuracy_list read = {.items = NULL};
    PGresult *page = NULL;
    PGresult *summary = NULL;
    list_query(tx, application, filter, &sql);
    enum pv_code code = tx_walk(tx, &sql, &page, err);
    if (code == PV_OK)
        code = read_list(page, filter->limit, arena, &read, err);
    summary_query(tx, application, &sql);
    if (code == PV_OK)
        code = tx_walk(tx, &sql, &summary, err);
    if (code == PV_OK)
        code = read_summary(summary, arena, &read.summary, err);
    PQclear(page);
    PQclear(summary);
    if (code == PV_OK)
        *list = read;
    return code;
}
