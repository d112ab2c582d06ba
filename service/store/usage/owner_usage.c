#include "core/history/run.h"
#include "store/sql/columns.h"
#include "store/store_internal.h"
#include "store/usage/usage.h"

/* Quotas across teams, for the command line, as the schema's owner (access/owner.c). */

#define T struct team_usage
static const struct column of_team[] = {
    {"team_id", COLUMN_ID(T, team_id)},
    {"name", COLUMN_TEXT(T, team)},
};
static const struct columns columns = {"team", COLUMNS_OF(of_team, T)};

static enum pv_code list_teams(struct store_tx *tx,
                               struct arena *arena,
                               const char *team_name,
                               struct team_usage_list *list,
                               struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {team} FROM provisor.team WHERE $1 IS NULL OR name = $1 ORDER BY name",
        .of = {&columns}};
    struct sql sql;
    result_auto_t *result = NULL;
    sql_columns(&sql, &tx->scratch, &statement);
    sql_text(&sql, strview_of(team_name));
    PV_TRY(tx_query(tx, &sql, &result, err));
    if (row_count(result) == 0 && team_name != NULL)
        return pv_fail(err, PV_E_NOT_FOUND, "there is no such team");
    return columns_read_list(result, SIZE_MAX, arena, &columns, list, err);
}

enum pv_code store_owner_usage_list(const char *owner_conninfo,
                                    struct arena *arena,
                                    const char *team_name,
                                    const struct usage_bounds *bounds,
                                    struct team_usage_list *list,
                                    struct pv_error *err)
{
    registry_auto_t registry = {0};
    PV_TRY(registry_open_bounded(owner_conninfo, bounds->quotas, STORE_READ, &registry, err));
    PV_TRY(list_teams(registry.tx, arena, team_name, list, err));
    for (size_t i = 0; i < list->n; i++) {
        struct team_usage *team = &list->items[i];
        PV_TRY(registry_enter(registry.tx, team->team_id, err));
        PV_TRY(store_usage_list(registry.tx, arena, &bounds->most, &team->usage, err));
    }
    return PV_OK;
}

enum pv_code store_owner_quotas_set(const char *owner_conninfo,
                                    const char *team_name,
                                    unsigned changed,
                                    const struct team_quotas *quotas,
                                    struct pv_error *err)
{
    registry_auto_t registry = {0};
    char team_id[37];
    PV_TRY(registry_open(owner_conninfo, STORE_WRITE, &registry, err));
    PV_TRY(registry_find_team(registry.tx, team_name, team_id, err));
    PV_TRY(registry_enter(registry.tx, team_id, err));
    PV_TRY(store_quotas_set(registry.tx, changed, quotas, err));
    return store_commit(&registry.tx, err);
}
