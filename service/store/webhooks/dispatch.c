#include "store/webhooks/dispatch.h"

#include "store/sql/columns.h"

enum pv_code store_events_dispatch(struct store *store,
                                   const struct dispatch_limits *limits,
                                   struct dispatched *dispatched,
                                   struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    sql_init(&sql, NULL,
             "SELECT events, deliveries, webhooks, more FROM provisor.dispatch_events($1, $2, $3)");
    sql_int(&sql, limits->batch);
    sql_int(&sql, limits->pending_max);
    sql_int(&sql, limits->give_up_s);
    PV_TRY(store_query_alone(store, &sql, &result, err));
    struct row row = row_at(result, 0, NULL);
    dispatched->events = row_int(&row);
    dispatched->deliveries = row_int(&row);
    dispatched->webhooks = row_bool(&row);
    dispatched->more = row_bool(&row);
    return row_done(&row, err);
}

#define H struct webhook_held
static const struct column of_held[] = {
    {"team_id", COLUMN_ID(H, key.team_id)},
    {"id", COLUMN_ID(H, key.id)},
    {"url", COLUMN_TEXT(H, url)},
    {"format", COLUMN_TEXT(H, format)},
    {"signature", COLUMN_TEXT(H, signature)},
    {"former_secret_until", COLUMN_INSTANT(H, former_secret_until_us)},
    {"concurrency", COLUMN_COUNT(H, concurrency)},
    {"failures", COLUMN_COUNT(H, failures)},
    {"pauses", COLUMN_COUNT(H, pauses)},
    {"version", COLUMN_COUNT(H, version)},
};
static const struct columns held_columns = {"held", COLUMNS_OF(of_held, H)};

static enum pv_code read_held(const PGresult *result,
                              size_t at,
                              struct arena *arena,
                              struct webhook_held *held,
                              struct pv_error *err)
{
    struct row row = row_at(result, (int)at, arena);
    *held = (struct webhook_held){.concurrency = 1};
    columns_read(&row, &held_columns, held);
    held->secret = row_bytes(&row);
    held->former_secret = row_bytes(&row);
    held->authorization_value = row_bytes(&row);
    return row_done(&row, err);
}

enum pv_code store_webhooks_claim(struct store *store,
                                  struct arena *arena,
                                  const char owner[37],
                                  int64_t lease_ms,
                                  size_t most,
                                  struct webhook_held **held,
                                  size_t *n,
                                  struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {held}, secret, former_secret, authorization_value"
        " FROM provisor.claim_webhooks($1, $2, $3)",
        .of = {&held_columns}};
    struct sql sql;
    result_auto_t *result = NULL;
    sql_columns(&sql, arena, &statement);
    sql_uuid(&sql, owner);
    sql_int(&sql, lease_ms);
    sql_int(&sql, (int64_t)most);
    PV_TRY(store_query_alone(store, &sql, &result, err));
    *n = row_count(result);
    *held = arena_calloc(arena, *n, sizeof **held);
    if (*n > 0 && *held == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < *n; i++)
        PV_TRY(read_held(result, i, arena, &(*held)[i], err));
    return PV_OK;
}

#define D struct delivery_due
static const struct column of_due[] = {
    {"team_id", COLUMN_ID(D, webhook.team_id)},
    {"webhook_id", COLUMN_ID(D, webhook.id)},
    {"version", COLUMN_COUNT(D, version)},
    {"delivery_id", COLUMN_ID(D, id)},
    {"event_id", COLUMN_ID(D, event_id)},
    {"type", COLUMN_TEXT(D, type)},
    {"severity", COLUMN_COUNT(D, severity)},
    {"data", COLUMN_JSON(D, data)},
    {"happened_at", COLUMN_INSTANT(D, happened_us)},
    {"attempts", COLUMN_COUNT(D, attempts)},
    {"tries", COLUMN_COUNT(D, tries)},
};
static const struct columns due_columns = {"due", COLUMNS_OF(of_due, D)};

enum pv_code store_deliveries_load(struct store *store,
                                   struct arena *arena,
                                   const char owner[37],
                                   int64_t lease_ms,
                                   const struct delivery_wanted *wanted,
                                   size_t n_wanted,
                                   const struct delivery_busy *busy,
                                   size_t n_busy,
                                   struct delivery_due **due,
                                   size_t *n,
                                   struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {due} FROM provisor.load_deliveries($1, $2, $3, $4, $5, $6)", .of = {&due_columns}};
    struct sql sql;
    result_auto_t *result = NULL;
    bool more;
    *due = NULL;
    *n = 0;
    if (n_wanted == 0)
        return PV_OK;
    sql_columns(&sql, arena, &statement);
    sql_uuid(&sql, owner);
    sql_int(&sql, lease_ms);
    sql_uuids(&sql, wanted->key.team_id, n_wanted, sizeof *wanted);
    sql_uuids(&sql, wanted->key.id, n_wanted, sizeof *wanted);
    sql_counts(&sql, &wanted->most, n_wanted, sizeof *wanted);
    sql_uuids(&sql, n_busy == 0 ? "" : busy->id, n_busy, sizeof *busy);
    PV_TRY(store_query_alone(store, &sql, &result, err));
    return columns_read_items(result, SIZE_MAX, arena, &due_columns, due, n, &more, err);
}

