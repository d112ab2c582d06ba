#include "store/operations/operation.h"

#include <string.h>

#include "store/operations/operation_internal.h"

static const char *const words[] = {[OPERATION_QUEUED] = "queued",
                                    [OPERATION_RUNNING] = "running",
                                    [OPERATION_SUCCEEDED] = "succeeded",
                                    [OPERATION_FAILED] = "failed",
                                    [OPERATION_CANCELLED] = "cancelled"};

const char *operation_status_word(enum operation_status status)
{
    return words[status];
}

bool operation_status_parse(const char *word, enum operation_status *status)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i], word) != 0)
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

enum operation_status row_operation_status(struct row *row)
{
    enum operation_status status = OPERATION_FAILED;
    struct strview word = row_text(row);
    if (word.at == NULL || !operation_status_parse(word.at, &status))
        row->failed = true;
    return status;
}

enum pv_code row_operation(struct row *row, struct operation_row *operation, struct pv_error *err)
{
    struct operation_row o = {0};
    row_uuid(row, o.id);
    o.kind = row_text(row);
    row_uuid(row, o.application_id);
    o.application_name = row_text(row);
    row_uuid(row, o.token_id);
    o.actor = row_text(row);
    o.scopes = (unsigned)row_int(row);
    o.request_id = row_text(row);
    o.trace_id = row_text(row);
    o.status = row_operation_status(row);
    o.done = row_int(row);
    o.total = row_int(row);
    o.unit = row_text(row);
    o.attempt = row_int(row);
    o.attempt_done = row_int(row);
    o.losses = row_int(row);
    o.events = row_int(row);
    o.version = row_int(row);
    o.error = row_text(row);
    o.created_us = row_instant(row);
    o.started_us = row_instant(row);
    o.updated_us = row_instant(row);
    o.finished_us = row_instant(row);
    o.expires_us = row_instant(row);
    o.cancel_asked_us = row_instant(row);
    o.position = row_int(row);
    o.request = row_text(row);
    o.result = row_text(row);
    PV_TRY(row_done(row, err));
    *operation = o;
    return PV_OK;
}

/* --- submit --- */

/* Submissions of one team take turns, so that what is counted holds. */
static enum pv_code check_queued(struct store_tx *tx, int64_t queued_max, struct pv_error *err)
{
    struct sql lock, count;
    tx_sql(tx, &lock,
           "SELECT pg_advisory_xact_lock(hashtextextended('provisor.operation ' || $1::text, 0))");
    PV_TRY(tx_defer(tx, &lock, err));
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
                   "%lld operations of the team are queued already (operation_team_queued_max)",
                   (long long)queued);
}

/* The next values of a row: what is to be done, and who asks. */
static void add_values(struct sql *sql, struct store_tx *tx, const struct operation_row *operation)
{
    sql_uuid(sql, operation->id);
    sql_text(sql, operation->kind);
    sql_uuid(sql, operation->application_id);
    sql_text(sql, operation->application_name);
    sql_uuid(sql, tx->who.token_id);
    sql_text(sql, strview_of(tx->who.actor));
    sql_int(sql, (int64_t)tx->who.scopes);
    sql_text(sql, strview_of(tx->request_id));
    sql_text(sql, operation->trace_id.at == NULL ? strview_of("") : operation->trace_id);
    sql_json(sql, operation->request);
}

static enum pv_code submit(struct store_tx *tx,
                           struct sql *sql,
                           const struct operation_row *operation,
                           struct pv_error *err)
{
    PV_TRY(tx_defer(tx, sql, err));
    store_tell_of(tx, operation->application_id);
    return journal_audit(tx, "operation.submit", "operation", strview_of(operation->id), err);
}

enum pv_code store_operation_insert(struct store_tx *tx,
                                    const struct operation_row *operation,
                                    int64_t queued_max,
                                    struct pv_error *err)
{
    PV_TRY(check_queued(tx, queued_max, err));
    struct sql sql;
    tx_sql(tx, &sql,
           "INSERT INTO provisor.operation (team_id, id, kind, application_id, application_name,"
           " token_id, actor, scopes, request_id, trace_id, request)"
           " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)");
    add_values(&sql, tx, operation);
    return submit(tx, &sql, operation, err);
}

enum pv_code store_operation_adopt(struct store_tx *tx,
                                   const struct operation_row *operation,
                                   const char *worker,
                                   int64_t lease_ms,
                                   struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "INSERT INTO provisor.operation (team_id, id, kind, application_id, application_name,"
           " token_id, actor, scopes, request_id, trace_id, request, status, attempt, started_at,"
           " worker, lease_until)"
           " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'running', 1, now(), $12,"
           " clock_timestamp() + $13 * interval '1 millisecond')");
    add_values(&sql, tx, operation);
    sql_text(&sql, strview_of(worker));
    sql_int(&sql, lease_ms);
    return submit(tx, &sql, operation, err);
}

/* --- find, list --- */

static enum pv_code read_one(const PGresult *result,
                             struct arena *arena,
                             struct operation_row *operation,
                             struct pv_error *err)
{
    if (row_count(result) == 0)
        return pv_fail(err, PV_E_NOT_FOUND, "there is no operation of that id");
    struct row row = row_at(result, 0, arena);
    if (row_bool(&row))
        return pv_fail(err, PV_E_GONE,
                       "what became of the operation was kept until its expires_at");
    return row_operation(&row, operation, err);
}

enum pv_code store_operation_find(struct store_tx *tx,
                                  struct arena *arena,
                                  const char *id,
                                  struct operation_row *operation,
                                  struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT coalesce(o.expires_at <= now(), false), " OPERATION_COLUMNS
           ", o.request, o.result"
           " FROM provisor.operation o WHERE o.team_id = $1 AND o.id = $2");
    sql_uuid(&sql, id);
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, &sql, &result, err));
    return read_one(result, arena, operation, err);
}

static void list_query(struct store_tx *tx, const struct operation_filter *filter, struct sql *sql)
{
    tx_sql(tx, sql,
           "SELECT " OPERATION_COLUMNS ", NULL, NULL FROM provisor.operation o"
           " WHERE o.team_id = $1 AND (o.created_at, o.id) < ($2, $3)"
           " AND o.created_at >= $4 AND (o.expires_at IS NULL OR o.expires_at > now())"
           " AND ($5 IS NULL OR o.status = $5) AND ($6 IS NULL OR o.kind = $6)"
           " AND ($7 IS NULL OR o.application_name = $7)"
           " ORDER BY o.created_at DESC, o.id DESC LIMIT $8");
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
    list_query(tx, filter, &sql);
    result_auto_t *result = NULL;
    PV_TRY(tx_walk(tx, &sql, &result, err));
    size_t there = row_count(result);
    struct operation_list read = {.more = there > filter->limit};
    read.n = read.more ? filter->limit : there;
    read.items = arena_calloc(arena, read.n, sizeof *read.items);
    if (read.items == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < read.n; i++) {
        struct row row = row_at(result, (int)i, arena);
        PV_TRY(row_operation(&row, &read.items[i], err));
    }
    *list = read;
    return PV_OK;
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
    store_tell_of(tx, operation->application_id);
    return asked ? journal_audit(tx, "operation.cancel", "operation", strview_of(id), err) : PV_OK;
}

enum pv_code store_operation_tell(struct store_tx *tx,
                                  const struct operation_row *operation,
                                  struct strview event,
                                  struct pv_error *err)
{
    store_tell_of(tx, operation->application_id);
    return journal_event(tx, "operation.completed", event, err);
}
