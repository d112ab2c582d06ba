#include "store/advice/advice.h"

#include "store/history/run.h"
#include "store/outbox/outbox.h"
#include "store/sql/columns.h"
#include "store/usage/usage.h"

enum { ADVICE_ROW_BYTES = 500 }; /* what a row takes besides its documents, about */

/* What a list shows of it, and the rest. */
#define A struct advice_row
static const struct column of_headline[] = {
    {"id", COLUMN_ID(A, id)},
    {"application_id", COLUMN_ID(A, application_id)},
    {"application_name", COLUMN_TEXT(A, application_name)},
    {"objective", COLUMN_TEXT(A, objective)},
    {"verdict", COLUMN_TEXT(A, verdict)},
    {"feasible", COLUMN_BOOLEAN(A, feasible)},
    {"executors", COLUMN_COUNT(A, executors)},
    {"predicted_duration_s", COLUMN_NUMBER(A, predicted_duration_s)},
    {"deadline_s", COLUMN_NUMBER(A, deadline_s)},
    {"document", COLUMN_JSON(A, document)},
    {"created_at", COLUMN_INSTANT(A, created_us), .computed = true},
};
static const struct columns headline = {"headline", COLUMNS_OF(of_headline, A)};

static const struct column of_details[] = {
    {"request", COLUMN_JSON(A, request)},
    {"exact_problem_size", COLUMN_NUMBER(A, problem_size), .read = RUN_PROBLEM_SIZE("")},
    {"cluster", COLUMN_TEXT(A, cluster),
     .read = "coalesce(cluster, request -> 'constraints' ->> 'cluster')"},
    {"due_at", COLUMN_INSTANT(A, due_us)},
    {"cores_per_executor", COLUMN_COUNT(A, cores_per_executor)},
    {"lower_s", COLUMN_NUMBER(A, lower_s)},
    {"upper_s", COLUMN_NUMBER(A, upper_s)},
    {"confidence", COLUMN_NUMBER(A, confidence)},
    {"model_kind", COLUMN_TEXT(A, model_kind)},
    {"deadline_probability", COLUMN_NUMBER(A, deadline_probability)},
};
static const struct columns details = {"details", COLUMNS_OF(of_details, A)};

static int64_t bytes_of(const struct advice_row *advice)
{
    return (int64_t)(ADVICE_ROW_BYTES + advice->request.n + advice->document.n);
}

static enum pv_code
advice_insert(struct store_tx *tx, const struct advice_row *advice, struct pv_error *err)
{
    static struct columns_statement statement = {
        "INSERT INTO provisor.advice (team_id, created_at, bytes, problem_size,"
        " {headline:written}, {details:written})"
        " VALUES ($1, coalesce($2, now()), $3, $4, {headline:values}, {details:values})",
        .of = {&headline, &details}};
    struct sql sql;
    tx_columns(tx, &sql, &statement);
    sql.repeated = true;
    sql_instant(&sql, advice->created_us > 0 ? advice->created_us : RUN_NO_INSTANT);
    sql_int(&sql, bytes_of(advice));
    sql_count(&sql, run_whole_problem_size(advice->problem_size));
    columns_bind(&sql, &headline, advice);
    columns_bind(&sql, &details, advice);
    return tx_defer(tx, &sql, err);
}

static enum pv_code insert_and_tell(struct store_tx *tx,
                                    const struct advice_row *advice,
                                    struct strview event_data,
                                    struct pv_error *err)
{
    store_set_application(tx, advice->application_id);
    PV_TRY(advice_insert(tx, advice, err));
    PV_TRY(journal_audit(tx, "advice.insert", "advice", strview_of(advice->id), err));
    struct outbox_event event = {.type = "advice.created",
                                 .severity = EVENT_INFO,
                                 .data = event_data,
                                 .labels = advice->labels,
                                 .n_labels = advice->n_labels};
    PV_TRY(outbox_append(tx, &event, err));
    if (advice->feasible || strview_equal(advice->verdict, strview_of("unknown")))
        return PV_OK;
    event.type = "deadline.infeasible";
    event.severity = EVENT_CRITICAL;
    return outbox_append(tx, &event, err);
}

