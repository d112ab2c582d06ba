#include "store/history/ingestion.h"

#include <string.h>

#include "store/sql/columns.h"
#include "threads/clock.h"

#define I struct ingestion
static const struct column of_ingestion[] = {
    {"id", COLUMN_ID(I, id)},
    {"at", COLUMN_INSTANT(I, at_us), .computed = true},
    {"last_at", COLUMN_INSTANT(I, last_us), .computed = true},
    {"attempts", COLUMN_COUNT(I, attempts), .computed = true},
    {"token_id", COLUMN_ID(I, token_id)},
    {"actor", COLUMN_TEXT(I, actor)},
    {"request_id", COLUMN_TEXT(I, request_id)},
    {"road", COLUMN_WORD(I, road, ingestion_road_words)},
    {"source", COLUMN_TEXT(I, source)},
    {"application", COLUMN_TEXT(I, application)},
    {"spark_application_id", COLUMN_TEXT(I, spark_application_id)},
    {"run_id", COLUMN_ID(I, run_id)},
    {"digest", COLUMN_TEXT(I, digest)},
    {"bytes", COLUMN_COUNT(I, bytes)},
    {"outcome", COLUMN_WORD(I, outcome, ingestion_outcome_words)},
    {"problem", COLUMN_TEXT(I, problem)},
    {"code", COLUMN_TEXT(I, code)},
    {"reason", COLUMN_TEXT(I, reason)},
    {"same", COLUMN_TEXT(I, same)},
    {"closed_at", COLUMN_INSTANT(I, closed_us), .computed = true},
};
static const struct columns columns = {"ingestion", COLUMNS_OF(of_ingestion, I)};

/* A repeated attempt moves the record to the end of the list and opens it again. */
#define INSERT                                                                                     \
    "INSERT INTO provisor.ingestion (team_id, {ingestion:written})"                                \
    " VALUES ($1, {ingestion:values})"                                                             \
    " ON CONFLICT (team_id, same) WHERE same IS NOT NULL DO UPDATE SET id = EXCLUDED.id,"          \
    " last_at = clock_timestamp(), attempts = ingestion.attempts + 1, token_id = "                 \
    "EXCLUDED.token_id, actor = EXCLUDED.actor, request_id = EXCLUDED.request_id, road = "         \
    "EXCLUDED.road, source = EXCLUDED.source, application = EXCLUDED.application, bytes = "        \
    "EXCLUDED.bytes, run_id = EXCLUDED.run_id, closed_at = NULL"

/* The record with who, which request and an id of its own. */
static struct ingestion complete(const struct store_tx *tx, const struct ingestion *ingestion)
{
    struct ingestion record = *ingestion;
    clock_uuid7(record.id);
    memcpy(record.token_id, tx->who.token_id, sizeof record.token_id);
    record.actor = strview_of(tx->who.actor);
    if (tx->request_id[0] != '\0')
        record.request_id = strview_of(tx->request_id);
    return record;
}

enum pv_code
store_ingestion_accept(struct store_tx *tx, const struct ingestion *ingestion, struct pv_error *err)
{
    static struct columns_statement statement = {
        "WITH closed AS (UPDATE provisor.ingestion SET closed_at = clock_timestamp(), run_id = $2"
        " WHERE team_id = $1 AND outcome = 'refused' AND closed_at IS NULL"
        " AND (digest = $3 OR spark_application_id = $4 OR source = $5"
        "  OR (application = $6 AND spark_application_id IS NULL AND source IS NULL))) " INSERT,
        .of = {&columns}};
    struct sql sql;
    struct ingestion record = complete(tx, ingestion);
    tx_columns(tx, &sql, &statement);
    sql.repeated = true;
    sql_uuid(&sql, record.run_id);
    sql_text(&sql, record.digest);
    sql_text(&sql, record.spark_application_id);
    sql_text(&sql, record.source);
    sql_text(&sql, record.application);
    columns_bind(&sql, &columns, &record);
    return tx_defer(tx, &sql, err);
}

