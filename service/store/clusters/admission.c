#include "store/clusters/admission.h"

#include "store/outbox/outbox.h"
#include "store/sql/columns_query.h"
#include "threads/clock.h"

/* Read with its cluster c. One whose time is over is expired, though nobody has written it down. */
#define OVER "a.ended_at IS NULL AND a.expires_at <= clock_timestamp()"
#define STATUS "coalesce(a.ending, CASE WHEN " OVER " THEN 'expired' ELSE 'held' END)"
#define A struct admission
static const struct column of_admission[] = {
    {"a.id", COLUMN_ID(A, id), .computed = true},
    {"cluster_id", COLUMN_ID(A, cluster_id)},
    {"c.name", COLUMN_TEXT(A, cluster), .computed = true},
    {"application", COLUMN_TEXT(A, application)},
    {"advice_id", COLUMN_ID(A, advice_id)},
    {STATUS, COLUMN_WORD(A, status, admission_status_words), .computed = true},
    {"cores", COLUMN_NUMBER(A, cores)},
    {"granted_cores", COLUMN_NUMBER(A, granted_cores)},
    {"memory_bytes", COLUMN_COUNT(A, memory_bytes)},
    {"starts_at", COLUMN_INSTANT(A, starts_us)},
    {"deadline_at", COLUMN_INSTANT(A, deadline_us)},
    {"expires_at", COLUMN_INSTANT(A, expires_us)},
    {"coalesce(a.ended_at, CASE WHEN " OVER " THEN a.expires_at END)", COLUMN_INSTANT(A, ended_us),
     .computed = true},
    {"a.run_id", COLUMN_ID(A, run_id), .computed = true},
    {"a.created_at", COLUMN_INSTANT(A, created_us), .computed = true},
};
static const struct columns columns = {"admission", COLUMNS_OF(of_admission, A)};

#define WITH_CLUSTER " JOIN provisor.cluster c ON c.team_id = a.team_id AND c.id = a.cluster_id"

/* --- what is reserved --- */

#define R struct reservation
static const struct column of_reservation[] = {
    {"starts_at", COLUMN_INSTANT(R, begin_us)},
    {"expires_at", COLUMN_INSTANT(R, end_us)},
    {"round(granted_cores / 0.05)::bigint", COLUMN_COUNT(R, amounts.quanta)},
    {"memory_bytes", COLUMN_COUNT(R, amounts.memory_bytes)},
};
static const struct columns reservations = {"reservation", COLUMNS_OF(of_reservation, R)};

enum pv_code store_admission_holdings(struct store_tx *tx,
                                      struct arena *arena,
                                      const char *cluster_id,
                                      const char *except,
                                      struct admission_holdings *holdings,
                                      struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {reservation} FROM provisor.admission WHERE team_id = $1 AND cluster_id = $2"
        " AND id IS DISTINCT FROM $3 AND ended_at IS NULL AND expires_at > $4",
        .of = {&reservations}};
    struct {
        struct reservation *items;
        size_t n;
        bool more;
    } list = {NULL, 0, false};
    struct sql sql;
    result_auto_t *now = NULL;
    result_auto_t *result = NULL;
    tx_sql(tx, &sql, "SELECT clock_timestamp() WHERE $1::uuid IS NOT NULL");
    PV_TRY(tx_query(tx, &sql, &now, err));
    struct row row = row_at(now, 0, NULL);
    holdings->now_us = row_instant(&row);
    PV_TRY(row_done(&row, err));
    tx_columns(tx, &sql, &statement);
    sql_uuid(&sql, cluster_id);
    sql_uuid(&sql, except);
    sql_instant(&sql, holdings->now_us);
    PV_TRY(tx_query(tx, &sql, &result, err));
    PV_TRY(columns_read_list(result, row_count(result), arena, &reservations, &list, err));
    holdings->items = list.items;
    holdings->n = list.n;
    return PV_OK;
}

/* --- writing --- */

