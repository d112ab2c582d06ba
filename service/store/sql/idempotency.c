#include "store/sql/idempotency.h"

#include <string.h>

#include "store/store_internal.h"
#include "store/usage/usage.h"

/*
 * Claiming takes a lock that ends with the transaction, named by a hash of the key's scope, and
 * then looks for the kept reply; in this order, so that whoever gets the lock also sees what its
 * last holder committed. Two different keys whose 64-bit hashes collide would at worst answer
 * "still running" once. The reply is one insert, queued for the commit.
 */

static enum pv_code read_reply(const PGresult *result,
                               struct arena *arena,
                               const unsigned char body_hash[32],
                               struct idempotency_reply *reply,
                               struct pv_error *err)
{
    struct row row = row_at(result, 0, arena);
    struct strview hash = row_bytes(&row);
    struct idempotency_reply r = {.status = (unsigned)row_int(&row)};
    r.content_type = row_text(&row);
    r.location = row_text(&row);
    r.body = row_bytes(&row);
    PV_TRY(row_done(&row, err));
    if (!strview_equal(hash, (struct strview){(const char *)body_hash, 32}))
        return pv_fault(err, PV_PLACE_HEADER, "Idempotency-Key", "key_reused",
                        "the key was used for another request");
    *reply = r;
    return PV_OK;
}

static void add_scope(
    struct store_tx *tx, struct sql *sql, const char *method, const char *path, const char *key)
{
    sql_uuid(sql, tx->who.token_id);
    sql_text(sql, strview_of(method));
    sql_text(sql, strview_of(path));
    sql_text(sql, strview_of(key));
}

static enum pv_code send_lookup(struct store_tx *tx,
                                const char *method,
                                const char *path,
                                const char *key,
                                struct pv_error *err)
{
    struct sql lookup;
    tx_sql(tx, &lookup,
           "SELECT body_hash, status, content_type, location, body FROM provisor.idempotency_key"
           " WHERE team_id = $1 AND token_id = $2 AND method = $3"
           " AND path_hash = sha256(convert_to($4, 'UTF8')) AND key = $5 AND expires_at > now()");
    add_scope(tx, &lookup, method, path, key);
    return tx_send(tx, &lookup, err);
}

static enum pv_code send_claim(struct store_tx *tx,
                               const char *method,
                               const char *path,
                               const char *key,
                               struct pv_error *err)
{
    struct sql lock;
    tx_sql(tx, &lock,
           "SELECT pg_try_advisory_xact_lock(hashtextextended("
           "concat_ws(E'\\n', $1::text, $2::text, $3, $4, $5), 7041))");
    add_scope(tx, &lock, method, path, key);
    PV_TRY(tx_send(tx, &lock, err));
    return send_lookup(tx, method, path, key, err);
}

enum pv_code store_idempotency_find(struct store_tx *tx,
                                    struct arena *arena,
                                    const char *method,
                                    const char *path,
                                    const char *key,
                                    const unsigned char body_hash[32],
                                    enum idempotency_state *state,
                                    struct idempotency_reply *reply,
                                    struct pv_error *err)
{
    result_auto_t *result = NULL;
    PV_TRY(send_lookup(tx, method, path, key, err));
    PV_TRY(tx_results(tx, &result, 1, err));
    *state = row_count(result) > 0 ? IDEMPOTENCY_REPLAY : IDEMPOTENCY_FRESH;
    if (*state == IDEMPOTENCY_REPLAY)
        PV_TRY(read_reply(result, arena, body_hash, reply, err));
    return PV_OK;
}

enum pv_code store_idempotency_claim(struct store_tx *tx,
                                     struct arena *arena,
                                     const char *method,
                                     const char *path,
                                     const char *key,
                                     const unsigned char body_hash[32],
                                     enum idempotency_state *state,
                                     struct idempotency_reply *reply,
                                     struct pv_error *err)
{
    results_auto_t results = {{NULL}};
    PV_TRY(send_claim(tx, method, path, key, err));
    PV_TRY(tx_results(tx, results.of, 2, err));
    if (row_count(results.of[1]) > 0) {
        *state = IDEMPOTENCY_REPLAY;
        return read_reply(results.of[1], arena, body_hash, reply, err);
    }
    struct row locked = row_at(results.of[0], 0, NULL);
    if (!row_bool(&locked))
        return pv_fail(err, PV_E_CONFLICT, "the first request with this key is still running");
    *state = IDEMPOTENCY_FRESH;
    memcpy(tx->idempotency_hash, body_hash, sizeof tx->idempotency_hash);
    return PV_OK;
}

/* An expired row of the same key is overwritten; some others of the team go on the way. */
enum pv_code store_idempotency_keep(struct store_tx *tx,
                                    const char *method,
                                    const char *path,
                                    const char *key,
                                    const struct idempotency_reply *reply,
                                    struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "INSERT INTO provisor.idempotency_key (team_id, token_id, method, path_hash, key,"
           " body_hash, status, content_type, location, body, application_id)"
           " VALUES ($1, $2, $3, sha256(convert_to($4, 'UTF8')), $5, $6, $7, $8, $9, $10, $11)"
           " ON CONFLICT (team_id, token_id, method, path_hash, key) DO UPDATE"
           " SET body_hash = excluded.body_hash, status = excluded.status,"
           " content_type = excluded.content_type, location = excluded.location,"
           " body = excluded.body, expires_at = excluded.expires_at,"
           " application_id = excluded.application_id"
           " WHERE idempotency_key.expires_at <= now()");
    sql.repeated = true;
    add_scope(tx, &sql, method, path, key);
    sql_bytes(&sql, tx->idempotency_hash, sizeof tx->idempotency_hash);
    sql_int(&sql, (int64_t)reply->status);
    sql_text(&sql, reply->content_type);
    sql_text(&sql, reply->location);
    sql_bytes(&sql, reply->body.at == NULL ? "" : reply->body.at, reply->body.n);
    sql_uuid(&sql, tx->application_id);
    PV_TRY(tx_defer(tx, &sql, err));
    /* What makes room is not refused for want of it. */
    const struct tally_amounts more = {.replies = 1, .bytes = (int64_t)reply->body.n};
    const unsigned asked = strcmp(method, "DELETE") != 0 ? 1u << QUOTA_REPLIES : 0;
    PV_TRY(usage_count(tx, &more, asked, err));
    struct sql expire;
    tx_sql(tx, &expire,
           "DELETE FROM provisor.idempotency_key WHERE (team_id, token_id, method, path_hash, key)"
           " IN (SELECT team_id, token_id, method, path_hash, key FROM provisor.idempotency_key"
           " WHERE team_id = $1 AND expires_at <= now() ORDER BY expires_at LIMIT 20"
           " FOR UPDATE SKIP LOCKED)");
    return tx_defer(tx, &expire, err);
}
