#include <string.h>

#include "store/access/access_internal.h"
#include "store/sql/columns_query.h"
#include "store/usage/usage.h"
#include "threads/clock.h"

#define T struct token
static const struct column of_token[] = {
    {"id", COLUMN_ID(T, id), .computed = true},
    {"team_id", COLUMN_ID(T, team_id), .computed = true},
    {"team_name", COLUMN_TEXT(T, team), .computed = true},
    {"name", COLUMN_TEXT(T, name)},
    {"scopes", COLUMN_BITS(T, scopes)},
    {"created_at", COLUMN_INSTANT(T, created_us), .computed = true},
    {"expires_at", COLUMN_INSTANT(T, expires_us)},
    {"last_used_at", COLUMN_INSTANT(T, last_used_us), .computed = true},
    {"revoked_at", COLUMN_INSTANT(T, revoked_us), .computed = true},
};
const struct columns token_columns = {"token", COLUMNS_OF(of_token, T)};

enum pv_code store_token_lookup(struct store *store,
                                struct arena *arena,
                                const char *token_id,
                                struct token *token,
                                int64_t *left_us,
                                struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {token}, hash,"
        " floor(extract(epoch FROM expires_at - clock_timestamp()) * 1000000)::bigint"
        " FROM provisor.look_up_token($1)",
        .of = {&token_columns}};
    struct sql sql;
    result_auto_t *result = NULL;
    sql_columns(&sql, arena, &statement);
    sql_uuid(&sql, token_id);
    PV_TRY(store_query_alone(store, &sql, &result, err));
    if (row_count(result) == 0)
        return pv_fail(err, PV_E_NOT_FOUND, "there is no such token");
    struct row row = row_at(result, 0, arena);
    *token = (struct token){.scopes = 0};
    columns_read(&row, &token_columns, token);
    struct strview hash = row_bytes(&row);
    if (hash.n == sizeof token->hash)
        memcpy(token->hash, hash.at, sizeof token->hash);
    else
        row.unreadable |= !row.exhausted;
    if (left_us != NULL)
        *left_us = row_is_null(&row) ? INT64_MAX : row_int(&row);
    return row_done(&row, err);
}

enum pv_code store_token_insert(struct store_tx *tx, struct token *token, struct pv_error *err)
{
    static struct columns_statement statement = {
        "INSERT INTO provisor.token (team_id, id, hash, {token:written})"
        " VALUES ($1, $2, $3, {token:values}) RETURNING created_at",
        .of = {&token_columns}};
    struct sql sql;
    result_auto_t *result = NULL;
    if (token->id[0] == '\0')
        clock_uuid7(token->id);
    tx_columns(tx, &sql, &statement);
    sql_uuid(&sql, token->id);
    sql_bytes(&sql, token->hash, sizeof token->hash);
    columns_bind(&sql, &token_columns, token);
    PV_TRY(tx_query(tx, &sql, &result, err));
    struct row row = row_at(result, 0, NULL);
    token->created_us = row_instant(&row);
    token->last_used_us = token->revoked_us = RUN_NO_INSTANT;
    memcpy(token->team_id, tx->who.team_id, sizeof token->team_id);
    PV_TRY(usage_check(tx, 1u << QUOTA_TOKENS, err));
    return journal_audit(tx, "token.insert", "token", strview_of(token->id), err);
}

enum pv_code store_token_list(struct store_tx *tx,
                              struct arena *arena,
                              const char *after_id,
                              size_t limit,
                              struct token_list *list,
                              struct pv_error *err)
{
    static struct columns_statement statement = {"SELECT {token} FROM " TOKENS
                                                 " WHERE team_id = $1" COLUMNS_AFTER_ID,
                                                 .of = {&token_columns}};
    return columns_query_page(tx, &statement, after_id, limit, arena, &token_columns, list, err);
}

enum pv_code store_token_revoke(struct store_tx *tx, const char *token_id, struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "UPDATE provisor.token SET revoked_at = coalesce(revoked_at, now())"
           " WHERE team_id = $1 AND id = $2 RETURNING id");
    sql_uuid(&sql, token_id);
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, &sql, &result, err));
    if (row_count(result) == 0)
        return pv_fail(err, PV_E_NOT_FOUND, "there is no such token");
    return journal_audit(tx, "token.revoke", "token", strview_of(token_id), err);
}

static enum pv_code
read_key(struct store *store, struct arena *arena, unsigned char key[32], struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    sql_init(&sql, arena, "SELECT provisor.read_service_key()");
    PV_TRY(store_query_alone(store, &sql, &result, err));
    struct row row = row_at(result, 0, arena);
    struct strview bytes = row_bytes(&row);
    if (bytes.n != 32)
        return row_failed(&row) ? row_done(&row, err)
                                : pv_fail(err, PV_E_INTERNAL, "the service's key is damaged");
    memcpy(key, bytes.at, 32);
    return PV_OK;
}

enum pv_code store_service_key(struct store *store, unsigned char key[32], struct pv_error *err)
{
    struct arena arena;
    arena_init(&arena, 0);
    enum pv_code code = read_key(store, &arena, key, err);
    arena_fini(&arena);
    return code;
}
