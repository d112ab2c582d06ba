#include "store/operations/operation.h"

#include <string.h>

#include "base/plural.h"
#include "store/operations/operation_internal.h"
#include "store/outbox/outbox.h"
#include "store/usage/usage.h"

const char *const operation_status_words[] = {
    [OPERATION_QUEUED] = "queued",       [OPERATION_RUNNING] = "running",
    [OPERATION_SUCCEEDED] = "succeeded", [OPERATION_FAILED] = "failed",
    [OPERATION_CANCELLED] = "cancelled", NULL};

const char *operation_status_word(enum operation_status status)
{
    return operation_status_words[status];
}

bool operation_status_parse(const char *word, enum operation_status *status)
{
    for (size_t i = 0; operation_status_words[i] != NULL; i++) {
        if (strcmp(operation_status_words[i], word) != 0)
            continue;
        *status = (enum operation_status)i;
        return true;
    }
    return false;
}

bool operation_has_ended(enum operation_status status)
{
    return status != OPERATION_QUEUED && status != OPERATION_RUNNING;
}

#define O struct operation_row
static const struct column of_operation[] = {
    {"id", COLUMN_ID(O, id)},
    {"kind", COLUMN_TEXT(O, kind)},
    {"application_id", COLUMN_ID(O, application_id)},
    {"application_name", COLUMN_TEXT(O, application_name)},
    {"token_id", COLUMN_ID(O, token_id)},
    {"actor", COLUMN_TEXT(O, actor)},
    {"scopes", COLUMN_BITS(O, scopes)},
    {"request_id", COLUMN_TEXT(O, request_id)},
    {"trace_id", COLUMN_TEXT(O, trace_id)},
    {"status", COLUMN_WORD(O, status, operation_status_words), .computed = true},
    {"done", COLUMN_COUNT(O, done), .computed = true},
    {"total", COLUMN_COUNT(O, total), .computed = true},
    {"unit", COLUMN_TEXT(O, unit), .computed = true},
    {"attempt", COLUMN_COUNT(O, attempt), .computed = true},
    {"attempt_done", COLUMN_COUNT(O, attempt_done), .computed = true},
    {"losses", COLUMN_COUNT(O, losses), .computed = true},
    {"events", COLUMN_COUNT(O, events), .computed = true},
    {"version", COLUMN_COUNT(O, version), .computed = true},
    {"error", COLUMN_TEXT(O, error), .computed = true},
    {"o.created_at", COLUMN_INSTANT(O, created_us), .computed = true},
    {"started_at", COLUMN_INSTANT(O, started_us), .computed = true},
    {"updated_at", COLUMN_INSTANT(O, updated_us), .computed = true},
    {"finished_at", COLUMN_INSTANT(O, finished_us), .computed = true},
    {"expires_at", COLUMN_INSTANT(O, expires_us), .computed = true},
    {"cancel_asked_at", COLUMN_INSTANT(O, cancel_asked_us), .computed = true},
    {"CASE o.status WHEN 'queued' THEN 1 + (SELECT count(*) FROM provisor.operation q"
     " WHERE q.team_id = o.team_id AND q.status = 'queued'"
     " AND (q.created_at, q.id) < (o.created_at, o.id)) END",
     COLUMN_COUNT(O, position), .computed = true},
};
const struct columns operation_columns = {"operation", COLUMNS_OF(of_operation, O)};

static const struct column of_documents[] = {
    {"request", COLUMN_JSON(O, request)},
    {"result", COLUMN_JSON(O, result)},
};
const struct columns operation_documents = {"documents", COLUMNS_OF(of_documents, O)};

/* --- submit --- */

