#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/log.h"
#include "store/sql/migrations.h"
#include "store/store_internal.h"

/*
 * Runs with a connection of its own, as the schema's owner. Each migration is one transaction that
 * begins by taking the advisory lock, so several replicas that start at once take turns, and each
 * looks again at what there is when its turn comes.
 */

/* "provisor" as a number: nobody else's lock. */
#define LOCK_STATEMENT "SELECT pg_advisory_xact_lock(8102099357864587890)"

#define FRAME                                                                                      \
    "CREATE SCHEMA IF NOT EXISTS provisor;"                                                        \
    "CREATE TABLE IF NOT EXISTS provisor.migration ("                                              \
    " version integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,"                    \
    " applied_at timestamptz NOT NULL DEFAULT now())"

unsigned migrate_newest(void)
{
    return (unsigned)n_migrations;
}

/* The message of a failed migration is ours to show: no client's text is in it. */
static enum pv_code failed(const PGconn *conn, const PGresult *result, struct pv_error *err)
{
    bool discard;
    const char *state = result == NULL ? NULL : PQresultErrorField(result, PG_DIAG_SQLSTATE);
    enum pv_code code = sqlstate_code(state, &discard);
    const char *message =
        result == NULL ? PQerrorMessage(conn) : PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (code == PV_E_UNAVAILABLE && err != NULL)
        err->retry_after_s = 1;
    return pv_fail(err, code == PV_E_UNAVAILABLE ? code : PV_E_INTERNAL, "migrating: %s",
                   message == NULL ? "the connection was lost" : message);
}

/* Any number of statements, no parameters, no rows wanted. */
static enum pv_code run_text(PGconn *conn, const char *text, struct pv_error *err)
{
    PGresult *result = PQexec(conn, text);
    ExecStatusType status = PQresultStatus(result);
    enum pv_code code =
        status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ? PV_OK : failed(conn, result, err);
    PQclear(result);
    return code;
}

static enum pv_code check_known(const PGresult *result, unsigned *version, struct pv_error *err)
{
    int n = PQntuples(result);
    for (int i = 0; i < n; i++) {
        unsigned long stored = strtoul(PQgetvalue(result, i, 0), NULL, 10);
        if (stored > n_migrations)
            return pv_fail(err, PV_E_INTERNAL,
                           "the database is at version %lu, newer than this program (%zu)", stored,
                           n_migrations);
        if (stored != (unsigned long)i + 1 ||
            strcmp(PQgetvalue(result, i, 1), migrations[i].checksum) != 0)
            return pv_fail(err, PV_E_INTERNAL,
                           "migration %lu in the database is not the one in this program", stored);
    }
    *version = (unsigned)n;
    return PV_OK;
}

/* The version the database has; what it has must be what this program would have made. */
static enum pv_code read_version(PGconn *conn, unsigned *version, struct pv_error *err)
{
    PGresult *result =
        PQexec(conn, "SELECT version, checksum FROM provisor.migration ORDER BY version");
    enum pv_code code = PQresultStatus(result) == PGRES_TUPLES_OK
                            ? check_known(result, version, err)
                            : failed(conn, result, err);
    PQclear(result);
    return code;
}

static enum pv_code
migrate_apply(PGconn *conn, const struct migration *migration, struct pv_error *err)
{
    enum pv_code code = run_text(conn, migration->sql, err);
    if (code != PV_OK)
        return code;
    char version[16];
    (void)snprintf(version, sizeof version, "%u", migration->version);
    const char *values[] = {version, migration->name, migration->checksum};
    PGresult *result = PQexecParams(conn,
                                    "INSERT INTO provisor.migration (version, name, checksum)"
                                    " VALUES ($1, $2, $3)",
                                    3, NULL, values, NULL, NULL, 0);
    code = PQresultStatus(result) == PGRES_COMMAND_OK ? PV_OK : failed(conn, result, err);
    PQclear(result);
    if (code == PV_OK)
        LOG_EVENT(LOG_INFO, "store.migrated", NULL, LOG_COUNT("version", migration->version),
                  LOG_TEXT("name", migration->name));
    return code;
}

/* One migration, or the grants when there is none left; *done tells which. */
static enum pv_code migrate_step(PGconn *conn, bool *done, struct pv_error *err)
{
    unsigned version = 0;
    enum pv_code code = run_text(conn, "BEGIN", err);
    if (code == PV_OK)
        code = run_text(conn, LOCK_STATEMENT, err);
    if (code == PV_OK)
        code = run_text(conn, FRAME, err);
    if (code == PV_OK)
        code = read_version(conn, &version, err);
    *done = version == n_migrations;
    if (code == PV_OK)
        code = *done ? run_text(conn, "SELECT provisor.grant_service()", err)
                     : migrate_apply(conn, &migrations[version], err);
    if (code == PV_OK)
        return run_text(conn, "COMMIT", err);
    PQclear(PQexec(conn, "ROLLBACK"));
    return code;
}

static enum pv_code migrate(PGconn *conn, unsigned *applied, struct pv_error *err)
{
    unsigned n = 0;
    bool done = false;
    while (!done) {
        enum pv_code code = migrate_step(conn, &done, err);
        if (code != PV_OK)
            return code;
        n += done ? 0 : 1;
    }
    *applied = n;
    return PV_OK;
}

enum pv_code store_migrate(const char *conninfo, unsigned *applied, struct pv_error *err)
{
    struct conninfo info = {0};
    enum pv_code code = conninfo_parse(conninfo, &info, err);
    if (code != PV_OK)
        return code;
    PGconn *conn = NULL;
    code = connection_open(&info, &conn, err);
    if (code == PV_OK)
        code = migrate(conn, applied, err);
    PQfinish(conn);
    conninfo_free(&info);
    return code;
}

enum pv_code store_ready(struct store *store, struct pv_error *err)
{
    struct sql sql;
    sql_init(&sql, NULL, "SELECT max(version) FROM provisor.migration");
    result_auto_t *result = NULL;
    PV_TRY(store_query_alone(store, &sql, &result, err));
    int64_t version = RUN_UNKNOWN;
    struct row row = row_at(result, 0, NULL);
    version = row_int(&row);
    if (version < (int64_t)n_migrations)
        return pv_fail(err, PV_E_UNAVAILABLE, "the database has not been migrated yet");
    return PV_OK;
}
