#include <stdint.h>

#include "store/maintenance/maintenance_internal.h"

/*
 * Rows of one team that are past their time, a batch at once. What lies in partitions is removed by
 * its ids, looked up first: with the ids as constants the planner goes straight to the partitions
 * and index entries they are in.
 */

struct ids {
    struct team_id *items; /* any kind of id has that shape */
    size_t n;
};

static enum pv_code
read_ids(const PGresult *result, struct arena *arena, struct ids *ids, struct pv_error *err)
{
    bool more;
    return columns_read_items(result, SIZE_MAX, arena, &id_columns, &ids->items, &ids->n, &more,
                              err);
}

static void add_ids(struct sql *sql, const struct ids *ids)
{
    sql_uuids(sql, ids->items->text, ids->n, sizeof *ids->items);
}

/* How many rows a statement took away. */
static enum pv_code
count_gone(struct store_tx *tx, const struct sql *sql, size_t *gone, struct pv_error *err)
{
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, sql, &result, err));
    *gone = row_count(result);
    return PV_OK;
}

/* --- runs --- */

/*
 * The application is locked first, as whoever adds a run does, so that its number of runs stands
 * still; the list behind it sees what the last holder of the lock committed. The oldest come first,
 * and which of them are too many is a matter of their rank alone.
 */
static enum pv_code look_for_runs(struct store_tx *tx,
                                  const struct retention *keep,
                                  size_t batch,
                                  PGresult *results[2],
                                  struct pv_error *err)
{
    struct sql lock;
    tx_sql(tx, &lock,
           "SELECT name FROM provisor.application WHERE team_id = $1 AND id = $2"
           " FOR NO KEY UPDATE");
    sql_uuid(&lock, keep->application_id);
    PV_TRY(tx_send(tx, &lock, err));
    struct sql list;
    tx_sql(tx, &list,
           "SELECT o.id FROM (SELECT r.id, r.instant, row_number() OVER (ORDER BY r.instant, r.id) "
           "AS rank"
           " FROM (SELECT id, instant FROM provisor.run WHERE team_id = $1 AND application_id = $2"
           " ORDER BY instant, id LIMIT $5) AS r) AS o, provisor.application a"
           " WHERE a.team_id = $1 AND a.id = $2"
           " AND (o.rank <= a.runs - $4 OR o.instant < now() - $3 * interval '1 day')");
    sql_uuid(&list, keep->application_id);
    sql_count(&list, keep->keep_days);
    sql_count(&list, keep->keep_runs);
    sql_int(&list, (int64_t)batch);
    PV_TRY(tx_send(tx, &list, err));
    return tx_results(tx, results, 2, err);
}

static enum pv_code remove_runs(struct store_tx *tx,
                                const struct retention *keep,
                                struct strview application_name,
                                const struct ids *ids,
                                size_t *gone,
                                struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "DELETE FROM provisor.run WHERE team_id = $1 AND application_id = $2 AND id = ANY ($3)"
           " RETURNING 1");
    sql_uuid(&sql, keep->application_id);
    add_ids(&sql, ids);
    PV_TRY(count_gone(tx, &sql, gone, err));
    if (*gone == 0)
        return PV_OK;
    tx_sql(tx, &sql,
           "UPDATE provisor.application SET runs = runs - $3,"
           " history_version = history_version + 1 WHERE team_id = $1 AND id = $2");
    sql_uuid(&sql, keep->application_id);
    sql_int(&sql, (int64_t)*gone);
    PV_TRY(tx_defer(tx, &sql, err));
    return journal_audit(tx, "run.expire", "application", application_name, err);
}

enum pv_code store_run_expire(struct store_tx *tx,
                              struct arena *arena,
                              const struct retention *retention,
                              size_t batch,
                              struct strview *name,
                              size_t *gone,
                              struct pv_error *err)
{
    results_auto_t results = {{NULL}};
    struct ids ids = {0};
    size_t removed = 0;
    *gone = 0;
    PV_TRY(look_for_runs(tx, retention, batch, results.of, err));
    if (row_count(results.of[0]) == 0)
        return PV_OK;
    struct row row = row_at(results.of[0], 0, arena);
    struct strview found = row_text(&row);
    PV_TRY(row_done(&row, err));
    PV_TRY(read_ids(results.of[1], arena, &ids, err));
    if (ids.n > 0)
        PV_TRY(remove_runs(tx, retention, found, &ids, &removed, err));
    if (removed > 0)
        *name = found;
    *gone = removed;
    return PV_OK;
}

/* --- the rest --- */

