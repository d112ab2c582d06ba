#include "store/webhooks/webhook.h"

#include <string.h>

#include "base/plural.h"
#include "store/sql/columns_query.h"

static const struct column of_application[] = {
    {"applications", COLUMN_TEXT(struct webhook_name, name)},
};
static const struct columns applications = {"application",
                                            COLUMNS_OF(of_application, struct webhook_name)};

/* A time that is over is none. */
#define COMING(column) "CASE WHEN " column " > clock_timestamp() THEN " column " END"

#define W struct webhook
static const struct column of_webhook[] = {
    {"id", COLUMN_ID(W, id), .computed = true},
    {"url", COLUMN_TEXT(W, url)},
    {"description", COLUMN_TEXT(W, description)},
    {"events", COLUMN_WORDS(W, events, webhook_event_words)},
    {.name = NULL, COLUMN_STRUCTS(W, applications, n_applications, &applications)},
    {"label_keys, label_values", COLUMN_PAIRS(W, labels, n_labels)},
    {"min_severity", COLUMN_BITS(W, min_severity)},
    {"format", COLUMN_WORD(W, format, webhook_format_words)},
    {"signature", COLUMN_WORD(W, signature, webhook_signature_words)},
    {"authorization_value IS NOT NULL", COLUMN_BOOLEAN(W, has_authorization), .computed = true},
    {"concurrency", COLUMN_COUNT(W, concurrency)},
    {"enabled", COLUMN_BOOLEAN(W, enabled)},
    {"disabled_reason", COLUMN_TEXT(W, disabled_reason), .computed = true},
    {"version", COLUMN_COUNT(W, version), .computed = true},
    {"created_at", COLUMN_INSTANT(W, created_us), .computed = true},
    {"updated_at", COLUMN_INSTANT(W, updated_us), .computed = true},
    {"'whpk_' || encode(public_key, 'base64')", COLUMN_TEXT(W, public_key), .computed = true},
    {COMING("former_secret_until"), COLUMN_INSTANT(W, former_until_us), .computed = true},
    {"failures", COLUMN_COUNT(W, failures), .computed = true},
    {"pauses", COLUMN_COUNT(W, pauses), .computed = true},
    {COMING("held_until"), COLUMN_INSTANT(W, held_until_us), .computed = true},
    {"last_delivered_at", COLUMN_INSTANT(W, last_delivered_us), .computed = true},
    {"last_failed_at", COLUMN_INSTANT(W, last_failed_us), .computed = true},
    {"last_error", COLUMN_TEXT(W, last_error), .computed = true},
    {"pending", COLUMN_COUNT(W, pending), .computed = true},
};
static const struct columns columns = {"webhook", COLUMNS_OF(of_webhook, W)};

static enum pv_code
audit(struct store_tx *tx, const char *action, const char *id, struct pv_error *err)
{
    tx->is_urgent = true;
    return journal_audit(tx, action, "webhook", strview_of(id), err);
}

/* --- reading --- */

/* The statement may have been given what `webhook` was before. */
static enum pv_code query_one(struct store_tx *tx,
                              const struct sql *sql,
                              struct arena *arena,
                              struct webhook *webhook,
                              struct pv_error *err)
{
    struct webhook made = {.id = ""};
    PV_TRY(columns_query_one(tx, sql, arena, &columns, &made, err));
    *webhook = made;
    return PV_OK;
}

enum pv_code store_webhook_find(struct store_tx *tx,
                                struct arena *arena,
                                const char *id,
                                struct webhook *webhook,
                                struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {webhook} FROM provisor.webhook WHERE team_id = $1 AND id = $2", .of = {&columns}};
    struct sql sql;
    tx_columns(tx, &sql, &statement);
    sql_uuid(&sql, id);
    return query_one(tx, &sql, arena, webhook, err);
}

enum pv_code store_webhook_hold(struct store_tx *tx,
                                struct arena *arena,
                                const char *id,
                                struct webhook *webhook,
                                struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {webhook} FROM provisor.webhook WHERE team_id = $1 AND id = $2 FOR NO KEY UPDATE",
        .of = {&columns}};
    struct sql sql;
    tx_columns(tx, &sql, &statement);
    sql_uuid(&sql, id);
    return query_one(tx, &sql, arena, webhook, err);
}

enum pv_code store_webhook_list(struct store_tx *tx,
                                struct arena *arena,
                                const char *after_id,
                                size_t limit,
                                struct webhook_list *list,
                                struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {webhook} FROM provisor.webhook WHERE team_id = $1" COLUMNS_AFTER_ID,
        .of = {&columns}};
    return columns_query_page(tx, &statement, after_id, limit, arena, &columns, list, err);
}

/* --- writing --- */

static void bind_bytes(struct sql *sql, struct strview bytes)
{
    sql_bytes(sql, bytes.at, bytes.n);
}

