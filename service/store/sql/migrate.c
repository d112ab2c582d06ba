#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/log.h"
#include "store/sql/migrations.h"
#include "store/sql/schema_transaction.h"
#include "store/store_internal.h"
#include "threads/clock.h"

/*
 * Runs with a connection of its own, as the schema's owner. Of several processes one takes a step
 * at a time: it holds an advisory lock, which is tried and never waited for, since who waits inside
 * a statement keeps a snapshot that CREATE INDEX CONCURRENTLY would wait for in turn. A step looks
 * anew at what there is.
 *
 * Most steps are one transaction. One that asks for a table that somebody still reads (an export,
 * a dump) would wait, and everybody else behind it; so it gives up after a moment, lets the others
 * pass and tries again. Making an index needs no transaction and keeps nobody waiting.
 */

/* "provisor" as a number: nobody else's lock. */
#define LOCK "8102099357864587890"
#define TRY_LOCK "SELECT pg_try_advisory_xact_lock(" LOCK ")"
/* A pooler would give the statements of one session to several: then it is not taken at all. */
#define TRY_SESSION_LOCK                                                                           \
    "SELECT CASE WHEN pg_backend_pid() = $1 THEN pg_try_advisory_lock(" LOCK ") END"
#define END_SESSION_LOCK "SELECT pg_advisory_unlock(" LOCK ")"

#define FRAME                                                                                      \
    "CREATE SCHEMA IF NOT EXISTS provisor;"                                                        \
    "CREATE TABLE IF NOT EXISTS provisor.migration ("                                              \
    " version integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,"                    \
    " applied_at timestamptz NOT NULL DEFAULT now())"

/* The column is younger than the table: as JSON a row may lack it. */
#define OLDEST_PROGRAM "coalesce((to_jsonb(m) ->> 'oldest_program')::bigint, 0)"

enum {
    TURN_PAUSE_MS = 50,        /* while another process is at it */
    LOCK_PAUSE_FIRST_MS = 100, /* while a table is in use; doubles */
    LOCK_PAUSE_MAX_MS = 2000
};

struct migrating {
    const struct store_migrate_options *options;
    PGconn *conn;
    unsigned version;    /* that the database has */
    bool done;           /* that is all there is */
    bool others_turn;    /* another process held the lock */
    unsigned locks_lost; /* in this step */
};

unsigned migrate_newest(void)
{
    return (unsigned)n_migrations;
}

/* --- what there is --- */

/* Newer than this program: made by a later one, which says from which program on it works. */
static enum pv_code check_newer(const PGresult *result, int i, struct pv_error *err)
{
    unsigned long oldest = strtoul(PQgetvalue(result, i, 2), NULL, 10);
    if (oldest <= n_migrations)
        return PV_OK;
    return pv_fail(err, PV_E_INTERNAL,
                   "the database at version %s works with programs from version %lu on; this one "
                   "is at %zu",
                   PQgetvalue(result, i, 0), oldest, n_migrations);
}

static enum pv_code check_known(const PGresult *result, unsigned *version, struct pv_error *err)
{
    int n = PQntuples(result);
    for (int i = 0; i < n; i++) {
        unsigned long stored = strtoul(PQgetvalue(result, i, 0), NULL, 10);
        if (stored > n_migrations) {
            PV_TRY(check_newer(result, i, err));
            continue;
        }
        if (stored != (unsigned long)i + 1 ||
            strcmp(PQgetvalue(result, i, 1), migrations[i].checksum) != 0)
            return pv_fail(err, PV_E_INTERNAL,
                           "migration %lu in the database is not the one in this program", stored);
    }
    *version = (unsigned)n;
    return PV_OK;
}

/* The version the database has; what this program knows of it must be what it would have made. */
static enum pv_code read_version(PGconn *conn, unsigned *version, struct pv_error *err)
{
    result_auto_t *result = PQexec(conn, "SELECT version, checksum, " OLDEST_PROGRAM
                                         " FROM provisor.migration m ORDER BY version");
    PV_TRY(schema_judge(conn, result, err));
    return check_known(result, version, err);
}

static bool is_newest(unsigned version)
{
    return version >= n_migrations;
}

static enum pv_code
write_down(PGconn *conn, const struct migration *migration, struct pv_error *err)
{
    char version[16];
    char oldest[16];
    (void)snprintf(version, sizeof version, "%u", migration->version);
    (void)snprintf(oldest, sizeof oldest, "%u", migration->oldest_program);
    const char *values[] = {version, migration->name, migration->checksum, oldest};
    /* The first migrations are older than the column, and have nothing to put into it. */
    const char *text = migration->oldest_program == 0
                           ? "INSERT INTO provisor.migration (version, name, checksum)"
                             " VALUES ($1, $2, $3)"
                           : "INSERT INTO provisor.migration (version, name, checksum,"
                             " oldest_program) VALUES ($1, $2, $3, $4)";
    result_auto_t *result = PQexecParams(conn, text, migration->oldest_program == 0 ? 3 : 4, NULL,
                                         values, NULL, NULL, 0);
    PV_TRY(schema_judge(conn, result, err));
    LOG_EVENT(LOG_INFO, "store.migrated", NULL, LOG_COUNT("version", migration->version),
              LOG_TEXT("name", migration->name));
    return PV_OK;
}

/* --- a step --- */

