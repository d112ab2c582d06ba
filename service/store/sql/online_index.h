#ifndef STORE_SQL_ONLINE_INDEX_H
#define STORE_SQL_ONLINE_INDEX_H

#include <libpq-fe.h>
#include <stdbool.h>

#include "base/error.h"

/* An index that is made while others read and write its table. */
struct online_index {
    const char *name;
    const char *table;      /* of the schema provisor, partitioned or not */
    const char *definition; /* what follows the table's name: columns, INCLUDE, WHERE */
    bool unique;
};

/*
 * Make the index on conn, on which no transaction is open. What an earlier attempt has made is
 * kept, what it left unusable is dropped first, so it may be called again after any failure. Only
 * one may be at it at a time. On a partitioned table, which PostgreSQL cannot do at once, the index
 * is made partition by partition. Building waits for transactions that are older, for as long as
 * they take, and keeps nobody waiting meanwhile; the moments that do need a lock give up after
 * lock_timeout_ms.
 *
 * PV_E_RETRY: a lock was not free; PV_E_UNAVAILABLE; PV_E_INTERNAL: what PostgreSQL says of it.
 */
enum pv_code online_index_make(PGconn *conn,
                               unsigned lock_timeout_ms,
                               const struct online_index *index,
                               struct pv_error *err) PV_MUSTCHECK;

#endif
