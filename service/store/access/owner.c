#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "store/access/access_internal.h"
#include "threads/clock.h"

/*
 * Teams and tokens across teams, for the command line: as the schema's owner, who alone has the
 * policies that provisor.registry switches on (0001, row level security).
 */

static enum pv_code set_for_transaction(struct store_tx *tx,
                                        const char *setting,
                                        const char *value,
                                        struct pv_error *err)
{
    struct sql sql;
    sql_init(&sql, &tx->scratch, "SELECT set_config($1, $2, true)");
    sql_text(&sql, strview_of(setting));
    sql_text(&sql, strview_of(value));
    return tx_defer(tx, &sql, err);
}

static enum pv_code check_owner(struct store_tx *tx, struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    sql_init(&sql, &tx->scratch,
             "SELECT pg_has_role(nspowner, 'USAGE') FROM pg_namespace WHERE nspname = 'provisor'");
    PV_TRY(tx_query(tx, &sql, &result, err));
    if (row_count(result) == 0)
        return PV_OK; /* without a schema the next statement says so */
    struct row row = row_at(result, 0, NULL);
    return row_bool(&row)
               ? PV_OK
               : pv_fail(err, PV_E_FORBIDDEN,
                         "this takes the role that owns the schema: database_owner_url names it "
                         "(PROVISOR_DATABASE_OWNER_URL, or PROVISOR_DATABASE_OWNER_URL_FILE for a "
                         "file that holds it)");
}

enum pv_code registry_open_bounded(const char *owner_conninfo,
                                   const int64_t quotas[QUOTAS],
                                   enum store_mode mode,
                                   struct registry *registry,
                                   struct pv_error *err)
{
    const struct principal nobody = {.actor = "command line"};
    struct store_options options = {.conninfo = owner_conninfo,
                                    .connections_max = 1,
                                    .wait_ms = 5000,
                                    .statement_timeout_ms = 30000};
    memcpy(options.quotas, quotas, sizeof options.quotas);
    PV_TRY(store_open(&options, &registry->store, err));
    PV_TRY(store_begin(registry->store, &nobody, "", mode, &registry->tx, err));
    PV_TRY(check_owner(registry->tx, err));
    return set_for_transaction(registry->tx, "provisor.registry", "on", err);
}

enum pv_code registry_open(const char *owner_conninfo,
                           enum store_mode mode,
                           struct registry *registry,
                           struct pv_error *err)
{
    static const int64_t unbounded[QUOTAS] = {0};
    return registry_open_bounded(owner_conninfo, unbounded, mode, registry, err);
}

void registry_close(struct registry *registry)
{
    store_rollback(&registry->tx);
    if (registry->store != NULL)
        store_close(registry->store);
}

enum pv_code registry_enter(struct store_tx *tx, const char team_id[37], struct pv_error *err)
{
    memcpy(tx->who.team_id, team_id, sizeof tx->who.team_id);
    return set_for_transaction(tx, "provisor.team_id", team_id, err);
}

enum pv_code registry_read_team(struct store_tx *tx,
                                const struct sql *sql,
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

enum pv_code
registry_find_team(struct store_tx *tx, const char *name, char team_id[37], struct pv_error *err)
{
    struct sql sql;
    sql_init(&sql, &tx->scratch, "SELECT team_id FROM provisor.team WHERE name = $1");
    sql_text(&sql, strview_of(name));
    return registry_read_team(tx, &sql, "team", team_id, err);
}

enum pv_code store_owner_team_find(const char *owner_conninfo,
                                   const char *team_name,
                                   char team_id[37],
                                   struct pv_error *err)
{
    registry_auto_t registry = {0};
    PV_TRY(registry_open(owner_conninfo, STORE_READ, &registry, err));
    return registry_find_team(registry.tx, team_name, team_id, err);
}

/* Makes the team when it is missing. */
static enum pv_code
ensure_team(struct store_tx *tx, const char *name, char team_id[37], struct pv_error *err)
{
    char id[37];
    struct sql sql;
    clock_uuid7(id);
    sql_init(&sql, &tx->scratch, "SELECT provisor.ensure_team($1, $2)");
    sql_uuid(&sql, id);
    sql_text(&sql, strview_of(name));
    return registry_read_team(tx, &sql, "team", team_id, err);
}

enum pv_code store_bootstrap_token(const char *owner_conninfo,
                                   const char *team_name,
                                   struct token *token,
                                   struct pv_error *err)
{
    registry_auto_t registry = {0};
    char team_id[37];
    PV_TRY(registry_open(owner_conninfo, STORE_WRITE, &registry, err));
    memcpy(registry.tx->who.token_id, token->id, sizeof token->id);
    PV_TRY(ensure_team(registry.tx, team_name, team_id, err));
    PV_TRY(registry_enter(registry.tx, team_id, err));
    PV_TRY(store_token_insert(registry.tx, token, err));
    return store_commit(&registry.tx, err);
}

enum pv_code store_owner_token_list(const char *owner_conninfo,
                                    struct arena *arena,
                                    const char *team_name,
                                    struct token_list *list,
                                    struct pv_error *err)
{
    static struct columns_statement statement = {"SELECT {token} FROM " TOKENS
                                                 " WHERE $1 IS NULL OR team_name = $1 ORDER BY id",
                                                 .of = {&token_columns}};
    registry_auto_t registry = {0};
    struct sql sql;
    result_auto_t *result = NULL;
    PV_TRY(registry_open(owner_conninfo, STORE_READ, &registry, err));
    sql_columns(&sql, &registry.tx->scratch, &statement);
    sql_text(&sql, strview_of(team_name));
    PV_TRY(tx_query(registry.tx, &sql, &result, err));
    if (row_count(result) == 0 && team_name != NULL) {
        char team_id[37]; /* a team without tokens, or a name that is none? */
        PV_TRY(registry_find_team(registry.tx, team_name, team_id, err));
    }
    return columns_read_list(result, SIZE_MAX, arena, &token_columns, list, err);
}

enum pv_code
store_owner_token_revoke(const char *owner_conninfo, const char *token_id, struct pv_error *err)
{
    registry_auto_t registry = {0};
    struct sql sql;
    char team_id[37];
    PV_TRY(registry_open(owner_conninfo, STORE_WRITE, &registry, err));
    sql_init(&sql, &registry.tx->scratch, "SELECT team_id FROM provisor.token WHERE id = $1");
    sql_uuid(&sql, token_id);
    PV_TRY(registry_read_team(registry.tx, &sql, "token", team_id, err));
    PV_TRY(registry_enter(registry.tx, team_id, err));
    PV_TRY(store_token_revoke(registry.tx, token_id, err));
    return store_commit(&registry.tx, err);
}
