#ifndef STORE_SQL_COLUMNS_QUERY_H
#define STORE_SQL_COLUMNS_QUERY_H

#include "store/sql/columns.h"

/* What is kept as rows of columns and known by its id: one of them, and lists in the order of ids,
 * which is that of time. */

/* The row of a statement whose rows have the columns and no others. PV_E_NOT_FOUND, where there is
 * none: "there is no webhook of that id", by the name of the columns. */
enum pv_code columns_query_one(struct store_tx *tx,
                               const struct sql *sql,
                               struct arena *arena,
                               const struct columns *columns,
                               void *object,
                               struct pv_error *err) PV_MUSTCHECK;

enum pv_code columns_none_there(const struct columns *columns, struct pv_error *err);

/* Behind a statement's WHERE team_id = $1: the rows behind an id, or from the first one on, as many
 * as a page has and one more. */
#define COLUMNS_AFTER_ID                                                                           \
    " AND id > coalesce($2, '00000000-0000-0000-0000-000000000000') ORDER BY id LIMIT $3"

/* The page of such a statement: a list as of columns_read_list. after_id: NULL for the first one. */
#define columns_query_page(tx, statement, after_id, limit, arena, columns, list, err)              \
    columns_query_items((tx), (statement), (after_id), (limit), (arena), (columns),                \
                        (void *)&(list)->items, &(list)->n, &(list)->more, (err))

/* What the macro stands on. */
enum pv_code columns_query_items(struct store_tx *tx,
                                 struct columns_statement *statement,
                                 const char *after_id,
                                 size_t limit,
                                 struct arena *arena,
                                 const struct columns *columns,
                                 void *items_address,
                                 size_t *n,
                                 bool *more,
                                 struct pv_error *err) PV_MUSTCHECK;

#endif
