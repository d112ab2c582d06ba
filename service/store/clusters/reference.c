#include "store/clusters/reference.h"

#include "store/sql/columns.h"

enum pv_code store_registry_lock(struct store_tx *tx, struct pv_error *err)
{
    return tx_lock_team(tx, "cluster", err);
}

static const struct {
    const char *lock;
    const char *list;
    const char *count;
    const char *plural;
    const char *setting;
} kinds[] = {
    [REFERENCE_TO_CLUSTER] =
        {.lock = "SELECT FROM provisor.cluster WHERE team_id = $1 AND id = $2 FOR UPDATE",
         .list = "SELECT kind, name FROM provisor.cluster_reference"
                 " WHERE team_id = $1 AND cluster_id = $2 ORDER BY kind, name LIMIT $3",
         .count = "SELECT count(*) FROM provisor.cluster WHERE team_id = $1",
         .plural = "clusters",
         .setting = "clusters_max"},
    [REFERENCE_TO_PRICE_BOOK] =
        {.lock = "SELECT FROM provisor.price_book WHERE team_id = $1 AND id = $2 FOR UPDATE",
         .list = "SELECT kind, name FROM provisor.price_book_reference"
                 " WHERE team_id = $1 AND price_book_id = $2 ORDER BY kind, name LIMIT $3",
         .count = "SELECT count(*) FROM provisor.price_book WHERE team_id = $1",
         .plural = "price books",
         .setting = "price_books_max"},
};

enum pv_code store_registry_check_number(struct store_tx *tx,
                                         enum reference_kind kind,
                                         int64_t most,
                                         struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    tx_sql(tx, &sql, kinds[kind].count);
    PV_TRY(tx_query(tx, &sql, &result, err));
    struct row row = row_at(result, 0, NULL);
    int64_t there = row_int(&row);
    return there < most
               ? PV_OK
               : pv_fail(err, PV_E_LIMIT, "the team has %lld %s already, as many as it may (%s)",
                         (long long)there, kinds[kind].plural, kinds[kind].setting);
}

static const struct column of_reference[] = {
    {"kind", COLUMN_TEXT(struct reference, kind)},
    {"name", COLUMN_TEXT(struct reference, name)},
};
static const struct columns columns = {"reference", COLUMNS_OF(of_reference, struct reference)};

enum pv_code store_reference_list(struct store_tx *tx,
                                  struct arena *arena,
                                  enum reference_kind kind,
                                  const char *id,
                                  size_t limit,
                                  struct reference_list *list,
                                  struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    /* A statement of its own, so that the list is read after the lock was granted. */
    tx_sql(tx, &sql, kinds[kind].lock);
    sql_uuid(&sql, id);
    PV_TRY(tx_defer(tx, &sql, err));
    tx_sql(tx, &sql, kinds[kind].list);
    sql_uuid(&sql, id);
    sql_int(&sql, (int64_t)limit + 1);
    PV_TRY(tx_query(tx, &sql, &result, err));
    return columns_read_list(result, limit, arena, &columns, list, err);
}
