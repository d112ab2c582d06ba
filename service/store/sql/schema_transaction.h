#ifndef STORE_SQL_SCHEMA_TRANSACTION_H
#define STORE_SQL_SCHEMA_TRANSACTION_H

#include <libpq-fe.h>

#include "base/error.h"

/* Statements that change the schema, on a connection of their own. */

/*
 * What became of a statement: the result is borrowed, NULL if there is none. PV_E_RETRY: a lock was
 * not free, or two stood in each other's way; PV_E_UNAVAILABLE; PV_E_INTERNAL with PostgreSQL's own
 * words, for no client's text is in them.
 */
enum pv_code schema_judge(const PGconn *conn, const PGresult *result, struct pv_error *err);

/* Any number of statements, no parameters, no rows wanted. */
enum pv_code schema_run(PGconn *conn, const char *text, struct pv_error *err) PV_MUSTCHECK;

/* Begin a transaction that gives up a lock that is not free within that time. */
enum pv_code
schema_begin(PGconn *conn, unsigned lock_timeout_ms, struct pv_error *err) PV_MUSTCHECK;
/* Commit it if all went well so far, else undo it; answers what came of both. */
enum pv_code schema_end(PGconn *conn, enum pv_code so_far, struct pv_error *err) PV_MUSTCHECK;

#endif
