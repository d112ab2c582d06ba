#include "store/access/access.h"

#include <stdio.h>
#include <string.h>

#include "store/store_internal.h"
#include "threads/clock.h"

/* --- tokens --- */

#define TOKEN_COLUMNS "name, scopes, hash, created_at, expires_at, last_used_at, revoked_at"

static void read_token(struct row *row, struct token_row *token)
{
    token->name = row_text(row);
    token->scopes = (unsigned)row_int(row);
    struct strview hash = row_bytes(row);
    if (hash.n == sizeof token->hash)
        memcpy(token->hash, hash.at, sizeof token->hash);
    else
        row->failed = true;
    token->created_us = row_instant(row);
    token->expires_us = row_instant(row);
    token->last_used_us = row_instant(row);
    token->revoked_us = row_instant(row);
}

enum pv_code store_token_lookup(struct store *store,
                                struct arena *arena,
                                const char *token_id,
                                struct token_row *token,
                                struct pv_error *err)
{
    struct sql sql;
    sql_init(&sql, arena,
             "SELECT id, team_id, team_name, " TOKEN_COLUMNS " FROM provisor.look_up_token($1)");
    sql_uuid(&sql, token_id);
    result_auto_t *result = NULL;
    PV_TRY(store_query_alone(store, &sql, &result, err));
    if (row_count(result) == 0)
        return pv_fail(err, PV_E_NOT_FOUND, "there is no such token");
    struct row row = row_at(result, 0, arena);
    struct token_row t = {0};
    row_uuid(&row, t.id);
    row_uuid(&row, t.team_id);
    t.team_name = row_text(&row);
    read_token(&row, &t);
    PV_TRY(row_done(&row, err));
    *token = t;
    return PV_OK;
}

enum pv_code store_token_insert(struct store_tx *tx, struct token_row *token, struct pv_error *err)
{
    if (token->id[0] == '\0')
        clock_uuid7(token->id);
    struct sql sql;
    tx_sql(tx, &sql,
           "INSERT INTO provisor.token (team_id, id, name, scopes, hash, expires_at)"
           " VALUES ($1, $2, $3, $4, $5, $6) RETURNING created_at");
    sql_uuid(&sql, token->id);
    sql_text(&sql, token->name);
    sql_int(&sql, token->scopes);
    sql_bytes(&sql, token->hash, sizeof token->hash);
    sql_instant(&sql, token->expires_us);
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, &sql, &result, err));
    struct row row = row_at(result, 0, NULL);
    token->created_us = row_instant(&row);
    token->last_used_us = token->revoked_us = RUN_NO_INSTANT;
    memcpy(token->team_id, tx->who.team_id, sizeof token->team_id);
    return journal_audit(tx, "token.insert", "token", strview_of(token->id), err);
}

enum pv_code store_token_list(struct store_tx *tx,
                              struct arena *arena,
                              const char *after_id,
                              size_t limit,
                              struct token_list *list,
                              struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT id, team_id, (SELECT m.name FROM provisor.team m WHERE m.team_id = "
           "$1), " TOKEN_COLUMNS " FROM provisor.token WHERE team_id = $1"
           " AND id > coalesce($2, '00000000-0000-0000-0000-000000000000') ORDER BY id LIMIT $3");
    sql_uuid(&sql, after_id);
    sql_int(&sql, (int64_t)limit + 1);
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, &sql, &result, err));
    size_t there = row_count(result);
    struct token_list read = {.n = there > limit ? limit : there, .more = there > limit};
    read.items = arena_calloc(arena, read.n, sizeof *read.items);
    if (read.items == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < read.n; i++) {
        struct row row = row_at(result, (int)i, arena);
        row_uuid(&row, read.items[i].id);
        row_uuid(&row, read.items[i].team_id);
        read.items[i].team_name = row_text(&row);
        read_token(&row, &read.items[i]);
        PV_TRY(row_done(&row, err));
    }
    *list = read;
    return PV_OK;
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
    bool found = row_count(result) > 0;
    if (!found)
        return pv_fail(err, PV_E_NOT_FOUND, "there is no such token");
    return journal_audit(tx, "token.revoke", "token", strview_of(token_id), err);
}

/* --- teams --- */

static void read_team(struct row *row, struct team_row *team)
{
    row_uuid(row, team->id);
    team->name = row_text(row);
    team->created_us = row_instant(row);
}

