#include "store/sql/schema_transaction.h"

#include <stdio.h>

#include "store/store_internal.h"

static enum pv_code judge_failure(const PGconn *conn, const PGresult *result, struct pv_error *err)
{
    bool discard;
    const char *state = result == NULL ? NULL : PQresultErrorField(result, PG_DIAG_SQLSTATE);
    enum pv_code code = sqlstate_code(state, &discard);
    const char *message =
        result == NULL ? PQerrorMessage(conn) : PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (code == PV_E_UNAVAILABLE && err != NULL)
        err->retry_after_s = 1;
    if (code != PV_E_UNAVAILABLE && code != PV_E_RETRY)
        code = PV_E_INTERNAL;
    return pv_fail(err, code, "migrating: %s",
                   message == NULL ? "the connection was lost" : message);
}

enum pv_code schema_judge(const PGconn *conn, const PGresult *result, struct pv_error *err)
{
    ExecStatusType status = PQresultStatus(result);
    bool done = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    return done ? PV_OK : judge_failure(conn, result, err);
}

enum pv_code schema_run(PGconn *conn, const char *text, struct pv_error *err)
{
    result_auto_t *result = PQexec(conn, text);
    return schema_judge(conn, result, err);
}

enum pv_code schema_begin(PGconn *conn, unsigned lock_timeout_ms, struct pv_error *err)
{
    char text[128];
    (void)snprintf(text, sizeof text,
                   "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = %u",
                   lock_timeout_ms);
    return schema_run(conn, text, err);
}

enum pv_code schema_end(PGconn *conn, enum pv_code so_far, struct pv_error *err)
{
    if (so_far == PV_OK)
        return schema_run(conn, "COMMIT", err);
    PQclear(PQexec(conn, "ROLLBACK"));
    return so_far;
}
