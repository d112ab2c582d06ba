#include "store/history/application.h"

#include <string.h>

#include "base/fault_text.h"
#include "store/history/ingestion.h"
#include "store/name_hint.h"
#include "store/sql/columns.h"
#include "store/usage/usage.h"
#include "threads/clock.h"

#define A struct application
#define STORED                                                                                     \
    {"id", COLUMN_ID(A, id), .computed = true}, {"name", COLUMN_TEXT(A, name)},                    \
        {"description", COLUMN_TEXT(A, description)},                                              \
        {"label_keys, label_values", COLUMN_PAIRS(A, labels, n_labels)},                           \
        {"retention_days", COLUMN_COUNT(A, retention_days)},                                       \
        {"retention_runs", COLUMN_COUNT(A, retention_runs)},                                       \
        {"problem_size_measure", COLUMN_WORD(A, size_measure.kind, size_measure_words),            \
         .read = "coalesce(problem_size_measure, 'first_stage')"},                                 \
        {"problem_size_key", COLUMN_TEXT(A, size_measure.key)},                                    \
        {"runs", COLUMN_COUNT(A, runs), .computed = true},                                         \
        {"version", COLUMN_COUNT(A, version), .computed = true},                                   \
        {"history_version", COLUMN_COUNT(A, history_version), .computed = true},                   \
        {"created_at", COLUMN_INSTANT(A, created_us), .computed = true},                           \
    {                                                                                              \
        "updated_at", COLUMN_INSTANT(A, updated_us), .computed = true                              \
    }
static const struct column of_application[] = {STORED};
static const struct columns columns = {"application", COLUMNS_OF(of_application, A)};

/* With the latest run and advice, each one step down an index. Only what is shown reads them. */
static const struct column of_shown[] = {
    STORED,
    {"(SELECT max(r.instant) FROM provisor.run r WHERE r.team_id = application.team_id"
     " AND r.application_id = application.id)",
     COLUMN_INSTANT(A, last_run_us)},
    {"(SELECT max(v.created_at) FROM provisor.advice v WHERE v.team_id = application.team_id"
     " AND v.application_name = application.name)",
     COLUMN_INSTANT(A, last_advice_us)},
};
static const struct columns shown = {"shown", COLUMNS_OF(of_shown, A)};

static enum pv_code
no_application(struct store_tx *tx, struct arena *arena, const char *name, struct pv_error *err)
{
    return pv_fail(err, PV_E_NOT_FOUND, "there is no application %s%s", fault_quote(name).text,
                   store_name_hint(tx, arena, STORE_NAMES_APPLICATIONS, name));
}

/* One row or none; *found tells. */
static enum pv_code query_one(struct store_tx *tx,
                              const struct sql *sql,
                              const struct columns *of,
                              struct arena *arena,
                              struct application *application,
                              bool *found,
                              struct pv_error *err)
{
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, sql, &result, err));
    *found = row_count(result) > 0;
    *application =
        (struct application){.last_run_us = RUN_NO_INSTANT, .last_advice_us = RUN_NO_INSTANT};
    return *found ? columns_read_row(result, 0, arena, of, application, err) : PV_OK;
}

static enum pv_code look_up(struct store_tx *tx,
                            struct arena *arena,
                            const char *name,
                            struct application *application,
                            bool *found,
                            struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {application} FROM provisor.application WHERE team_id = $1 AND name = $2",
        .of = {&columns}};
    struct sql sql;
    tx_columns(tx, &sql, &statement);
    sql.repeated = true;
    sql_text(&sql, strview_of(name));
    return query_one(tx, &sql, &columns, arena, application, found, err);
}