enum pv_code store_ingestion_refuse(struct store_tx *tx,
                                    const struct ingestion *ingestion,
                                    int64_t most,
                                    struct pv_error *err)
{
    static struct columns_statement statement = {INSERT, .of = {&columns}};
    struct sql sql;
    struct ingestion record = complete(tx, ingestion);
    tx_columns(tx, &sql, &statement);
    sql.repeated = true;
    columns_bind(&sql, &columns, &record);
    PV_TRY(tx_defer(tx, &sql, err));
    if (record.is_no_log && record.source.at != NULL) {
        tx_sql(tx, &sql,
               "UPDATE provisor.ingestion SET closed_at = last_at WHERE team_id = $1 AND id = $2");
        sql.repeated = true;
        sql_uuid(&sql, record.id);
        PV_TRY(tx_defer(tx, &sql, err));
    }
    tx_sql(tx, &sql,
           "WITH old AS MATERIALIZED (SELECT id FROM provisor.ingestion"
           "  WHERE team_id = $1 AND same IS NOT NULL ORDER BY id DESC OFFSET $2 LIMIT 100),"
           /* Rows that another refusal deletes at the same time are left to it. */
           " locked AS MATERIALIZED (SELECT id FROM provisor.ingestion"
           "  WHERE team_id = $1 AND id IN (SELECT id FROM old) FOR UPDATE SKIP LOCKED)"
           " DELETE FROM provisor.ingestion WHERE team_id = $1 AND id IN (SELECT id FROM locked)");
    sql.repeated = true;
    sql_int(&sql, most);
    return tx_defer(tx, &sql, err);
}

static struct strview filter_text(const char *text)
{
    return text == NULL ? (struct strview){NULL, 0} : strview_of(text);
}

/* Ids are UUIDv7: their order is the order of time. */
enum pv_code store_ingestion_list(struct store_tx *tx,
                                  struct arena *arena,
                                  const struct ingestion_filter *filter,
                                  const char *before,
                                  size_t limit,
                                  struct ingestion_list *list,
                                  struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {ingestion} FROM provisor.ingestion WHERE team_id = $1"
        " AND id < coalesce($2, 'ffffffff-ffff-ffff-ffff-ffffffffffff')"
        " AND ($3::text IS NULL OR application = $3) AND ($4::text IS NULL OR outcome = $4)"
        " AND (NOT $5 OR (outcome = 'refused' AND closed_at IS NULL))"
        " AND ($6::timestamptz IS NULL OR id >= provisor.uuid7_floor($6))"
        " ORDER BY id DESC LIMIT $7",
        .of = {&columns}};
    struct sql sql;
    result_auto_t *result = NULL;
    tx_columns(tx, &sql, &statement);
    sql_uuid(&sql, before);
    sql_text(&sql, filter_text(filter->application));
    sql_text(&sql, filter_text(filter->outcome));
    sql_bool(&sql, filter->open);
    sql_instant(&sql, filter->since_us);
    sql_int(&sql, (int64_t)limit + 1);
    PV_TRY(tx_query(tx, &sql, &result, err));
    return columns_read_list(result, limit, arena, &columns, list, err);
}

enum pv_code
ingestion_delete_of_application(struct store_tx *tx, const char *application, struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql, "DELETE FROM provisor.ingestion WHERE team_id = $1 AND application = $2");
    sql_text(&sql, strview_of(application));
    return tx_defer(tx, &sql, err);
}

enum pv_code store_ingestions_expire(
    struct store_tx *tx, int64_t days, size_t batch, size_t *gone, struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    tx_sql(tx, &sql,
           "WITH gone AS (DELETE FROM provisor.ingestion WHERE team_id = $1 AND id IN"
           " (SELECT id FROM provisor.ingestion WHERE team_id = $1"
           "  AND id < provisor.uuid7_floor(now() - greatest($2, 30) * interval '1 day')"
           "  ORDER BY id LIMIT $3) RETURNING 1)"
           " SELECT count(*) FROM gone");
    sql_int(&sql, days);
    sql_int(&sql, (int64_t)batch);
    PV_TRY(tx_query(tx, &sql, &result, err));
    struct row row = row_at(result, 0, NULL);
    *gone = (size_t)row_int(&row);
    return row_done(&row, err);
}
