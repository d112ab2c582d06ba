#include "store/sql/pipeline.h"

#include <errno.h>
#include <poll.h>

#include "threads/clock.h"

/*
 * libpq's pipeline mode on a non-blocking connection: a blocking one deadlocks when both sides have
 * full buffers (manual, 34.5.1). Every wait has a deadline, because a server that is stopped rather
 * than gone keeps its sockets open.
 */

/* Wait until there is something to read, writing meanwhile what is left to be written. */
static bool wait_for_server(PGconn *conn, uint64_t deadline_ns)
{
    int unsent = PQflush(conn);
    if (unsent < 0)
        return false;
    uint64_t now = clock_monotonic_ns();
    if (now >= deadline_ns)
        return false;
    struct pollfd p = {.fd = PQsocket(conn),
                       .events = (short)(unsent > 0 ? POLLIN | POLLOUT : POLLIN)};
    int ready = poll(&p, 1, (int)((deadline_ns - now) / 1000000 + 1));
    if (ready < 0)
        return errno == EINTR;
    /* Also on errors and hang-ups: libpq finds out what they are by reading. */
    if (ready > 0 && (p.revents & ~POLLOUT) != 0)
        return PQconsumeInput(conn) == 1;
    return true;
}

/* The next result or the NULL between two; false when the connection is of no more use. */
static bool next_result(PGconn *conn, uint64_t deadline_ns, PGresult **result)
{
    while (PQisBusy(conn)) {
        if (!wait_for_server(conn, deadline_ns))
            return false;
    }
    *result = PQgetResult(conn);
    return PQstatus(conn) == CONNECTION_OK;
}

bool pipeline_sync(PGconn *conn)
{
    return PQpipelineSync(conn) == 1;
}

bool pipeline_result(PGconn *conn, uint64_t deadline_ns, PGresult **result)
{
    *result = NULL;
    PGresult *separator = NULL;
    if (!next_result(conn, deadline_ns, result) || *result == NULL)
        return false;
    if (PQresultStatus(*result) == PGRES_PIPELINE_SYNC)
        return true;
    if (!next_result(conn, deadline_ns, &separator))
        return false;
    PQclear(separator);
    return separator == NULL;
}