/* *made: false when the name is taken. */
static enum pv_code application_insert(struct store_tx *tx,
                                       struct arena *arena,
                                       const struct application *given,
                                       struct application *stored,
                                       bool *made,
                                       struct pv_error *err)
{
    static struct columns_statement statement = {
        "INSERT INTO provisor.application (team_id, id, {application:written})"
        " VALUES ($1, $2, {application:values})"
        " ON CONFLICT (team_id, name) DO NOTHING RETURNING {application}",
        .of = {&columns}};
    char id[37];
    clock_uuid7(id);
    struct sql sql;
    tx_columns(tx, &sql, &statement);
    sql.repeated = true;
    sql_uuid(&sql, id);
    columns_bind(&sql, &columns, given);
    PV_TRY(query_one(tx, &sql, &columns, arena, stored, made, err));
    if (!*made)
        return PV_OK;
    store_set_application(tx, stored->id);
    PV_TRY(usage_check(tx, 1u << QUOTA_APPLICATIONS, err));
    return journal_audit(tx, "application.insert", "application", stored->name, err);
}

enum pv_code store_application_insert(struct store_tx *tx,
                                      struct arena *arena,
                                      struct application *application,
                                      struct pv_error *err)
{
    bool made;
    struct application stored;
    PV_TRY(application_insert(tx, arena, application, &stored, &made, err));
    if (!made)
        return pv_fail(err, PV_E_CONFLICT, "there is an application of that name already");
    *application = stored;
    return PV_OK;
}

enum pv_code store_application_show(struct store_tx *tx,
                                    struct arena *arena,
                                    const char *name,
                                    struct application *application,
                                    struct pv_error *err)
{
    static struct columns_statement statement = {"SELECT {shown} FROM provisor.application"
                                                 " WHERE team_id = $1 AND name = $2",
                                                 .of = {&shown}};
    struct sql sql;
    bool found;
    tx_columns(tx, &sql, &statement);
    sql_text(&sql, strview_of(name));
    PV_TRY(query_one(tx, &sql, &shown, arena, application, &found, err));
    return found ? PV_OK : no_application(tx, arena, name, err);
}

enum pv_code store_application_find(struct store_tx *tx,
                                    struct arena *arena,
                                    const char *name,
                                    struct application *application,
                                    struct pv_error *err)
{
    bool found;
    PV_TRY(look_up(tx, arena, name, application, &found, err));
    return found ? PV_OK : no_application(tx, arena, name, err);
}

/* When another transaction inserts it between the two looks, ON CONFLICT waits for that one, and
 * the last look sees what it made, unless a third has deleted that already. */
enum pv_code store_application_ensure(struct store_tx *tx,
                                      struct arena *arena,
                                      const char *name,
                                      struct application *application,
                                      struct pv_error *err)
{
    bool there;
    PV_TRY(look_up(tx, arena, name, application, &there, err));
    if (there)
        return PV_OK;
    const struct application fresh = {
        .name = strview_of(name), .retention_days = RUN_UNKNOWN, .retention_runs = RUN_UNKNOWN};
    PV_TRY(application_insert(tx, arena, &fresh, application, &there, err));
    if (there)
        return PV_OK;
    PV_TRY(look_up(tx, arena, name, application, &there, err));
    return there ? PV_OK : pv_fail(err, PV_E_RETRY, "the application has just been deleted");
}

/* Why a write met no row. Without a version to match it can only be gone, even if an earlier read
 * in this transaction saw it. */
static enum pv_code
why_untouched(struct store_tx *tx, const char *name, int64_t if_version, struct pv_error *err)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct application there;
    bool found = false;
    enum pv_code code = PV_OK;
    if (if_version != RUN_UNKNOWN)
        code = look_up(tx, &arena, name, &there, &found, err);
    if (code == PV_OK && !found)
        code = no_application(tx, &arena, name, err);
    arena_fini(&arena);
    PV_TRY(code);
    return pv_fail(err, PV_E_PRECONDITION, "the application has changed since it was read");
}

