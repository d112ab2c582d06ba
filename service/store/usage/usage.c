#include "store/usage/usage.h"

#include <string.h>

#include "core/history/run.h"
#include "log/log.h"
#include "store/sql/columns.h"
#include "store/store_internal.h"
#include "threads/clock.h"

static const struct {
    const char *name;
    const char *remedy;
} names[QUOTAS] = {
    [QUOTA_APPLICATIONS] = {"applications", "delete applications"},
    [QUOTA_RUNS] = {"runs", "delete runs or applications, or give applications a retention"},
    [QUOTA_ADVICE] = {"advice", "ask with dry_run=true, or delete applications"},
    [QUOTA_TOKENS] = {"tokens", "revoke tokens; revoked ones go after token_retention_days"},
    [QUOTA_OPERATIONS] = {"operations", "wait until old ones go"},
    [QUOTA_REPLIES] = {"replies",
                       "leave out Idempotency-Key, or wait until replies of a day ago go"},
    [QUOTA_BYTES] = {"bytes",
                     "delete runs, applications or workloads, or give applications a retention"},
};

const char *usage_remedy(const char *quota)
{
    for (size_t i = 0; i < QUOTAS; i++)
        if (strcmp(names[i].name, quota) == 0)
            return names[i].remedy;
    return "";
}

const char *quota_name(enum quota quota)
{
    return names[quota].name;
}

bool quota_parse(struct strview name, enum quota *quota)
{
    for (enum quota i = 0; i < QUOTAS; i++)
        if (strview_is(name, names[i].name)) {
            *quota = i;
            return true;
        }
    return false;
}

/* --- checking --- */

static enum pv_code send_check(struct store_tx *tx,
                               unsigned asked,
                               int64_t more_runs,
                               int64_t more_bytes,
                               struct pv_error *err)
{
    const int64_t *most = pool_quotas(tx->store);
    struct sql sql;
    sql_init(&sql, &tx->scratch, "SELECT provisor.check_usage($1, $2, $3, $4, $5, $6, $7, $8, $9)");
    sql.repeated = true;
    for (unsigned i = 0; i < QUOTAS; i++)
        sql_count(&sql, (asked & 1u << i) != 0 ? most[i] : RUN_UNKNOWN);
    sql_int(&sql, more_runs);
    sql_int(&sql, more_bytes);
    return tx_defer(tx, &sql, err);
}

enum pv_code usage_check(struct store_tx *tx, unsigned asked, struct pv_error *err)
{
    return send_check(tx, asked, 0, 0, err);
}

enum pv_code usage_check_runs(struct store_tx *tx, int64_t more, struct pv_error *err)
{
    return send_check(tx, 1u << QUOTA_RUNS | 1u << QUOTA_BYTES, more, tx->run_bytes, err);
}

/* *batch: how many may be told together from now on. */
static enum pv_code tell(struct store_tx *tx,
                         const struct tally_amounts *take,
                         unsigned asked,
                         struct tally_amounts *batch,
                         struct pv_error *err)
{
    static const enum quota told[] = {QUOTA_ADVICE, QUOTA_REPLIES, QUOTA_BYTES};
    struct sql sql;
    result_auto_t *result = NULL;
    sql_init(&sql, &tx->scratch,
             "SELECT advice_batch, replies_batch, bytes_batch"
             " FROM provisor.count_usage($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)");
    sql.repeated = true;
    sql_int(&sql, take->advice);
    sql_int(&sql, take->replies);
    sql_int(&sql, take->bytes);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        sql_int(&sql, pool_quotas(tx->store)[told[i]]);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        sql_bool(&sql, (asked & 1u << told[i]) != 0);
    sql_int(&sql, TALLY_BATCH_MAX);
    sql_int(&sql, TALLY_BATCH_BYTES_MAX);
    PV_TRY(tx_query(tx, &sql, &result, err));
    struct row row = row_at(result, 0, NULL);
    batch->advice = row_int(&row);
    batch->replies = row_int(&row);
    batch->bytes = row_int(&row);
    return row_done(&row, err);
}

enum pv_code usage_count(struct store_tx *tx,
                         const struct tally_amounts *more,
                         unsigned asked,
                         struct pv_error *err)
{
    struct tally *tally = pool_tally(tx->store);
    struct tally_amounts take, batch;
    uint64_t now_ns = clock_monotonic_ns();
    if (!tally_add(tally, tx->who.team_id, more, now_ns, &take, &tx->owed))
        return PV_OK;
    PV_TRY(tell(tx, &take, asked, &batch, err));
    tally_set_batch(tally, tx->who.team_id, &batch, now_ns);
    return PV_OK;
}

/* --- reading --- */

#define U struct usage
static const struct column of_usage[] = {
    {"quota", COLUMN_TEXT(U, name)}, {"unit", COLUMN_TEXT(U, unit)},
    {"used", COLUMN_COUNT(U, used)}, {"most", COLUMN_COUNT(U, limit)},
    {"own", COLUMN_BOOLEAN(U, own)},
};
static const struct columns columns = {"usage", COLUMNS_OF(of_usage, U)};

