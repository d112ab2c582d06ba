#include "store/clusters/reference.h"

#include "store/store_internal.h"

enum pv_code store_registry_lock(struct store_tx *tx, struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT pg_advisory_xact_lock(hashtextextended('provisor.cluster ' || $1::text, 0))");
    sql.repeated = true;
    return tx_defer(tx, &sql, err);
}

static const struct {
    const char *lock;
    const char *list;
} statements[] = {
    [REFERENCE_TO_CLUSTER] =
        {"SELECT FROM provisor.cluster WHERE team_id = $1 AND id = $2 FOR UPDATE",
         "SELECT kind, name FROM provisor.cluster_reference WHERE team_id = $1 AND cluster_id = $2"
         " ORDER BY kind, name LIMIT $3"},
    [REFERENCE_TO_PRICE_BOOK] =
        {"SELECT FROM provisor.price_book WHERE team_id = $1 AND id = $2 FOR UPDATE",
         "SELECT kind, name FROM provisor.price_book_reference"
         " WHERE team_id = $1 AND price_book_id = $2 ORDER BY kind, name LIMIT $3"},
};

/* A statement of its own, so that the list is read after the lock was granted. */
static enum pv_code
lock_row(struct store_tx *tx, enum reference_kind kind, const char *id, struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql, statements[kind].lock);
    sql_uuid(&sql, id);
    return tx_defer(tx, &sql, err);
}

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
    PV_TRY(lock_row(tx, kind, id, err));
    tx_sql(tx, &sql, statements[kind].list);
    sql_uuid(&sql, id);
    sql_int(&sql, (int64_t)limit + 1);
    PV_TRY(tx_query(tx, &sql, &result, err));
    size_t there = row_count(result);
    struct reference_list read = {.n = there > limit ? limit : there, .more = there > limit};
    read.items = arena_calloc(arena, read.n, sizeof *read.items);
    if (read.items == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < read.n; i++) {
        struct row row = row_at(result, (int)i, arena);
        read.items[i].kind = row_text(&row);
        read.items[i].name = row_text(&row);
        PV_TRY(row_done(&row, err));
    }
    *list = read;
    return PV_OK;
}