enum pv_code store_advice_insert(struct store_tx *tx,
                                 const struct advice_row rows[],
                                 const struct strview event_data[],
                                 size_t n,
                                 struct pv_error *err)
{
    struct tally_amounts more = {.advice = (int64_t)n};
    for (size_t i = 0; i < n; i++)
        more.bytes += bytes_of(&rows[i]);
    for (size_t i = 0; i < n; i++)
        PV_TRY(insert_and_tell(tx, &rows[i], event_data[i], err));
    return usage_count(tx, &more, 1u << QUOTA_ADVICE | 1u << QUOTA_BYTES, err);
}

enum pv_code store_advice_insert_commit(struct store_tx **tx,
                                        const struct advice_row *advice,
                                        struct strview event_data,
                                        struct pv_error *err)
{
    enum pv_code code = store_advice_insert(*tx, advice, &event_data, 1, err);
    if (code == PV_OK)
        return store_commit(tx, err);
    store_rollback(tx);
    return code;
}

enum pv_code store_advice_find(struct store_tx *tx,
                               struct arena *arena,
                               const char *id,
                               struct advice_row *advice,
                               struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {headline}, {details} FROM provisor.advice WHERE team_id = $1 AND id = $2",
        .of = {&headline, &details}};
    struct sql sql;
    result_auto_t *result = NULL;
    tx_columns(tx, &sql, &statement);
    sql_uuid(&sql, id);
    PV_TRY(tx_query(tx, &sql, &result, err));
    if (row_count(result) == 0)
        return pv_fail(err, PV_E_NOT_FOUND, "there is no advice of that id");
    struct row row = row_at(result, 0, arena);
    columns_read(&row, &headline, advice);
    columns_read(&row, &details, advice);
    return row_done(&row, err);
}

/* Two statements rather than "$2 IS NULL OR ...", so that each walks its own index. */
static void
advice_list_query(struct store_tx *tx, const struct advice_filter *filter, struct sql *sql)
{
#define LISTED                                                                                     \
    "SELECT {headline} FROM provisor.advice WHERE team_id = $1"                                    \
    " AND (created_at, id) < ($2, $3) AND created_at >= $5 AND created_at < $6"                    \
    " AND ($7::bigint IS NULL OR feasible = ($7::bigint = 1))"                                     \
    " AND ($8::text IS NULL OR verdict = $8::text)"
#define NEWEST " ORDER BY created_at DESC, id DESC LIMIT $4"
    static struct columns_statement of_team = {LISTED NEWEST, .of = {&headline}};
    static struct columns_statement of_application = {LISTED " AND application_name = $9" NEWEST,
                                                      .of = {&headline}};
    bool all = filter->application_name == NULL;
    tx_columns(tx, sql, all ? &of_team : &of_application);
    sql_bound(sql, filter->before_us, "infinity");
    sql_uuid(sql, filter->before_us == RUN_NO_INSTANT ? "ffffffff-ffff-ffff-ffff-ffffffffffff"
                                                      : filter->before_id);
    sql_int(sql, (int64_t)filter->limit + 1);
    sql_bound(sql, filter->since_us, "-infinity");
    sql_bound(sql, filter->until_us, "infinity");
    sql_count(sql, filter->feasible);
    sql_text(sql,
             filter->verdict == NULL ? (struct strview){NULL, 0} : strview_of(filter->verdict));
    if (!all)
        sql_text(sql, strview_of(filter->application_name));
}

enum pv_code store_advice_list(struct store_tx *tx,
                               struct arena *arena,
                               const struct advice_filter *filter,
                               struct advice_list *list,
                               struct pv_error *err)
{
    struct sql sql;
    advice_list_query(tx, filter, &sql);
    result_auto_t *result = NULL;
    PV_TRY(tx_walk(tx, &sql, &result, err));
    return columns_read_list(result, filter->limit, arena, &headline, list, err);
}
