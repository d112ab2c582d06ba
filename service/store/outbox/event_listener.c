#include "store/outbox/event_listener.h"

#include <stdlib.h>
#include <string.h>

#include "store/store_internal.h"

#define CHANNEL "provisor_events"

struct event_listener {
    PGconn *conn;
};

enum pv_code store_events_notify(struct store *store, const char from[37], struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    sql_init(&sql, NULL, "SELECT pg_notify('" CHANNEL "', $1::text)");
    sql_text(&sql, strview_of(from));
    return store_query_alone(store, &sql, &result, err);
}

enum pv_code events_report(struct store_tx *tx, struct pv_error *err)
{
    struct sql sql;
    sql_init(&sql, &tx->scratch, "SELECT pg_notify('" CHANNEL "', '')");
    return tx_defer(tx, &sql, err);
}

enum pv_code
event_listener_open(struct store *store, struct event_listener **listener, struct pv_error *err)
{
    struct event_listener *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pv_no_memory(err);
    enum pv_code code = connection_open(pool_conninfo(store), &made->conn, err);
    if (code != PV_OK) {
        free(made);
        return code;
    }
    PGresult *result = PQexec(made->conn, "LISTEN " CHANNEL);
    bool listens = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    if (!listens) {
        event_listener_close(made);
        return pv_fail(err, PV_E_UNAVAILABLE, "the database does not notify of events");
    }
    *listener = made;
    return PV_OK;
}

void event_listener_close(struct event_listener *listener)
{
    if (listener == NULL)
        return;
    PQfinish(listener->conn);
    free(listener);
}

int event_listener_fd(const struct event_listener *listener)
{
    return PQsocket(listener->conn);
}

bool event_listener_drain(struct event_listener *listener, const char self[37], bool *heard)
{
    if (PQconsumeInput(listener->conn) != 1)
        return false;
    PGnotify *note;
    while ((note = PQnotifies(listener->conn)) != NULL) {
        if (strcmp(note->extra, self) != 0)
            *heard = true;
        PQfreemem(note);
    }
    return PQstatus(listener->conn) == CONNECTION_OK;
}
