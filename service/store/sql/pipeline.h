#ifndef STORE_SQL_PIPELINE_H
#define STORE_SQL_PIPELINE_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

/* Results of a connection in pipeline mode, non-blocking, each wait bounded by a deadline on the
 * monotonic clock. */

/* Mark the end of what was queued. */
bool pipeline_sync(PGconn *conn);

/*
 * The next result, the caller's to clear; a sync's has the status PGRES_PIPELINE_SYNC. False when
 * the connection is lost, silent past the deadline, or out of step: close it. *result may be set
 * all the same: the server's last words.
 */
bool pipeline_result(PGconn *conn, uint64_t deadline_ns, PGresult **result);

#endif