/* Submissions of one team take turns, so that what is counted holds. */
static enum pv_code check_queued(struct store_tx *tx, int64_t queued_max, struct pv_error *err)
{
    struct sql count;
    PV_TRY(tx_lock_team(tx, "operation", err));
    tx_sql(tx, &count,
           "SELECT count(*) FROM provisor.operation WHERE team_id = $1 AND status = 'queued'");
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, &count, &result, err));
    struct row row = row_at(result, 0, NULL);
    int64_t queued = row_int(&row);
    if (queued < queued_max)
        return PV_OK;
    if (err != NULL)
        err->retry_after_s = 5;
    return pv_fail(err, PV_E_QUOTA,
                   "%lld operation%s of the team %s queued already (operation_team_queued_max)",
                   (long long)queued, PLURAL(queued), PLURAL_VERB(queued, "is", "are"));
}

/* The row that is written: what is to be done, and who asks for it. */
static struct operation_row row_of(const struct store_tx *tx, const struct operation_row *operation)
{
    struct operation_row row = *operation;
    memcpy(row.token_id, tx->who.token_id, sizeof row.token_id);
    row.actor = strview_of(tx->who.actor);
    row.scopes = tx->who.scopes;
    row.request_id = strview_of(tx->request_id);
    if (row.trace_id.at == NULL)
        row.trace_id = strview_of("");
    return row;
}

static enum pv_code store_operation_submit(struct store_tx *tx,
                                           struct sql *sql,
                                           const struct operation_row *operation,
                                           struct pv_error *err)
{
    PV_TRY(tx_defer(tx, sql, err));
    store_set_application(tx, operation->application_id);
    PV_TRY(usage_check(tx, 1u << QUOTA_OPERATIONS, err));
    return journal_audit(tx, "operation.submit", "operation", strview_of(operation->id), err);
}

enum pv_code store_operation_insert(struct store_tx *tx,
                                    const struct operation_row *operation,
                                    int64_t queued_max,
                                    struct pv_error *err)
{
    static struct columns_statement statement = {
        "INSERT INTO provisor.operation (team_id, request, {operation:written})"
        " VALUES ($1, $2, {operation:values})",
        .of = {&operation_columns}};
    const struct operation_row row = row_of(tx, operation);
    struct sql sql;
    PV_TRY(check_queued(tx, queued_max, err));
    tx_columns(tx, &sql, &statement);
    sql_json(&sql, operation->request);
    columns_bind(&sql, &operation_columns, &row);
    return store_operation_submit(tx, &sql, operation, err);
}

enum pv_code store_operation_insert_running(struct store_tx *tx,
                                            const struct operation_row *operation,
                                            const char *worker,
                                            int64_t lease_ms,
                                            struct pv_error *err)
{
    static struct columns_statement statement = {
        "INSERT INTO provisor.operation (team_id, request, status, attempt, started_at, worker,"
        " lease_until, {operation:written}) VALUES ($1, $2, 'running', 1, now(), $3,"
        " clock_timestamp() + $4 * interval '1 millisecond', {operation:values})",
        .of = {&operation_columns}};
    const struct operation_row row = row_of(tx, operation);
    struct sql sql;
    tx_columns(tx, &sql, &statement);
    sql_json(&sql, operation->request);
    sql_text(&sql, strview_of(worker));
    sql_int(&sql, lease_ms);
    columns_bind(&sql, &operation_columns, &row);
    return store_operation_submit(tx, &sql, operation, err);
}

/* --- find, list --- */

enum pv_code store_operation_find(struct store_tx *tx,
                                  struct arena *arena,
                                  const char *id,
                                  struct operation_row *operation,
                                  struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT coalesce(o.expires_at <= now(), false), {operation}, {documents}"
        " FROM provisor.operation o WHERE o.team_id = $1 AND o.id = $2",
        .of = {&operation_columns, &operation_documents}};
    struct sql sql;
    result_auto_t *result = NULL;
    tx_columns(tx, &sql, &statement);
    sql_uuid(&sql, id);
    PV_TRY(tx_query(tx, &sql, &result, err));
    if (row_count(result) == 0)
        return pv_fail(err, PV_E_NOT_FOUND, "there is no operation of that id");
    struct row row = row_at(result, 0, arena);
    if (row_bool(&row))
        return pv_fail(err, PV_E_GONE,
                       "what became of the operation was kept until its expires_at");
    columns_read(&row, &operation_columns, operation);
    columns_read(&row, &operation_documents, operation);
    return row_done(&row, err);
}