static enum pv_code
audit(struct store_tx *tx, const char *did, const char *id, struct pv_error *err)
{
    return journal_audit(tx, did, "admission", strview_of(id), err);
}

enum pv_code store_admission_insert(struct store_tx *tx,
                                    struct arena *arena,
                                    struct admission *admission,
                                    struct pv_error *err)
{
    static struct columns_statement statement = {
        "WITH a AS (INSERT INTO provisor.admission (team_id, id, created_at, {admission:written})"
        " VALUES ($1, $2, clock_timestamp(), {admission:values}) RETURNING *)"
        " SELECT {admission} FROM a" WITH_CLUSTER,
        .of = {&columns}};
    char id[37];
    struct sql sql;
    clock_uuid7(id);
    tx_columns(tx, &sql, &statement);
    sql_uuid(&sql, id);
    columns_bind(&sql, &columns, admission);
    PV_TRY(columns_query_one(tx, &sql, arena, &columns, admission, err));
    return audit(tx, "admission.insert", admission->id, err);
}

enum pv_code store_admission_find(struct store_tx *tx,
                                  struct arena *arena,
                                  const char *id,
                                  struct admission *admission,
                                  struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {admission} FROM provisor.admission a" WITH_CLUSTER
        " WHERE a.team_id = $1 AND a.id = $2",
        .of = {&columns}};
    struct sql sql;
    tx_columns(tx, &sql, &statement);
    sql_uuid(&sql, id);
    return columns_query_one(tx, &sql, arena, &columns, admission, err);
}

enum pv_code store_admission_hold(struct store_tx *tx,
                                  struct arena *arena,
                                  const char *id,
                                  struct admission *admission,
                                  struct pv_error *err)
{
    struct sql sql;
    PV_TRY(store_admission_find(tx, arena, id, admission, err));
    tx_sql(tx, &sql,
           "SELECT FROM provisor.cluster WHERE team_id = $1 AND id = $2 FOR NO KEY UPDATE");
    sql_uuid(&sql, admission->cluster_id);
    PV_TRY(tx_defer(tx, &sql, err));
    tx_sql(tx, &sql,
           "SELECT FROM provisor.admission WHERE team_id = $1 AND id = $2 FOR NO KEY UPDATE");
    sql_uuid(&sql, id);
    PV_TRY(tx_defer(tx, &sql, err));
    return store_admission_find(tx, arena, id, admission, err);
}

enum pv_code store_admission_extend(struct store_tx *tx,
                                    struct arena *arena,
                                    int64_t expires_us,
                                    struct admission *admission,
                                    struct pv_error *err)
{
    struct sql sql;
    char id[37];
    memcpy(id, admission->id, sizeof id);
    tx_sql(tx, &sql,
           "UPDATE provisor.admission SET expires_at = $3 WHERE team_id = $1 AND id = $2");
    sql_uuid(&sql, id);
    sql_instant(&sql, expires_us);
    PV_TRY(tx_defer(tx, &sql, err));
    PV_TRY(audit(tx, "admission.update", id, err));
    return store_admission_find(tx, arena, id, admission, err);
}

enum pv_code store_admission_release(struct store_tx *tx, const char *id, struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    tx_sql(tx, &sql,
           "WITH freed AS (UPDATE provisor.admission"
           " SET ended_at = greatest(clock_timestamp(), created_at), ending = 'released'"
           " WHERE team_id = $1 AND id = $2 AND ended_at IS NULL"
           " AND expires_at > clock_timestamp() RETURNING 1)"
           " SELECT EXISTS (SELECT FROM freed), EXISTS (SELECT FROM provisor.admission"
           "  WHERE team_id = $1 AND id = $2)");
    sql_uuid(&sql, id);
    PV_TRY(tx_query(tx, &sql, &result, err));
    struct row row = row_at(result, 0, NULL);
    bool freed = row_bool(&row);
    bool found = row_bool(&row);
    PV_TRY(row_done(&row, err));
    if (!found)
        return columns_none_there(&columns, err);
    return freed ? audit(tx, "admission.delete", id, err) : PV_OK;
}

