#include "store/advice/accuracy.h"

#include "store/advice/accuracy_internal.h"
#include "store/history/run_internal.h"

/* Of a run r and the advice a that it names. */
#define A struct accuracy_row
static const struct column of_accuracy[] = {
    {"r.id", COLUMN_ID(A, run_id)},
    {"a.id", COLUMN_ID(A, advice_id)},
    {"r.instant", COLUMN_INSTANT(A, instant_us)},
    {"r.succeeded", COLUMN_BOOLEAN(A, succeeded)},
    {RUN_SIZE, COLUMN_NUMBER(A, problem_size)},
    {"r.executors", COLUMN_COUNT(A, executors)},
    {"r.cores_per_executor", COLUMN_COUNT(A, cores_per_executor)},
    {"r.duration_s", COLUMN_NUMBER(A, duration_s)},
    {RUN_PROBLEM_SIZE("a."), COLUMN_NUMBER(A, advised_problem_size)},
    {"a.executors", COLUMN_COUNT(A, advised_executors)},
    {"a.cores_per_executor", COLUMN_COUNT(A, advised_cores_per_executor)},
    {"a.predicted_duration_s", COLUMN_NUMBER(A, predicted_duration_s)},
    {"a.lower_s", COLUMN_NUMBER(A, lower_s)},
    {"a.upper_s", COLUMN_NUMBER(A, upper_s)},
    {"a.confidence", COLUMN_NUMBER(A, confidence)},
    {"a.model_kind", COLUMN_TEXT(A, model_kind)},
    {ACCURACY_COMPARED, COLUMN_BOOLEAN(A, compared)},
    {ACCURACY_ERROR_PERCENT, COLUMN_NUMBER(A, error_percent)},
    {"(" ACCURACY_INSIDE ") IS NOT NULL", COLUMN_BOOLEAN(A, inside_known)},
    {ACCURACY_INSIDE, COLUMN_BOOLEAN(A, inside)},
};
static const struct columns columns = {"accuracy", COLUMNS_OF(of_accuracy, A)};

#define JOINED                                                                                     \
    " AS r JOIN provisor.advice a ON a.team_id = r.team_id AND a.id = r.advice_id"                 \
    " WHERE r.team_id = $1 AND r.application_id = $2 AND r.advice_id IS NOT NULL"
#define ADVISED                                                                                    \
    "FROM provisor.run WHERE team_id = $1 AND application_id = $2 AND advice_id IS NOT NULL"

static void accuracy_list_query(struct store_tx *tx,
                                const struct application *application,
                                const struct accuracy_filter *filter,
                                struct sql *sql)
{
    static struct columns_statement statement = {"SELECT {accuracy} FROM provisor.run" JOINED
                                                 " AND (r.instant, r.id) < ($3, $4)"
                                                 " ORDER BY r.instant DESC, r.id DESC LIMIT $5",
                                                 .of = {&columns}};
    tx_columns(tx, sql, &statement);
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
           ", EXISTS (SELECT " ADVISED " OFFSET $3)"
           " FROM (SELECT r.id, a.confidence, " ACCURACY_COMPARED " AS compared,"
           " " ACCURACY_ERROR_PERCENT " AS error_percent, " ACCURACY_INSIDE " AS inside"
           " FROM (SELECT * " ADVISED " ORDER BY instant DESC, id DESC LIMIT $3)" JOINED
           ") AS held");
    sql_uuid(sql, application->id);
    sql_int(sql, ACCURACY_SUMMARY_RUNS);
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
    result_auto_t *page = NULL;
    result_auto_t *summary = NULL;
    accuracy_list_query(tx, application, filter, &sql);
    PV_TRY(tx_walk(tx, &sql, &page, err));
    PV_TRY(columns_read_list(page, filter->limit, arena, &columns, list, err));
    summary_query(tx, application, &sql);
    PV_TRY(tx_walk(tx, &sql, &summary, err));
    return read_summary(summary, arena, &list->summary, err);
}