enum pv_code store_application_update(struct store_tx *tx,
                                      struct arena *arena,
                                      const char *name,
                                      int64_t if_version,
                                      const struct application_change *change,
                                      struct application *application,
                                      struct pv_error *err)
{
    static struct columns_statement statement = {
        "UPDATE provisor.application SET"
        " description = CASE WHEN $4 THEN $5 ELSE description END,"
        " label_keys = CASE WHEN $6 THEN $7 ELSE label_keys END,"
        " label_values = CASE WHEN $6 THEN $8 ELSE label_values END,"
        " retention_days = CASE WHEN $9 THEN $10 ELSE retention_days END,"
        " retention_runs = CASE WHEN $9 THEN $11 ELSE retention_runs END,"
        " problem_size_measure = CASE WHEN $12 THEN $13 ELSE problem_size_measure END,"
        " problem_size_key = CASE WHEN $12 THEN $14 ELSE problem_size_key END,"
        " version = version + 1, updated_at = now()"
        " WHERE team_id = $1 AND name = $2 AND ($3 IS NULL OR version = $3)"
        " RETURNING {shown}",
        .of = {&shown}};
    const struct application *to = &change->to;
    struct sql sql;
    tx_columns(tx, &sql, &statement);
    sql_text(&sql, strview_of(name));
    sql_count(&sql, if_version);
    sql_bool(&sql, change->has_description);
    sql_text(&sql, to->description);
    sql_bool(&sql, change->has_labels);
    sql_pairs(&sql, to->labels, to->n_labels);
    sql_bool(&sql, change->has_retention);
    sql_count(&sql, to->retention_days);
    sql_count(&sql, to->retention_runs);
    sql_bool(&sql, change->has_size_measure);
    sql_text(&sql, strview_of(size_measure_words[to->size_measure.kind]));
    sql_text(&sql, to->size_measure.key);
    bool touched;
    PV_TRY(query_one(tx, &sql, &shown, arena, application, &touched, err));
    if (!touched)
        return why_untouched(tx, name, if_version, err);
    return journal_audit(tx, "application.update", "application", application->name, err);
}

/* The id, locked against everybody who would add to it; *found is false when there is no such. */
static enum pv_code lock_for_delete(struct store_tx *tx,
                                    const char *name,
                                    int64_t if_version,
                                    char id[37],
                                    bool *found,
                                    struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT id FROM provisor.application"
           " WHERE team_id = $1 AND name = $2 AND ($3 IS NULL OR version = $3) FOR UPDATE");
    sql_text(&sql, strview_of(name));
    sql_count(&sql, if_version);
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, &sql, &result, err));
    *found = row_count(result) > 0;
    if (*found) {
        struct row row = row_at(result, 0, NULL);
        row_uuid(&row, id);
    }
    return PV_OK;
}

/*
 * Table by table, each a statement of its own with its own time: a history of 100,000 runs has a
 * million rows. Foreign keys take the rest (advice, models) along with the last one.
 */
static enum pv_code delete_parts(struct store_tx *tx, const char *id, struct pv_error *err)
{
    static const char ended_operations[] =
        "DELETE FROM provisor.operation WHERE team_id = $1 AND application_id = $2"
        " AND finished_at IS NOT NULL";
    /* In the order in which those who deliver lock them. */
    static const char webhooks_first[] =
        "SELECT FROM provisor.webhook WHERE team_id = $1 AND $2::uuid IS NOT NULL"
        " ORDER BY id FOR NO KEY UPDATE";
    static const char deliveries[] =
        "WITH gone AS (DELETE FROM provisor.webhook_delivery"
        "  WHERE team_id = $1 AND application_id = $2 RETURNING webhook_id, status)"
        " UPDATE provisor.webhook w SET pending = greatest(0, w.pending - g.n)"
        " FROM (SELECT webhook_id, count(*) AS n FROM gone WHERE status = 'pending'"
        "  GROUP BY webhook_id) AS g WHERE w.team_id = $1 AND w.id = g.webhook_id";
    static const char admissions[] =
        "DELETE FROM provisor.admission WHERE team_id = $1 AND application ="
        " (SELECT name FROM provisor.application WHERE team_id = $1 AND id = $2)";
    static const char *const statements[] = {
        "DELETE FROM provisor.idempotency_key WHERE team_id = $1 AND application_id = $2",
        "DELETE FROM provisor.outbox WHERE team_id = $1 AND application_id = $2",
        webhooks_first,
        deliveries,
        ended_operations,
        admissions,
        "DELETE FROM provisor.run_log WHERE team_id = $1 AND application_id = $2",
        "DELETE FROM provisor.run_label WHERE team_id = $1 AND application_id = $2",
        "DELETE FROM provisor.run_stage WHERE team_id = $1 AND application_id = $2",
        "DELETE FROM provisor.run WHERE team_id = $1 AND application_id = $2",
        "DELETE FROM provisor.application WHERE team_id = $1 AND id = $2",
    };
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        struct sql sql;
        result_auto_t *result = NULL;
        tx_sql(tx, &sql, statements[i]);
        sql_uuid(&sql, id);
        PV_TRY(tx_query(tx, &sql, &result, err));
    }
    return PV_OK;
}