/* Seven arrays, an element for each attempt. */
static void add_records(struct sql *sql, const struct delivery_record *records, size_t n)
{
    static const struct delivery_record none = {.id = ""};
    const struct delivery_record *r = n == 0 ? &none : records;
    sql_uuids(sql, r->webhook.team_id, n, sizeof *r);
    sql_uuids(sql, r->webhook.id, n, sizeof *r);
    sql_uuids(sql, r->id, n, sizeof *r);
    sql_counts(sql, &r->attempts, n, sizeof *r);
    sql_texts(sql, &r->result, n, sizeof *r);
    sql_counts(sql, &r->delay_ms, n, sizeof *r);
    sql_texts(sql, &r->entry, n, sizeof *r);
}

/* Nine, an element for each webhook. */
static void add_webhooks(struct sql *sql, const struct webhook_record *webhooks, size_t n)
{
    static const struct webhook_record none = {.failures = 0};
    const struct webhook_record *w = n == 0 ? &none : webhooks;
    sql_uuids(sql, w->key.team_id, n, sizeof *w);
    sql_uuids(sql, w->key.id, n, sizeof *w);
    sql_counts(sql, &w->version, n, sizeof *w);
    sql_counts(sql, &w->failures, n, sizeof *w);
    sql_counts(sql, &w->pauses, n, sizeof *w);
    sql_counts(sql, &w->hold_ms, n, sizeof *w);
    sql_bools(sql, &w->succeeded, n, sizeof *w);
    sql_texts(sql, &w->error, n, sizeof *w);
    sql_texts(sql, &w->disable, n, sizeof *w);
}

enum pv_code store_deliveries_record(struct store *store,
                                     struct arena *arena,
                                     const char owner[37],
                                     const struct delivery_record *records,
                                     size_t n_records,
                                     const struct webhook_record *webhooks,
                                     size_t n_webhooks,
                                     int64_t *dead,
                                     struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    sql_init(&sql, arena,
             "SELECT dead FROM provisor.record_deliveries($1, $2, $3, $4, $5, $6, $7, $8, $9,"
             " $10, $11, $12, $13, $14, $15, $16, $17)");
    sql_uuid(&sql, owner);
    add_records(&sql, records, n_records);
    add_webhooks(&sql, webhooks, n_webhooks);
    PV_TRY(store_query_alone(store, &sql, &result, err));
    struct row row = row_at(result, 0, NULL);
    *dead = row_int(&row);
    return row_done(&row, err);
}

enum pv_code store_webhooks_release(struct store *store,
                                    struct arena *arena,
                                    const char owner[37],
                                    const struct webhook_key *keys,
                                    size_t n,
                                    struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    if (n == 0)
        return PV_OK;
    sql_init(&sql, arena, "SELECT provisor.release_webhooks($1, $2, $3)");
    sql_uuid(&sql, owner);
    sql_uuids(&sql, keys->team_id, n, sizeof *keys);
    sql_uuids(&sql, keys->id, n, sizeof *keys);
    return store_query_alone(store, &sql, &result, err);
}

enum pv_code
store_deliveries_expire(struct store *store, int64_t batch, int64_t *expired, struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    sql_init(&sql, NULL, "SELECT expired FROM provisor.expire_deliveries($1)");
    sql_int(&sql, batch);
    PV_TRY(store_query_alone(store, &sql, &result, err));
    struct row row = row_at(result, 0, NULL);
    *expired = row_int(&row);
    return row_done(&row, err);
}

enum pv_code
store_webhooks_count(struct store *store, struct webhook_counts *counts, struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    sql_init(&sql, NULL,
             "SELECT active, paused, disabled, pending, event_age_s, delivery_age_s"
             " FROM provisor.count_webhooks()");
    PV_TRY(store_query_alone(store, &sql, &result, err));
    struct row row = row_at(result, 0, NULL);
    *counts = (struct webhook_counts){.active = row_int(&row)};
    counts->paused = row_int(&row);
    counts->disabled = row_int(&row);
    counts->pending = row_int(&row);
    counts->event_age_s = row_double(&row);
    counts->delivery_age_s = row_double(&row);
    return row_done(&row, err);
}
