#include "store/sql/online_index.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "store/sql/schema_transaction.h"
#include "store/store_internal.h"

/*
 * CREATE INDEX CONCURRENTLY waits for whoever writes to the table and for older snapshots, under a
 * lock that stops neither readers nor writers; so it has no time limit. What it was making when it
 * failed stays behind, marked invalid: every writer keeps it up and no reader uses it. A name that
 * is taken is no error to IF NOT EXISTS, hence the look at what is there.
 *
 * On a partitioned table the index of the parent is made empty (ON ONLY), which takes a moment's
 * lock; from then on new partitions come with theirs. Those of the others are made one by one and
 * attached, and with the last the parent's becomes valid.
 */
enum { STATEMENT_MAX = 4096 };

__attribute__((format(printf, 3, 4))) static enum pv_code
write_statement(char text[STATEMENT_MAX], struct pv_error *err, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text, STATEMENT_MAX, format, arguments);
    va_end(arguments);
    return n >= 0 && n < STATEMENT_MAX ? PV_OK : pv_fail(err, PV_E_INTERNAL, "an index too long");
}

static enum pv_code
ask(PGconn *conn, const char *text, const char *of, PGresult **answer, struct pv_error *err)
{
    *answer = PQexecParams(conn, text, 1, NULL, &of, NULL, NULL, 0);
    return schema_judge(conn, *answer, err);
}

enum state { INDEX_MISSING, INDEX_INVALID, INDEX_VALID };

static enum pv_code
look_at(PGconn *conn, const char *index, enum state *state, struct pv_error *err)
{
    result_auto_t *found = NULL;
    PV_TRY(ask(conn,
               "SELECT indisvalid FROM pg_catalog.pg_index"
               " WHERE indexrelid = to_regclass('provisor.' || $1)",
               index, &found, err));
    *state = INDEX_MISSING;
    if (PQntuples(found) > 0)
        *state = PQgetvalue(found, 0, 0)[0] == 't' ? INDEX_VALID : INDEX_INVALID;
    return PV_OK;
}

/* On a table that is not partitioned, or on a partition. Both names are quoted where they need it.
 */
static enum pv_code build(PGconn *conn,
                          const struct online_index *index,
                          const char *name,
                          const char *table,
                          struct pv_error *err)
{
    char text[STATEMENT_MAX];
    enum state state;
    PV_TRY(look_at(conn, name, &state, err));
    if (state == INDEX_VALID)
        return PV_OK;
    if (state == INDEX_INVALID) {
        PV_TRY(write_statement(text, err, "DROP INDEX CONCURRENTLY provisor.%s", name));
        PV_TRY(schema_run(conn, text, err));
    }
    PV_TRY(write_statement(text, err, "CREATE %sINDEX CONCURRENTLY %s ON provisor.%s %s",
                           index->unique ? "UNIQUE " : "", name, table, index->definition));
    return schema_run(conn, text, err);
}

static enum pv_code
run_quickly(PGconn *conn, unsigned lock_timeout_ms, const char *text, struct pv_error *err)
{
    PV_TRY(schema_begin(conn, lock_timeout_ms, err));
    return schema_end(conn, schema_run(conn, text, err), err);
}

static enum pv_code make_parent(PGconn *conn,
                                unsigned lock_timeout_ms,
                                const struct online_index *index,
                                struct pv_error *err)
{
    char text[STATEMENT_MAX];
    PV_TRY(write_statement(text, err, "CREATE %sINDEX IF NOT EXISTS %s ON ONLY provisor.%s %s",
                           index->unique ? "UNIQUE " : "", index->name, index->table,
                           index->definition));
    return run_quickly(conn, lock_timeout_ms, text, err);
}

/* run_newest on run_2026_02 is run_newest_2026_02. */
static enum pv_code list_partitions_without(PGconn *conn,
                                            const struct online_index *index,
                                            PGresult **list,
                                            struct pv_error *err)
{
    const char *values[] = {index->name, index->table};
    *list = PQexecParams(
        conn,
        "SELECT quote_ident(c.relname), quote_ident($1 || substr(c.relname, length($2) + 1))"
        "  FROM pg_catalog.pg_inherits p JOIN pg_catalog.pg_class c ON c.oid = p.inhrelid"
        " WHERE p.inhparent = to_regclass('provisor.' || $2)"
        "   AND NOT EXISTS (SELECT FROM pg_catalog.pg_inherits i"
        "                     JOIN pg_catalog.pg_index x ON x.indexrelid = i.inhrelid"
        "                    WHERE i.inhparent = to_regclass('provisor.' || $1)"
        "                      AND x.indrelid = c.oid)"
        " ORDER BY c.relname",
        2, NULL, values, NULL, NULL, 0);
    return schema_judge(conn, *list, err);
}

static enum pv_code make_partitions(PGconn *conn,
                                    unsigned lock_timeout_ms,
                                    const struct online_index *index,
                                    struct pv_error *err)
{
    char text[STATEMENT_MAX];
    result_auto_t *list = NULL;
    PV_TRY(list_partitions_without(conn, index, &list, err));
    for (int i = 0; i < PQntuples(list); i++) {
        const char *partition = PQgetvalue(list, i, 0);
        const char *name = PQgetvalue(list, i, 1);
        PV_TRY(build(conn, index, name, partition, err));
        PV_TRY(write_statement(text, err, "ALTER INDEX provisor.%s ATTACH PARTITION provisor.%s",
                               index->name, name));
        PV_TRY(run_quickly(conn, lock_timeout_ms, text, err));
    }
    return PV_OK;
}

enum pv_code online_index_make(PGconn *conn,
                               unsigned lock_timeout_ms,
                               const struct online_index *index,
                               struct pv_error *err)
{
    result_auto_t *kind = NULL;
    enum state state;
    PV_TRY(schema_run(conn, "SET lock_timeout = 0; SET statement_timeout = 0", err));
    PV_TRY(ask(conn,
               "SELECT relkind FROM pg_catalog.pg_class WHERE oid = to_regclass('provisor.' || $1)",
               index->table, &kind, err));
    if (PQntuples(kind) == 0)
        return pv_fail(err, PV_E_INTERNAL, "migrating: there is no table %s", index->table);
    if (PQgetvalue(kind, 0, 0)[0] != 'p')
        return build(conn, index, index->name, index->table, err);
    PV_TRY(make_parent(conn, lock_timeout_ms, index, err));
    PV_TRY(make_partitions(conn, lock_timeout_ms, index, err));
    PV_TRY(look_at(conn, index->name, &state, err));
    return state == INDEX_VALID
               ? PV_OK
               : pv_fail(err, PV_E_RETRY, "migrating: the index %s is not valid yet", index->name);
}
