#include <stdio.h>
#include <string.h>

#include "store/access/access.h"
#include "store/store_internal.h"

/*
 * Tokens across teams, for the command line: as the schema's owner, who alone has the policies that
 * provisor.registry switches on (0001, row level security).
 */

enum pv_code
registry_set(struct store_tx *tx, const char *setting, const char *value, struct pv_error *err)
{
    struct sql sql;
    sql_init(&sql, &tx->scratch, "SELECT set_config($1, $2, true)");
    sql_text(&sql, strview_of(setting));
    sql_text(&sql, strview_of(value));
    return tx_defer(tx, &sql, err);
}

enum pv_code tx_check_owner(struct store_tx *tx, struct pv_error *err)
{
    struct sql sql;
    sql_init(&sql, &tx->scratch,
             "SELECT pg_has_role(nspowner, 'USAGE') FROM pg_namespace WHERE nspname = 'provisor'");
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, &sql, &result, err));
    bool owner = true; /* without a schema the next statement says so */
    if (row_count(result) > 0) {
        struct row row = row_at(result, 0, NULL);
        owner = row_bool(&row);
    }
    return owner
               ? PV_OK
               : pv_fail(err, PV_E_FORBIDDEN,
                         "this takes the role that owns the schema: database_owner_url names it "
                         "(PROVISOR_DATABASE_OWNER_URL, or PROVISOR_DATABASE_OWNER_URL_FILE for a "
                         "file that holds it)");
}

enum pv_code registry_open(const char *owner_conninfo,
                           enum store_mode mode,
                           struct store **store,
                           struct store_tx **tx,
                           struct pv_error *err)
{
    *store = store_open(&(struct store_options){.conninfo = owner_conninfo,
                                                .connections_max = 1,
                                                .wait_ms = 5000,
                                                .statement_timeout_ms = 30000},
                        err);
    if (*store == NULL)
        return err->code;
    struct principal nobody = {0};
    (void)snprintf(nobody.actor, sizeof nobody.actor, "command line");
    PV_TRY(store_begin(*store, &nobody, "", mode, tx, err));
    PV_TRY(tx_check_owner(*tx, err));
    return registry_set(*tx, "provisor.registry", "on", err);
}

void registry_close(struct store *store, struct store_tx **tx)
{
    store_rollback(tx);
    if (store != NULL)
        store_close(store);
}

enum pv_code registry_enter(struct store_tx *tx, const char team_id[37], struct pv_error *err)
{
    memcpy(tx->who.team_id, team_id, sizeof tx->who.team_id);
    return registry_set(tx, "provisor.team_id", team_id, err);
}

static void read_listed(struct row *row, struct token_row *token)
{
    row_uuid(row, token->id);
    row_uuid(row, token->team_id);
    token->team_name = row_text(row);
    token->name = row_text(row);
    token->scopes = (unsigned)row_int(row);
    token->created_us = row_instant(row);
    token->expires_us = row_instant(row);
    token->last_used_us = row_instant(row);
    token->revoked_us = row_instant(row);
}

static enum pv_code list_registry(struct store_tx *tx,
                                  struct arena *arena,
                                  const char *team_name,
                                  struct token_list *list,
                                  struct pv_error *err)
{
    struct sql sql;
    sql_init(&sql, &tx->scratch,
             "SELECT t.id, t.team_id, m.name, t.name, t.scopes, t.created_at, t.expires_at,"
             " t.last_used_at, t.revoked_at"
             " FROM provisor.token t JOIN provisor.team m ON m.team_id = t.team_id"
             " WHERE $1 IS NULL OR m.name = $1 ORDER BY t.id");
    sql_text(&sql, strview_of(team_name));
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, &sql, &result, err));
    struct token_list read = {.n = row_count(result)};
    read.items = arena_calloc(arena, read.n, sizeof *read.items);
    if (read.items == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < read.n; i++) {
        struct row row = row_at(result, (int)i, arena);
        read_listed(&row, &read.items[i]);
        PV_TRY(row_done(&row, err));
    }
    *list = read;
    return PV_OK;
}

enum pv_code store_owner_token_list(const char *owner_conninfo,
                                    struct arena *arena,
                                    const char *team_name,
                                    struct token_list *list,
                                    struct pv_error *err)
{
    struct store *store = NULL;
    struct store_tx *tx = NULL;
    enum pv_code code = registry_open(owner_conninfo, STORE_READ, &store, &tx, err);
    if (code == PV_OK)
        code = list_registry(tx, arena, team_name, list, err);
    registry_close(store, &tx);
    return code;
}

enum pv_code registry_read_team(struct store_tx *tx,
                                struct sql *sql,
                                const char *missing,
                                char team_id[37],
                                struct pv_error *err)
{
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, sql, &result, err));
    if (row_count(result) == 0)
        return pv_fail(err, PV_E_NOT_FOUND, "there is no such %s", missing);
    struct row row = row_at(result, 0, NULL);
    row_uuid(&row, team_id);
    return PV_OK;
}

enum pv_code store_owner_team_find(const char *owner_conninfo,
                                   const char *team_name,
                                   char team_id[37],
                                   struct pv_error *err)
{
    struct store *store = NULL;
    struct store_tx *tx = NULL;
    enum pv_code code = registry_open(owner_conninfo, STORE_READ, &store, &tx, err);
    if (code == PV_OK) {
        struct sql sql;
        sql_init(&sql, &tx->scratch, "SELECT team_id FROM provisor.team WHERE name = $1");
        sql_text(&sql, strview_of(team_name));
        code = registry_read_team(tx, &sql, "team", team_id, err);
    }
    registry_close(store, &tx);
    return code;
}

static enum pv_code
find_team_of(struct store_tx *tx, const char *token_id, char team_id[37], struct pv_error *err)
{
    struct sql sql;
    sql_init(&sql, &tx->scratch, "SELECT team_id FROM provisor.token WHERE id = $1");
    sql_uuid(&sql, token_id);
    return registry_read_team(tx, &sql, "token", team_id, err);
}

enum pv_code
store_owner_token_revoke(const char *owner_conninfo, const char *token_id, struct pv_error *err)
{
    struct store *store = NULL;
    struct store_tx *tx = NULL;
    char team_id[37];
    enum pv_code code = registry_open(owner_conninfo, STORE_WRITE, &store, &tx, err);
    if (code == PV_OK)
        code = find_team_of(tx, token_id, team_id, err);
    if (code == PV_OK)
        code = registry_enter(tx, team_id, err);
    if (code == PV_OK)
        code = store_token_revoke(tx, token_id, err);
    if (code == PV_OK)
        code = store_commit(&tx, err);
    registry_close(store, &tx);
    return code;
}
