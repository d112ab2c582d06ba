#include "store/name_hint.h"

#include <string.h>

#include "base/nearest.h"
#include "store/store_internal.h"

/* Names that differ much in length are not near, so the database need not send them. */
#define SELECT_NAMES(table)                                                                        \
    "SELECT name FROM (SELECT name FROM provisor." table                                           \
    " WHERE team_id = $1 ORDER BY name LIMIT 5000) AS known"                                       \
    " WHERE length(name) BETWEEN length($2) * 2 / 3 AND length($2) * 3 / 2 + 1"

static const char *const statements[] = {
    [STORE_NAMES_APPLICATIONS] = SELECT_NAMES("application"),
    [STORE_NAMES_CLUSTERS] = SELECT_NAMES("cluster"),
    [STORE_NAMES_PRICE_BOOKS] = SELECT_NAMES("price_book"),
};

const char *
store_name_hint(struct store_tx *tx, struct arena *arena, enum store_names among, const char *name)
{
    struct sql sql;
    struct nearest nearest = {.word = NULL};
    result_auto_t *result = NULL;
    if (strlen(name) > NEAREST_LENGTH_MAX)
        return "";
    tx_sql(tx, &sql, statements[among]);
    sql_text(&sql, strview_of(name));
    if (tx_query(tx, &sql, &result, NULL) != PV_OK)
        return "";
    for (int i = 0; i < PQntuples(result); i++)
        nearest_try(&nearest, name, PQgetvalue(result, i, 0));
    const char *hint =
        nearest.word == NULL ? NULL : arena_printf(arena, "; did you mean \"%s\"?", nearest.word);
    return hint == NULL ? "" : hint;
}