enum pv_code admission_release_by_run(struct store_tx *tx,
                                      struct strview application,
                                      const struct run *run,
                                      struct pv_error *err)
{
    struct sql sql;
    if (!run->succeeded)
        return PV_OK;
    /* Of two runs at the same time each takes one: the second passes over what the first holds. */
    tx_sql(tx, &sql,
           "UPDATE provisor.admission a SET ended_at = clock_timestamp(), ending = 'released',"
           " run_id = $2 WHERE a.team_id = $1 AND a.id = (SELECT h.id FROM provisor.admission h"
           " WHERE h.team_id = $1 AND h.application = $3 AND h.ended_at IS NULL"
           " AND h.expires_at > clock_timestamp()"
           " AND (h.advice_id = $4 OR ((h.advice_id IS NULL OR $4 IS NULL)"
           "  AND h.starts_at <= clock_timestamp()"
           "  AND h.starts_at <= coalesce($5 + $6 * interval '1 second', clock_timestamp())))"
           " ORDER BY coalesce(h.advice_id = $4, false) DESC, h.starts_at, h.id"
           " LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)");
    sql.repeated = true;
    sql_uuid(&sql, run->id);
    sql_text(&sql, application);
    sql_uuid(&sql, run->advice_id);
    sql_instant(&sql, run->started_us);
    sql_double(&sql, run->duration_s);
    return tx_defer(tx, &sql, err);
}

/* --- lists --- */

static struct strview filter_text(const char *text)
{
    return text == NULL ? (struct strview){NULL, 0} : strview_of(text);
}

enum pv_code store_admission_list(struct store_tx *tx,
                                  struct arena *arena,
                                  const struct admission_filter *filter,
                                  const char *after,
                                  size_t limit,
                                  struct admission_list *list,
                                  struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {admission} FROM provisor.admission a" WITH_CLUSTER
        " WHERE a.team_id = $1 AND a.id > coalesce($2, '00000000-0000-0000-0000-000000000000')"
        " AND ($3::text IS NULL OR c.name = $3) AND ($4::text IS NULL OR a.application = $4)"
        " AND ($5::text IS NULL OR $5 = " STATUS ") ORDER BY a.id LIMIT $6",
        .of = {&columns}};
    struct sql sql;
    result_auto_t *result = NULL;
    tx_columns(tx, &sql, &statement);
    sql_uuid(&sql, after);
    sql_text(&sql, filter_text(filter->cluster));
    sql_text(&sql, filter_text(filter->application));
    sql_text(&sql, filter_text(filter->status));
    sql_int(&sql, (int64_t)limit + 1);
    PV_TRY(tx_query(tx, &sql, &result, err));
    return columns_read_list(result, limit, arena, &columns, list, err);
}

/* --- what is over --- */

enum pv_code
store_admissions_expire(struct store *store, int64_t batch, int64_t *expired, struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    sql_init(&sql, NULL, "SELECT expired FROM provisor.expire_admissions($1)");
    sql_int(&sql, batch);
    PV_TRY(store_query_alone(store, &sql, &result, err));
    struct row row = row_at(result, 0, NULL);
    *expired = row_int(&row);
    return row_done(&row, err);
}

enum pv_code store_admissions_delete_ended(
    struct store_tx *tx, int64_t days, size_t batch, size_t *gone, struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    tx_sql(tx, &sql,
           "WITH gone AS (DELETE FROM provisor.admission WHERE team_id = $1 AND id IN"
           " (SELECT id FROM provisor.admission WHERE team_id = $1"
           "  AND ended_at < now() - $2 * interval '1 day' ORDER BY ended_at LIMIT $3) RETURNING 1)"
           " SELECT count(*) FROM gone");
    sql_int(&sql, days);
    sql_int(&sql, (int64_t)batch);
    PV_TRY(tx_query(tx, &sql, &result, err));
    struct row row = row_at(result, 0, NULL);
    *gone = (size_t)row_int(&row);
    return row_done(&row, err);
}