enum pv_code
store_keys_expire(struct store_tx *tx, size_t batch, size_t *gone, struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "DELETE FROM provisor.idempotency_key WHERE ctid = ANY (ARRAY("
           "SELECT ctid FROM provisor.idempotency_key WHERE team_id = $1 AND expires_at <= now()"
           " ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING 1");
    sql_int(&sql, (int64_t)batch);
    return count_gone(tx, &sql, gone, err);
}

enum pv_code store_events_expire(
    struct store_tx *tx, int64_t delivered_days, size_t batch, size_t *gone, struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "DELETE FROM provisor.outbox WHERE ctid = ANY (ARRAY("
           "SELECT ctid FROM provisor.outbox WHERE team_id = $1"
           " AND delivered_at < now() - $2 * interval '1 day'"
           " ORDER BY delivered_at LIMIT $3 FOR UPDATE SKIP LOCKED)) RETURNING 1");
    sql_int(&sql, delivered_days);
    sql_int(&sql, (int64_t)batch);
    return count_gone(tx, &sql, gone, err);
}

/* What expires by its age or number: a statement with how old or how many, and the batch. */
static enum pv_code expire_by(struct store_tx *tx,
                              const char *statement,
                              int64_t bound,
                              size_t batch,
                              size_t *gone,
                              struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql, statement);
    sql_int(&sql, bound);
    sql_int(&sql, (int64_t)batch);
    return count_gone(tx, &sql, gone, err);
}

enum pv_code store_events_drop(
    struct store_tx *tx, int64_t days, size_t batch, size_t *gone, struct pv_error *err)
{
    return expire_by(tx,
                     "DELETE FROM provisor.outbox WHERE ctid = ANY (ARRAY("
                     "SELECT ctid FROM provisor.outbox WHERE team_id = $1 AND delivered_at IS NULL"
                     " AND created_at < now() - $2 * interval '1 day'"
                     " ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED)) RETURNING 1",
                     days, batch, gone, err);
}

/* The ids are in the order of time. */
enum pv_code store_events_trim(
    struct store_tx *tx, int64_t most, size_t batch, size_t *gone, struct pv_error *err)
{
    return expire_by(tx,
                     "DELETE FROM provisor.outbox WHERE ctid = ANY (ARRAY("
                     "SELECT ctid FROM provisor.outbox WHERE team_id = $1 AND id <="
                     " (SELECT id FROM provisor.outbox WHERE team_id = $1"
                     " ORDER BY id DESC OFFSET $2 LIMIT 1)"
                     " ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED)) RETURNING 1",
                     most, batch, gone, err);
}

enum pv_code store_deliveries_expire_ended(
    struct store_tx *tx, int64_t days, size_t batch, size_t *gone, struct pv_error *err)
{
    return expire_by(tx,
                     "DELETE FROM provisor.webhook_delivery WHERE ctid = ANY (ARRAY("
                     "SELECT ctid FROM provisor.webhook_delivery WHERE team_id = $1"
                     " AND ended_at < now() - $2 * interval '1 day'"
                     " ORDER BY ended_at LIMIT $3 FOR UPDATE SKIP LOCKED)) RETURNING 1",
                     days, batch, gone, err);
}

enum pv_code store_tokens_expire(
    struct store_tx *tx, int64_t days, size_t batch, size_t *gone, struct pv_error *err)
{
    return expire_by(tx,
                     "DELETE FROM provisor.token WHERE ctid = ANY (ARRAY("
                     "SELECT ctid FROM provisor.token WHERE team_id = $1"
                     " AND least(expires_at, revoked_at) < now() - $2 * interval '1 day'"
                     " ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED)) RETURNING 1",
                     days, batch, gone, err);
}

static enum pv_code old_advice(struct store_tx *tx,
                               int64_t days,
                               size_t batch,
                               struct arena *arena,
                               struct ids *ids,
                               struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT id FROM provisor.advice WHERE team_id = $1"
           " AND created_at < now() - $2 * interval '1 day' ORDER BY created_at, id LIMIT $3");
    sql_int(&sql, days);
    sql_int(&sql, (int64_t)batch);
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, &sql, &result, err));
    return read_ids(result, arena, ids, err);
}

enum pv_code store_advice_expire(
    struct store_tx *tx, int64_t days, size_t batch, size_t *gone, struct pv_error *err)
{
    struct ids ids = {0};
    struct sql sql;
    *gone = 0;
    PV_TRY(old_advice(tx, days, batch, &tx->scratch, &ids, err));
    if (ids.n == 0)
        return PV_OK;
    tx_sql(tx, &sql,
           "DELETE FROM provisor.advice WHERE team_id = $1 AND id = ANY ($2) RETURNING 1");
    add_ids(&sql, &ids);
    return count_gone(tx, &sql, gone, err);
}