static enum pv_code take_turn(struct migrating *m, const PGresult *answer, struct pv_error *err)
{
    PV_TRY(schema_judge(m->conn, answer, err));
    if (PQgetisnull(answer, 0, 0))
        return pv_fail(err, PV_E_INTERNAL,
                       "migration %u makes an index, which needs a connection of its own: "
                       "database_owner_url leads through a pooler",
                       m->version + 1);
    m->others_turn = PQgetvalue(answer, 0, 0)[0] != 't';
    return m->others_turn ? pv_fail(err, PV_E_RETRY, "another process is applying migrations")
                          : PV_OK;
}

/* The next migration if it is a transaction, the grants if there is none left. */
static enum pv_code apply_inside(struct migrating *m, struct pv_error *err)
{
    result_auto_t *answer = PQexec(m->conn, TRY_LOCK);
    PV_TRY(take_turn(m, answer, err));
    PV_TRY(schema_run(m->conn, FRAME, err));
    PV_TRY(read_version(m->conn, &m->version, err));
    m->done = is_newest(m->version);
    if (m->done)
        return schema_run(m->conn, "SELECT provisor.grant_service()", err);
    const struct migration *next = &migrations[m->version];
    if (next->index != NULL)
        return PV_OK;
    PV_TRY(schema_run(m->conn, next->sql, err));
    return write_down(m->conn, next, err);
}

static enum pv_code
make_index(struct migrating *m, const struct migration *next, struct pv_error *err)
{
    unsigned version = 0;
    PV_TRY(read_version(m->conn, &version, err));
    if (version >= next->version) /* somebody else was quicker */
        return PV_OK;
    PV_TRY(online_index_make(m->conn, m->options->lock_timeout_ms, next->index, err));
    return write_down(m->conn, next, err);
}

static enum pv_code
apply_outside(struct migrating *m, const struct migration *next, struct pv_error *err)
{
    char pid[16];
    const char *values[] = {pid};
    (void)snprintf(pid, sizeof pid, "%d", PQbackendPID(m->conn));
    result_auto_t *answer = PQexecParams(m->conn, TRY_SESSION_LOCK, 1, NULL, values, NULL, NULL, 0);
    PV_TRY(take_turn(m, answer, err));
    enum pv_code code = make_index(m, next, err);
    PQclear(PQexec(m->conn, END_SESSION_LOCK));
    return code;
}

static enum pv_code migrate_step(struct migrating *m, struct pv_error *err)
{
    PV_TRY(schema_begin(m->conn, m->options->lock_timeout_ms, err));
    PV_TRY(schema_end(m->conn, apply_inside(m, err), err));
    if (!m->done && migrations[m->version].index != NULL)
        return apply_outside(m, &migrations[m->version], err);
    return PV_OK;
}

/* --- patience --- */

/* Who collided shall not meet again, hence chance; while a table stays in use, ever less often. */
static long pause_ms(const struct migrating *m)
{
    long ms = TURN_PAUSE_MS;
    if (!m->others_turn) {
        ms = LOCK_PAUSE_FIRST_MS;
        for (unsigned i = 1; i < m->locks_lost && ms < LOCK_PAUSE_MAX_MS; i++)
            ms *= 2;
        ms = ms < LOCK_PAUSE_MAX_MS ? ms : LOCK_PAUSE_MAX_MS;
    }
    return ms / 2 + (long)randombytes_uniform((uint32_t)ms / 2);
}

/* False when the program is ending. */
static bool let_others_pass(struct migrating *m)
{
    const struct store_migrate_options *options = m->options;
    if (!m->others_turn && m->locks_lost++ == 0)
        LOG_EVENT(LOG_INFO, "store.migration_waits", NULL, LOG_COUNT("version", m->version + 1));
    if (options->pause == NULL) {
        clock_sleep_ms(pause_ms(m));
        return true;
    }
    return options->pause(options->context, pause_ms(m));
}

static enum pv_code give_up(const struct migrating *m, struct pv_error *err)
{
    if (m->others_turn)
        return PV_E_RETRY;
    pv_error_clear(err);
    return pv_fail(err, PV_E_RETRY,
                   "migration %u (%s) needs a table that others did not let go of within %u s "
                   "(migrate_lock_wait_s)",
                   m->version + 1, is_newest(m->version) ? "grants" : migrations[m->version].name,
                   m->options->lock_wait_s);
}

static enum pv_code migrate_patiently(struct migrating *m, struct pv_error *err)
{
    uint64_t until_ns =
        clock_monotonic_ns() + (uint64_t)m->options->lock_wait_s * UINT64_C(1000000000);
    m->locks_lost = 0;
    for (;;) {
        enum pv_code code = migrate_step(m, err);
        if (code != PV_E_RETRY)
            return code;
        if (clock_monotonic_ns() >= until_ns)
            return give_up(m, err);
        if (!let_others_pass(m))
            return code;
        pv_error_clear(err);
    }
}

static enum pv_code migrate(struct migrating *m, unsigned *applied, struct pv_error *err)
{
    unsigned n = 0;
    while (!m->done) {
        PV_TRY(migrate_patiently(m, err));
        n += m->done ? 0 : 1;
    }
    *applied = n;
    return PV_OK;
}

enum pv_code
store_migrate(const struct store_migrate_options *options, unsigned *applied, struct pv_error *err)
{
    struct conninfo info = {0};
    struct migrating m = {.options = options};
    PV_TRY(conninfo_parse(options->conninfo, &info, err));
    enum pv_code code = connection_open(&info, &m.conn, err);
    if (code == PV_OK)
        code = migrate(&m, applied, err);
    PQfinish(m.conn);
    conninfo_free(&info);
    return code;
}
