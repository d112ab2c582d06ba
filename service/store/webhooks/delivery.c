#include "store/webhooks/delivery.h"

#include <string.h>

#include "store/sql/columns.h"
#include "threads/clock.h"

#define D struct webhook_delivery
#define SUMMARY                                                                                    \
    {"id", COLUMN_ID(D, id)}, {"webhook_id", COLUMN_ID(D, webhook_id)},                            \
        {"'evt_' || event_id", COLUMN_TEXT(D, message_id)}, {"type", COLUMN_TEXT(D, event_type)},  \
        {"severity", COLUMN_BITS(D, severity)},                                                    \
        {"status", COLUMN_WORD(D, status, webhook_delivery_words)},                                \
        {"reason", COLUMN_TEXT(D, reason)}, {"attempts", COLUMN_COUNT(D, attempts)},               \
        {"happened_at", COLUMN_INSTANT(D, event_us)},                                              \
        {"created_at", COLUMN_INSTANT(D, created_us)}, {"next_at", COLUMN_INSTANT(D, next_us)},    \
        {"give_up_at", COLUMN_INSTANT(D, give_up_us)}, {"ended_at", COLUMN_INSTANT(D, ended_us)},
static const struct column of_summary[] = {SUMMARY};
static const struct column of_delivery[] = {
    SUMMARY{"data", COLUMN_JSON(D, data)},
    {"array_to_json(log)", COLUMN_JSON(D, log)},
};
static const struct columns summary = {"summary", COLUMNS_OF(of_summary, D)};
static const struct columns columns = {"delivery", COLUMNS_OF(of_delivery, D)};

static enum pv_code query_one(struct store_tx *tx,
                              const struct sql *sql,
                              struct arena *arena,
                              struct webhook_delivery *delivery,
                              struct pv_error *err)
{
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, sql, &result, err));
    if (row_count(result) == 0)
        return pv_fail(err, PV_E_NOT_FOUND, "the webhook has no delivery of that id");
    *delivery = (struct webhook_delivery){.id = ""};
    return columns_read_row(result, 0, arena, &columns, delivery, err);
}

enum pv_code store_webhook_delivery_list(struct store_tx *tx,
                                         struct arena *arena,
                                         const struct webhook_delivery_filter *filter,
                                         const char *before_id,
                                         size_t limit,
                                         struct webhook_delivery_list *list,
                                         struct pv_error *err)
{
    /* Each with its status as a constant, for the indexes of those that are pending and dead. */
#define LISTED(with)                                                                               \
    {                                                                                              \
        "SELECT {summary} FROM provisor.webhook_delivery WHERE team_id = $1 AND webhook_id = $2"   \
        " AND id < coalesce($3, 'ffffffff-ffff-ffff-ffff-ffffffffffff')" with                      \
        " AND ($4 IS NULL OR type = $4) ORDER BY id DESC LIMIT $5",                                \
            .of = {                                                                                \
                &summary                                                                           \
            }                                                                                      \
    }
    static struct columns_statement of_any = LISTED("");
    static struct columns_statement of_pending = LISTED(" AND status = 'pending'");
    static struct columns_statement of_delivered = LISTED(" AND status = 'delivered'");
    static struct columns_statement of_dead = LISTED(" AND status = 'dead'");
    struct columns_statement *statement = filter->status == NULL                     ? &of_any
                                          : strcmp(filter->status, "pending") == 0   ? &of_pending
                                          : strcmp(filter->status, "delivered") == 0 ? &of_delivered
                                                                                     : &of_dead;
    struct sql sql;
    result_auto_t *result = NULL;
    tx_columns(tx, &sql, statement);
    sql_uuid(&sql, filter->webhook_id);
    sql_uuid(&sql, before_id);
    sql_text(&sql, strview_of(filter->event_type));
    sql_int(&sql, (int64_t)limit + 1);
    PV_TRY(tx_query(tx, &sql, &result, err));
    return columns_read_list(result, limit, arena, &summary, list, err);
}

enum pv_code store_webhook_delivery_find(struct store_tx *tx,
                                         struct arena *arena,
                                         const char *webhook_id,
                                         const char *id,
                                         struct webhook_delivery *delivery,
                                         struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {delivery} FROM provisor.webhook_delivery"
        " WHERE team_id = $1 AND webhook_id = $2 AND id = $3",
        .of = {&columns}};
    struct sql sql;
    tx_columns(tx, &sql, &statement);
    sql_uuid(&sql, webhook_id);
    sql_uuid(&sql, id);
    return query_one(tx, &sql, arena, delivery, err);
}

