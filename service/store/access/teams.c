#include "store/access/access.h"
#include "store/sql/columns.h"
#include "threads/clock.h"

#define T struct team
static const struct column of_team[] = {
    {"team_id", COLUMN_ID(T, id)},
    {"name", COLUMN_TEXT(T, name)},
    {"created_at", COLUMN_INSTANT(T, created_us)},
};
static const struct columns columns = {"team", COLUMNS_OF(of_team, T)};

enum pv_code store_team_insert(struct store_tx *tx,
                               struct arena *arena,
                               struct strview name,
                               struct team *team,
                               struct pv_error *err)
{
    static struct columns_statement statement = {"SELECT {team} FROM provisor.create_team($1, $2)",
                                                 .of = {&columns}};
    char id[37];
    struct sql sql;
    result_auto_t *result = NULL;
    clock_uuid7(id);
    sql_columns(&sql, &tx->scratch, &statement);
    sql_uuid(&sql, id);
    sql_text(&sql, name);
    PV_TRY(tx_query(tx, &sql, &result, err));
    if (row_count(result) == 0)
        return pv_fail(err, PV_E_CONFLICT, "there is a team of that name already");
    PV_TRY(columns_read_row(result, 0, arena, &columns, team, err));
    return journal_audit(tx, "team.insert", "team", name, err);
}

enum pv_code store_team_list(struct store_tx *tx,
                             struct arena *arena,
                             const char *after_id,
                             size_t limit,
                             struct team_list *list,
                             struct pv_error *err)
{
    static struct columns_statement statement = {"SELECT {team} FROM provisor.list_teams($1, $2)",
                                                 .of = {&columns}};
    struct sql sql;
    result_auto_t *result = NULL;
    sql_columns(&sql, &tx->scratch, &statement);
    sql_uuid(&sql, after_id);
    sql_int(&sql, (int64_t)limit + 1);
    PV_TRY(tx_query(tx, &sql, &result, err));
    return columns_read_list(result, limit, arena, &columns, list, err);
}
