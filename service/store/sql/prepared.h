#ifndef STORE_SQL_PREPARED_H
#define STORE_SQL_PREPARED_H

#include <libpq-fe.h>
#include <stdbool.h>

/*
 * Which statements a connection's server has prepared. Parsing and planning is what a short insert
 * costs most; a prepared one does both once. Only where the server at the other end stays the same:
 * a pooler that hands out another server for each transaction (PgBouncer) would miss them.
 */

enum { PREPARED_NAME_MAX = 24 };

/* Keep a memory with a new connection; it goes with PQfinish. False when memory is exhausted. */
bool prepared_attach(PGconn *conn);

/* The pid reported by the process that served a statement. Statements are prepared only while it is
 * the process we connected to. */
void prepared_learn_backend(PGconn *conn, int backend_pid);

/* What to do with a statement of that text; `name` is its name on the server where it has one. */
enum prepared_step { PREPARED_NEVER, PREPARED_FIRST, PREPARED_READY };
enum prepared_step
prepared_find(PGconn *conn, const char *text, char name[static PREPARED_NAME_MAX]);

/* It was sent to be prepared; false when there is no room to remember more. */
bool prepared_note(PGconn *conn, const char *text);

#endif