enum pv_code store_team_insert(struct store_tx *tx,
                               struct arena *arena,
                               struct strview name,
                               struct team_row *team,
                               struct pv_error *err)
{
    char id[37];
    clock_uuid7(id);
    struct sql sql;
    sql_init(&sql, &tx->scratch,
             "SELECT team_id, name, created_at FROM provisor.create_team($1, $2)");
    sql_uuid(&sql, id);
    sql_text(&sql, name);
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, &sql, &result, err));
    if (row_count(result) == 0)
        return pv_fail(err, PV_E_CONFLICT, "there is a team of that name already");
    struct row row = row_at(result, 0, arena);
    struct team_row t = {0};
    read_team(&row, &t);
    PV_TRY(row_done(&row, err));
    *team = t;
    return journal_audit(tx, "team.insert", "team", name, err);
}

enum pv_code store_team_list(struct store_tx *tx,
                             struct arena *arena,
                             const char *after_id,
                             size_t limit,
                             struct team_list *list,
                             struct pv_error *err)
{
    struct sql sql;
    sql_init(&sql, &tx->scratch,
             "SELECT team_id, name, created_at FROM provisor.list_teams($1, $2)");
    sql_uuid(&sql, after_id);
    sql_int(&sql, (int64_t)limit + 1);
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, &sql, &result, err));
    size_t there = row_count(result);
    struct team_list read = {.n = there > limit ? limit : there, .more = there > limit};
    read.items = arena_calloc(arena, read.n, sizeof *read.items);
    if (read.items == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < read.n; i++) {
        struct row row = row_at(result, (int)i, arena);
        read_team(&row, &read.items[i]);
        PV_TRY(row_done(&row, err));
    }
    *list = read;
    return PV_OK;
}

/* --- the command line and the service's own key --- */

/* The transaction goes on as that team. */
static enum pv_code become(struct store_tx *tx, const char *team_id, struct pv_error *err)
{
    struct sql sql;
    sql_init(&sql, &tx->scratch, "SELECT set_config('provisor.team_id', $1, true)");
    sql_text(&sql, strview_of(team_id));
    memcpy(tx->who.team_id, team_id, sizeof tx->who.team_id);
    return tx_defer(tx, &sql, err);
}

static enum pv_code
ensure_team(struct store_tx *tx, const char *name, char team_id[37], struct pv_error *err)
{
    char id[37];
    clock_uuid7(id);
    struct sql sql;
    sql_init(&sql, &tx->scratch, "SELECT provisor.ensure_team($1, $2)");
    sql_uuid(&sql, id);
    sql_text(&sql, strview_of(name));
    PGresult *result;
    enum pv_code code = tx_query(tx, &sql, &result, err);
    if (code != PV_OK)
        return code;
    struct row row = row_at(result, 0, NULL);
    row_uuid(&row, team_id);
    PQclear(result);
    return PV_OK;
}

static enum pv_code
bootstrap(struct store *store, const char *team_name, struct token_row *token, struct pv_error *err)
{
    struct principal nobody = {0};
    memcpy(nobody.token_id, token->id, sizeof nobody.token_id);
    (void)snprintf(nobody.actor, sizeof nobody.actor, "command line");
    struct store_tx *tx = NULL;
    enum pv_code code = store_begin(store, &nobody, "", STORE_WRITE, &tx, err);
    char team_id[37];
    if (code == PV_OK)
        code = tx_check_owner(tx, err);
    if (code == PV_OK)
        code = ensure_team(tx, team_name, team_id, err);
    if (code == PV_OK)
        code = become(tx, team_id, err);
    if (code == PV_OK)
        code = store_token_insert(tx, token, err);
    if (code == PV_OK)
        return store_commit(&tx, err);
    store_rollback(&tx);
    return code;
}

enum pv_code store_bootstrap_token(const char *owner_conninfo,
                                   const char *team_name,
                                   struct token_row *token,
                                   struct pv_error *err)
{
    struct store *store = store_open(&(struct store_options){.conninfo = owner_conninfo,
                                                             .connections_max = 1,
                                                             .wait_ms = 5000,
                                                             .statement_timeout_ms = 30000},
                                     err);
    if (store == NULL)
        return err->code;
    enum pv_code code = bootstrap(store, team_name, token, err);
    store_close(store);
    return code;
}

enum pv_code store_service_key(struct store *store, unsigned char key[32], struct pv_error *err)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct sql sql;
    sql_init(&sql, &arena, "SELECT provisor.read_service_key()");
    PGresult *result;
    enum pv_code code = store_query_alone(store, &sql, &result, err);
    if (code == PV_OK) {
        struct row row = row_at(result, 0, &arena);
        struct strview bytes = row_bytes(&row);
        if (bytes.n == 32)
            memcpy(key, bytes.at, 32);
        else
            code = pv_fail(err, PV_E_INTERNAL, "the service's key is damaged");
    }
    PQclear(result);
    arena_fini(&arena);
    return code;
}