/* Of a team one at a time makes a webhook, so what is counted is still so when it is there. */
static enum pv_code check_number(struct store_tx *tx, int64_t most, struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    PV_TRY(tx_lock_team(tx, "webhook", err));
    tx_sql(tx, &sql, "SELECT count(*) FROM provisor.webhook WHERE team_id = $1");
    PV_TRY(tx_query(tx, &sql, &result, err));
    struct row row = row_at(result, 0, NULL);
    int64_t there = row_int(&row);
    return there < most ? PV_OK
                        : pv_fail(err, PV_E_LIMIT,
                                  "the team has %lld webhook%s already, as many as it may "
                                  "(webhooks_max)",
                                  (long long)there, PLURAL(there));
}

enum pv_code store_webhook_insert(struct store_tx *tx,
                                  struct arena *arena,
                                  int64_t most,
                                  const struct webhook_sealed *sealed,
                                  struct webhook *webhook,
                                  struct pv_error *err)
{
    static struct columns_statement statement = {
        "INSERT INTO provisor.webhook (team_id, id, secret, public_key, authorization_value,"
        " {webhook:written}) VALUES ($1, $2, $3, $4, $5, {webhook:values}) RETURNING {webhook}",
        .of = {&columns}};
    struct sql sql;
    PV_TRY(check_number(tx, most, err));
    tx_columns(tx, &sql, &statement);
    sql_uuid(&sql, webhook->id);
    bind_bytes(&sql, sealed->secret);
    bind_bytes(&sql, sealed->public_key);
    bind_bytes(&sql, sealed->authorization);
    columns_bind(&sql, &columns, webhook);
    PV_TRY(query_one(tx, &sql, arena, webhook, err));
    return audit(tx, "webhook.insert", webhook->id, err);
}

/* provisor.end_disabled reads what was written before, so it is a statement of its own. */
static enum pv_code end_disabled(struct store_tx *tx, const char *id, struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql, "SELECT provisor.end_disabled($1, $2)");
    sql_uuid(&sql, id);
    return tx_defer(tx, &sql, err);
}

enum pv_code store_webhook_update(struct store_tx *tx,
                                  struct arena *arena,
                                  const struct strview *authorization,
                                  bool renewed,
                                  struct webhook *webhook,
                                  struct pv_error *err)
{
    static struct columns_statement statement = {
        "UPDATE provisor.webhook SET ({webhook:written}, version, updated_at, authorization_value,"
        " failures, pauses, held_until, last_error, disabled_reason, due_at)"
        " = ROW ({webhook:values}, version + 1, now(),"
        " CASE WHEN $3 THEN $4 ELSE authorization_value END,"
        " CASE WHEN $5 THEN 0 ELSE failures END, CASE WHEN $5 THEN 0 ELSE pauses END,"
        " CASE WHEN NOT $5 THEN held_until END, CASE WHEN NOT $5 THEN last_error END,"
        " CASE WHEN NOT $5 THEN disabled_reason END,"
        " CASE WHEN $5 AND pending > 0 THEN now() ELSE due_at END)"
        " WHERE team_id = $1 AND id = $2",
        .of = {&columns}};
    char id[37];
    struct sql sql;
    memcpy(id, webhook->id, sizeof id);
    tx_columns(tx, &sql, &statement);
    sql_uuid(&sql, id);
    sql_bool(&sql, authorization != NULL);
    bind_bytes(&sql, authorization != NULL ? *authorization : (struct strview){NULL, 0});
    sql_bool(&sql, renewed);
    columns_bind(&sql, &columns, webhook);
    PV_TRY(tx_defer(tx, &sql, err));
    if (!webhook->enabled)
        PV_TRY(end_disabled(tx, id, err));
    PV_TRY(audit(tx, "webhook.update", id, err));
    return store_webhook_find(tx, arena, id, webhook, err);
}

enum pv_code store_webhook_rotate(struct store_tx *tx,
                                  struct arena *arena,
                                  const struct webhook_sealed *sealed,
                                  int64_t overlap_s,
                                  struct webhook *webhook,
                                  struct pv_error *err)
{
    static struct columns_statement statement = {
        "UPDATE provisor.webhook SET version = version + 1, updated_at = now(),"
        " secret = $3, public_key = $4,"
        " former_secret = CASE WHEN $5::bigint > 0 THEN secret END,"
        " former_secret_until = CASE WHEN $5::bigint > 0"
        " THEN clock_timestamp() + $5::bigint * interval '1 second' END"
        " WHERE team_id = $1 AND id = $2 RETURNING {webhook}",
        .of = {&columns}};
    struct sql sql;
    tx_columns(tx, &sql, &statement);
    sql_uuid(&sql, webhook->id);
    bind_bytes(&sql, sealed->secret);
    bind_bytes(&sql, sealed->public_key);
    sql_int(&sql, overlap_s);
    PV_TRY(query_one(tx, &sql, arena, webhook, err));
    return audit(tx, "webhook.rotate", webhook->id, err);
}

enum pv_code
store_webhook_delete(struct store_tx *tx, const struct webhook *webhook, struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql, "DELETE FROM provisor.webhook WHERE team_id = $1 AND id = $2");
    sql_uuid(&sql, webhook->id);
    PV_TRY(tx_defer(tx, &sql, err));
    return audit(tx, "webhook.delete", webhook->id, err);
}