enum pv_code store_application_delete(struct store_tx *tx,
                                      const char *name,
                                      int64_t if_version,
                                      struct pv_error *err)
{
    char id[37];
    bool found;
    PV_TRY(lock_for_delete(tx, name, if_version, id, &found, err));
    if (!found)
        return why_untouched(tx, name, if_version, err);
    PV_TRY(delete_parts(tx, id, err));
    PV_TRY(ingestion_delete_of_application(tx, name, err));
    return journal_audit(tx, "application.delete", "application", strview_of(name), err);
}

static void application_list_query(struct store_tx *tx,
                                   const struct application_filter *filter,
                                   struct sql *sql)
{
#define FILTERED                                                                                   \
    " WHERE team_id = $1 AND starts_with(name, $4) AND strpos(lower(name), lower($7 COLLATE "      \
    "\"C\")) > 0"                                                                                  \
    " AND NOT EXISTS (SELECT FROM unnest($5::text[], $6::text[]) AS wanted (key, value)"           \
    " WHERE NOT EXISTS (SELECT FROM unnest(label_keys, label_values) AS own (key, value)"          \
    " WHERE own.key = wanted.key AND own.value = wanted.value))"
    static struct columns_statement by_name = {"SELECT {shown} FROM provisor.application" FILTERED
                                               " AND name > $2 ORDER BY name LIMIT $3",
                                               .of = {&shown}};
    /* As many as a team may have are sorted: an index on lower(name) would not be used, for under
     * row level security only the team bounds what is walked. */
    static struct columns_statement any_case = {
        "SELECT {shown} FROM provisor.application" FILTERED
        " AND (lower(name), name) > (lower($2 COLLATE \"C\"), $2)"
        " ORDER BY lower(name), name LIMIT $3",
        .of = {&shown}};
    static struct columns_statement by_last_run = {
        "SELECT {shown} FROM provisor.application CROSS JOIN LATERAL"
        " (SELECT coalesce(max(instant), '-infinity') AS last FROM provisor.run"
        " WHERE run.team_id = application.team_id AND run.application_id = application.id) AS "
        "latest" FILTERED " AND (latest.last < $8 OR latest.last = $8 AND name > $2)"
        " ORDER BY latest.last DESC, name LIMIT $3",
        .of = {&shown}};
#undef FILTERED
    static struct columns_statement *const by[] = {[APPLICATION_BY_NAME] = &by_name,
                                                   [APPLICATION_BY_LAST_RUN] = &by_last_run,
                                                   [APPLICATION_BY_NAME_ANY_CASE] = &any_case};
    tx_columns(tx, sql, by[filter->order]);
    sql_text(sql, strview_of(filter->after));
    sql_int(sql, (int64_t)filter->limit + 1);
    sql_text(sql, strview_of(filter->name_prefix));
    sql_pairs(sql, filter->labels, filter->n_labels);
    sql_text(sql, strview_of(filter->name_contains));
    if (filter->order == APPLICATION_BY_LAST_RUN)
        sql_bound(sql, filter->before_us, filter->after[0] == '\0' ? "infinity" : "-infinity");
}

enum pv_code store_application_list(struct store_tx *tx,
                                    struct arena *arena,
                                    const struct application_filter *filter,
                                    struct application_list *list,
                                    struct pv_error *err)
{
    struct sql sql;
    application_list_query(tx, filter, &sql);
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, &sql, &result, err));
    return columns_read_list(result, filter->limit, arena, &shown, list, err);
}