static void
operation_list_query(struct store_tx *tx, const struct operation_filter *filter, struct sql *sql)
{
    static struct columns_statement statement = {
        "SELECT {operation} FROM provisor.operation o"
        " WHERE o.team_id = $1 AND (o.created_at, o.id) < ($2, $3)"
        " AND o.created_at >= $4 AND (o.expires_at IS NULL OR o.expires_at > now())"
        " AND ($5 IS NULL OR o.status = $5) AND ($6 IS NULL OR o.kind = $6)"
        " AND ($7 IS NULL OR o.application_name = $7)"
        " ORDER BY o.created_at DESC, o.id DESC LIMIT $8",
        .of = {&operation_columns}};
    tx_columns(tx, sql, &statement);
    bool paged = filter->before_us != RUN_NO_INSTANT;
    sql_bound(sql, paged ? filter->before_us : filter->until_us, "infinity");
    /* Nothing created at `until` itself lies before the least id. */
    sql_uuid(sql, paged                                ? filter->before_id
                  : filter->until_us == RUN_NO_INSTANT ? "ffffffff-ffff-ffff-ffff-ffffffffffff"
                                                       : "00000000-0000-0000-0000-000000000000");
    sql_bound(sql, filter->since_us, "-infinity");
    sql_text(sql, strview_of(filter->status));
    sql_text(sql, strview_of(filter->kind));
    sql_text(sql, strview_of(filter->application_name));
    sql_int(sql, (int64_t)filter->limit + 1);
}

enum pv_code store_operation_list(struct store_tx *tx,
                                  struct arena *arena,
                                  const struct operation_filter *filter,
                                  struct operation_list *list,
                                  struct pv_error *err)
{
    struct sql sql;
    operation_list_query(tx, filter, &sql);
    result_auto_t *result = NULL;
    PV_TRY(tx_walk(tx, &sql, &result, err));
    return columns_read_list(result, filter->limit, arena, &operation_columns, list, err);
}

/* --- cancel --- */

static enum pv_code ask_for_end(
    struct store_tx *tx, const char *id, int64_t keep_s, bool *changed, struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "UPDATE provisor.operation SET cancel_asked_at = now(),"
           " status = CASE status WHEN 'queued' THEN 'cancelled' ELSE status END,"
           " finished_at = CASE status WHEN 'queued' THEN now() END,"
           " expires_at = CASE status WHEN 'queued' THEN now() + $3 * interval '1 second' END"
           " WHERE team_id = $1 AND id = $2 AND cancel_asked_at IS NULL"
           " AND status IN ('queued', 'running') RETURNING 1");
    sql_uuid(&sql, id);
    sql_int(&sql, keep_s);
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, &sql, &result, err));
    *changed = row_count(result) > 0;
    return PV_OK;
}

enum pv_code store_operation_cancel(struct store_tx *tx,
                                    struct arena *arena,
                                    const char *id,
                                    int64_t keep_s,
                                    struct operation_row *operation,
                                    bool *changed,
                                    struct pv_error *err)
{
    bool asked = false;
    PV_TRY(ask_for_end(tx, id, keep_s, &asked, err));
    PV_TRY(store_operation_find(tx, arena, id, operation, err));
    *changed = asked;
    store_set_application(tx, operation->application_id);
    return asked ? journal_audit(tx, "operation.cancel", "operation", strview_of(id), err) : PV_OK;
}

enum pv_code store_operation_tell(struct store_tx *tx,
                                  const struct operation_row *operation,
                                  struct strview event,
                                  struct pv_error *err)
{
    store_set_application(tx, operation->application_id);
    const struct outbox_event ended = {.type = "operation.completed", .data = event};
    return outbox_append(tx, &ended, err);
}