/* So many more wait for the webhook, the first of them from now on. */
static enum pv_code
note_due(struct store_tx *tx, const char *webhook_id, int64_t more, struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "UPDATE provisor.webhook SET pending = pending + $3,"
           " due_at = least(due_at, greatest(now(), held_until)) WHERE team_id = $1 AND id = $2");
    sql_uuid(&sql, webhook_id);
    sql_int(&sql, more);
    tx->is_urgent = true;
    return tx_defer(tx, &sql, err);
}

enum pv_code store_webhook_ping(struct store_tx *tx,
                                struct arena *arena,
                                const char *webhook_id,
                                int64_t give_up_s,
                                struct webhook_delivery *delivery,
                                struct pv_error *err)
{
    static struct columns_statement statement = {
        "INSERT INTO provisor.webhook_delivery (team_id, webhook_id, id, event_id, type, severity,"
        " data, happened_at, give_up_at)"
        " VALUES ($1, $2, $3, $3, '" WEBHOOK_PING "', 0, json_build_object('webhook_id', $2),"
        " now(), now() + $4 * interval '1 second') RETURNING {delivery}",
        .of = {&columns}};
    char id[37];
    struct sql sql;
    clock_uuid7(id);
    PV_TRY(note_due(tx, webhook_id, 1, err));
    PV_TRY(journal_audit(tx, "webhook.ping", "webhook", strview_of(webhook_id), err));
    tx_columns(tx, &sql, &statement);
    sql_uuid(&sql, webhook_id);
    sql_uuid(&sql, id);
    sql_int(&sql, give_up_s);
    return query_one(tx, &sql, arena, delivery, err);
}

#define DUE_AGAIN                                                                                  \
    " status = 'pending', tries = 0, reason = NULL, next_at = now(), ended_at = NULL,"             \
    " give_up_at = now() + $4 * interval '1 second'"

enum pv_code store_webhook_redeliver(struct store_tx *tx,
                                     struct arena *arena,
                                     const char *webhook_id,
                                     const char *id,
                                     int64_t give_up_s,
                                     struct webhook_delivery *delivery,
                                     struct pv_error *err)
{
    static struct columns_statement statement = {
        "UPDATE provisor.webhook_delivery SET" DUE_AGAIN
        " WHERE team_id = $1 AND webhook_id = $2 AND id = $3 RETURNING {delivery}",
        .of = {&columns}};
    struct sql sql;
    struct webhook_delivery before;
    PV_TRY(store_webhook_delivery_find(tx, arena, webhook_id, id, &before, err));
    PV_TRY(note_due(tx, webhook_id, before.status == DELIVERY_PENDING ? 0 : 1, err));
    PV_TRY(journal_audit(tx, "webhook.redeliver", "webhook", strview_of(webhook_id), err));
    tx_columns(tx, &sql, &statement);
    sql_uuid(&sql, webhook_id);
    sql_uuid(&sql, id);
    sql_int(&sql, give_up_s);
    return query_one(tx, &sql, arena, delivery, err);
}

enum pv_code store_webhook_redeliver_many(struct store_tx *tx,
                                          const char *webhook_id,
                                          const struct webhook_redelivery *asked,
                                          int64_t most,
                                          int64_t give_up_s,
                                          int64_t *redelivered,
                                          bool *more,
                                          struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    tx_sql(tx, &sql,
           "WITH found AS MATERIALIZED ("
           " SELECT id, row_number() OVER (ORDER BY id) AS place FROM provisor.webhook_delivery"
           "  WHERE team_id = $1 AND webhook_id = $2 AND status = $5"
           "   AND created_at >= $6 AND created_at < $7 ORDER BY id LIMIT $3 + 1),"
           " again AS (UPDATE provisor.webhook_delivery SET" DUE_AGAIN
           "  WHERE team_id = $1 AND webhook_id = $2" /* by its key, whatever the statistics say */
           "   AND id = ANY (ARRAY(SELECT id FROM found WHERE place <= $3)) RETURNING 1)"
           " SELECT (SELECT count(*) FROM again), (SELECT count(*) > $3 FROM found)");
    sql_uuid(&sql, webhook_id);
    sql_int(&sql, most);
    sql_int(&sql, give_up_s);
    sql_text(&sql, strview_of(webhook_redelivery_words[asked->status]));
    sql_bound(&sql, asked->since_us, "-infinity");
    sql_bound(&sql, asked->until_us, "infinity");
    PV_TRY(tx_query(tx, &sql, &result, err));
    struct row row = row_at(result, 0, NULL);
    *redelivered = row_int(&row);
    *more = row_bool(&row);
    PV_TRY(row_done(&row, err));
    if (*redelivered > 0)
        PV_TRY(note_due(tx, webhook_id, *redelivered, err));
    return journal_audit(tx, "webhook.redeliver", "webhook", strview_of(webhook_id), err);
}