static enum pv_code
send_list(struct store_tx *tx, const struct usage_most *bounds, struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {usage} FROM (SELECT quota, CASE quota WHEN 'bytes' THEN 'bytes' ELSE 'count' END"
        " AS unit, used, nullif(most, 0) AS most"
        " FROM provisor.read_usage($2, $3, $4, $5, $6, $7, $8)"
        " UNION ALL SELECT 'clusters', 'count', count(*), $9 FROM provisor.cluster"
        " WHERE team_id = $1 UNION ALL SELECT 'price_books', 'count', count(*), $10"
        " FROM provisor.price_book WHERE team_id = $1"
        " UNION ALL SELECT 'workloads', 'count', count(*), $11 FROM provisor.workload"
        " WHERE team_id = $1 UNION ALL SELECT 'workload_bytes', 'bytes',"
        " coalesce(sum(bytes), 0)::bigint, $12 FROM provisor.workload WHERE team_id = $1) AS u,"
        " LATERAL (SELECT EXISTS (SELECT FROM provisor.team_quota q WHERE q.team_id = $1"
        " AND to_json(q) ->> u.quota IS NOT NULL) AS own) AS o",
        .of = {&columns}};
    const int64_t *most = pool_quotas(tx->store);
    struct sql sql;
    tx_columns(tx, &sql, &statement);
    for (unsigned i = 0; i < QUOTAS; i++)
        sql_int(&sql, most[i]);
    sql_int(&sql, bounds->clusters);
    sql_int(&sql, bounds->price_books);
    sql_int(&sql, bounds->workloads);
    sql_int(&sql, bounds->workload_bytes);
    PV_TRY(tx_send(tx, &sql, err));
    tx_sql(tx, &sql,
           "SELECT max(counted_at) FROM provisor.team_usage WHERE team_id = $1 AND shard = 0");
    return tx_send(tx, &sql, err);
}

/* What this process has not counted yet. */
static void add_pending(struct store_tx *tx, struct usage_list *list)
{
    const struct tally_amounts pending = tally_pending(pool_tally(tx->store), tx->who.team_id);
    for (size_t i = 0; i < list->n; i++) {
        struct usage *usage = &list->items[i];
        if (strview_equal(usage->name, strview_of("advice")))
            usage->used += pending.advice;
        else if (strview_equal(usage->name, strview_of("replies")))
            usage->used += pending.replies;
        else if (strview_equal(usage->name, strview_of("bytes")))
            usage->used += pending.bytes;
        if (usage->used < 0) /* deleted here before it was told */
            usage->used = 0;
    }
}

enum pv_code store_usage_list(struct store_tx *tx,
                              struct arena *arena,
                              const struct usage_most *most,
                              struct usage_list *list,
                              struct pv_error *err)
{
    results_auto_t results = {{NULL}};
    bool more;
    PV_TRY(send_list(tx, most, err));
    PV_TRY(tx_results(tx, results.of, 2, err));
    PV_TRY(columns_read_items(results.of[0], SIZE_MAX, arena, &columns, &list->items, &list->n,
                              &more, err));
    struct row row = row_at(results.of[1], 0, NULL);
    list->counted_us = row_instant(&row);
    add_pending(tx, list);
    return row_done(&row, err);
}

/* --- a team's own --- */

#define CHANGED(quota, bit)                                                                        \
    quota " = CASE WHEN $9 & " bit " <> 0 THEN excluded." quota " ELSE q." quota " END"

enum pv_code store_quotas_set(struct store_tx *tx,
                              unsigned changed,
                              const struct team_quotas *wanted,
                              struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "INSERT INTO provisor.team_quota AS q (team_id, applications, runs, advice, tokens,"
           " operations, replies, bytes) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"
           " ON CONFLICT (team_id) DO UPDATE SET " /* the bits are those of enum quota */
           CHANGED("applications", "1") ", " CHANGED("runs", "2") ", " CHANGED(
               "advice",
               "4") ", " CHANGED("tokens",
                                 "8") ", " CHANGED("operations",
                                                   "16") ", " CHANGED("replies",
                                                                      "32") ", " CHANGED("bytes",
                                                                                         "64"));
    for (size_t i = 0; i < QUOTAS; i++)
        sql_count(&sql, (changed & 1u << i) != 0 ? wanted->of[i] : RUN_UNKNOWN);
    sql_int(&sql, changed);
    PV_TRY(tx_defer(tx, &sql, err));
    return journal_audit(tx, "team.set_quotas", "team", strview_of(tx->who.team_id), err);
}

void quotas_log(const char *team,
                const char *request_id,
                unsigned changed,
                const struct team_quotas *quotas)
{
    struct log_field fields[1 + QUOTAS + 1];
    size_t n = 0;
    fields[n++] = LOG_TEXT("team", team);
    for (size_t i = 0; i < QUOTAS; i++)
        if ((changed & 1u << i) != 0)
            fields[n++] = quotas->of[i] == RUN_UNKNOWN ? LOG_TEXT(names[i].name, "as the settings")
                                                       : LOG_COUNT(names[i].name, quotas->of[i]);
    fields[n] = LOG_END;
    log_event(LOG_INFO, "team.quotas_set", request_id, fields);
}

/* --- counting anew --- */

/* A statement of its own time: it reads all advice of the team. */
enum pv_code store_usage_recount(
    struct store_tx *tx, int64_t every_s, size_t batch, size_t *counted, struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    (void)batch;
    sql_init(&sql, &tx->scratch, "SET LOCAL statement_timeout = '10min'");
    PV_TRY(tx_defer(tx, &sql, err));
    sql_init(&sql, &tx->scratch, "SELECT provisor.recount_usage($1)");
    sql_int(&sql, every_s);
    PV_TRY(tx_query(tx, &sql, &result, err));
    struct row row = row_at(result, 0, NULL);
    *counted = row_bool(&row);
    return row_done(&row, err);
}
