#include "store/history/application.h"
#include "store/history/run.h"
#include "store/sql/columns.h"

/* The latest run and advice of the applications of a page, whatever the page was chosen by. */

#define R struct application_last_run
static const struct column of_run[] = {
    {"id", COLUMN_ID(R, id)},
    {"exact_problem_size", COLUMN_NUMBER(R, problem_size), .read = RUN_PROBLEM_SIZE("")},
    {"problem_size_measure", COLUMN_TEXT(R, problem_size_measure), .read = RUN_SIZE_MEASURE},
    {"executors", COLUMN_COUNT(R, executors)},
    {"cores_per_executor", COLUMN_COUNT(R, cores_per_executor)},
    {"duration_s", COLUMN_NUMBER(R, duration_s)},
    {"succeeded", COLUMN_BOOLEAN(R, succeeded)},
};
static const struct columns run_columns = {"run", COLUMNS_OF(of_run, R)};

#define V struct application_last_advice
static const struct column of_advice[] = {
    {"id", COLUMN_ID(V, id)},
    {"verdict", COLUMN_TEXT(V, verdict)},
    {"feasible", COLUMN_BOOLEAN(V, feasible)},
    {"executors", COLUMN_COUNT(V, executors)},
    {"predicted_duration_s", COLUMN_NUMBER(V, predicted_duration_s)},
    {"deadline_s", COLUMN_NUMBER(V, deadline_s)},
    {"confidence", COLUMN_NUMBER(V, confidence)},
    {"deadline_probability", COLUMN_NUMBER(V, deadline_probability)},
};
static const struct columns advice_columns = {"advice", COLUMNS_OF(of_advice, V)};

static struct columns_statement latest_runs = {
    "SELECT asked.place, latest.* FROM unnest($2) WITH ORDINALITY AS asked (id, place)"
    " CROSS JOIN LATERAL (SELECT {run} FROM provisor.run"
    " WHERE team_id = $1 AND application_id = asked.id"
    " ORDER BY instant DESC, run.id DESC LIMIT 1) AS latest",
    .of = {&run_columns}};

static struct columns_statement latest_advice = {
    "SELECT asked.place, latest.* FROM unnest($2) WITH ORDINALITY AS asked (id, place)"
    " JOIN provisor.application ON application.team_id = $1 AND application.id = asked.id"
    " CROSS JOIN LATERAL (SELECT {advice} FROM provisor.advice"
    " WHERE team_id = $1 AND application_name = application.name"
    " ORDER BY created_at DESC, advice.id DESC LIMIT 1) AS latest",
    .of = {&advice_columns}};

/* What a statement finds, by `columns`, into the member at `offset` of the application that the row
 * names by its place, from 1. */
static enum pv_code load_member(struct store_tx *tx,
                                struct arena *arena,
                                struct columns_statement *statement,
                                const struct columns *columns,
                                size_t offset,
                                struct application applications[],
                                size_t n,
                                struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    tx_columns(tx, &sql, statement);
    sql.repeated = true;
    sql_uuids(&sql, applications->id, n, sizeof *applications);
    PV_TRY(tx_walk(tx, &sql, &result, err));
    for (size_t i = 0; i < row_count(result); i++) {
        struct row row = row_at(result, (int)i, arena);
        struct application *application = &applications[row_int(&row) - 1];
        columns_read(&row, columns, (char *)application + offset);
        PV_TRY(row_done(&row, err));
    }
    return PV_OK;
}

enum pv_code store_application_load_latest(struct store_tx *tx,
                                           struct arena *arena,
                                           struct application applications[],
                                           size_t n,
                                           unsigned include,
                                           struct pv_error *err)
{
    for (size_t i = 0; i < n; i++)
        applications[i].last_run.id[0] = applications[i].last_advice.id[0] = '\0';
    if (n > 0 && (include & APPLICATION_LAST_RUN) != 0)
        PV_TRY(load_member(tx, arena, &latest_runs, &run_columns,
                           offsetof(struct application, last_run), applications, n, err));
    if (n > 0 && (include & APPLICATION_LAST_ADVICE) != 0)
        PV_TRY(load_member(tx, arena, &latest_advice, &advice_columns,
                           offsetof(struct application, last_advice), applications, n, err));
    return PV_OK;
}
