#include "store/clusters/performance.h"

#include "store/clusters/performance_internal.h"

/* --- holding --- */

/* The cluster and the senders, kept from being deleted until the transaction ends. */
static enum pv_code find_clusters(struct store_tx *tx,
                                  struct arena *arena,
                                  const struct performance_named *named,
                                  struct performance_held *held,
                                  bool *found,
                                  struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    struct performance_index senders;
    PV_TRY(performance_index_make(&senders, arena, named->senders, named->n_senders,
                                  sizeof *named->senders, err));
    tx_sql(tx, &sql,
           "SELECT name = $2, name, id FROM provisor.cluster"
           " WHERE team_id = $1 AND (name = $2 OR name = ANY ($3)) ORDER BY id FOR KEY SHARE");
    sql_text(&sql, named->cluster);
    sql_texts(&sql, named->senders, named->n_senders, sizeof *named->senders);
    PV_TRY(tx_query(tx, &sql, &result, err));
    *found = false;
    for (size_t i = 0, n = row_count(result); i < n; i++) {
        size_t at = 0;
        struct row row = row_at(result, (int)i, &tx->scratch);
        bool self = row_bool(&row);
        bool sender = performance_index_text(&senders, &row, &at);
        if (self || sender)
            row_uuid(&row, self ? held->cluster_id : held->from_ids[at]);
        PV_TRY(row_done(&row, err));
        *found = *found || self;
    }
    return PV_OK;
}

/* Ten half-lives, as for speeds: then nothing counts for more than 1/1024. */
static enum pv_code ask_report(struct store_tx *tx,
                               const struct performance_named *named,
                               const char *cluster_id,
                               struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "INSERT INTO provisor.cluster_report AS r"
           " (team_id, cluster_id, first_us, newest_us, forgotten_at)"
           " VALUES ($1, $2, $3, $4, to_timestamp($4 / 1e6 + 10 * $5))"
           " ON CONFLICT (team_id, cluster_id) DO UPDATE SET"
           " first_us = least(r.first_us, EXCLUDED.first_us),"
           " newest_us = greatest(r.newest_us, EXCLUDED.newest_us),"
           " forgotten_at = greatest(r.forgotten_at, EXCLUDED.forgotten_at)"
           " RETURNING first_us, newest_us, outage_from_us, outage_until_us");
    sql_uuid(&sql, cluster_id);
    sql_int(&sql, named->first_us);
    sql_int(&sql, named->newest_us);
    sql_int(&sql, named->outage_half_life_s);
    return tx_send(tx, &sql, err);
}

static enum pv_code ask_speeds(struct store_tx *tx,
                               const struct performance_named *named,
                               const struct performance_held *held,
                               struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT operation, " PERFORMANCE_COLUMNS(
               "") " FROM provisor.cluster_processing WHERE team_id = $1 AND cluster_id = $2"
                   " AND operation = ANY ($3) AND forgotten_at > $4");
    sql_uuid(&sql, held->cluster_id);
    sql_texts(&sql, named->operations, named->n_operations, sizeof *named->operations);
    sql_instant(&sql, named->now_us);
    PV_TRY(tx_send(tx, &sql, err));
    tx_sql(tx, &sql,
           "SELECT from_id, " PERFORMANCE_COLUMNS(
               "") " FROM provisor.cluster_transfer WHERE team_id = $1 AND cluster_id = $2"
                   " AND from_id = ANY ($3) AND forgotten_at > $4");
    sql_uuid(&sql, held->cluster_id);
    sql_uuids(&sql, (const char *)held->from_ids, named->n_senders, sizeof *held->from_ids);
    sql_instant(&sql, named->now_us);
    return tx_send(tx, &sql, err);
}

static enum pv_code ask_counts(struct store_tx *tx,
                               const struct performance_named *named,
                               const struct performance_held *held,
                               struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT (SELECT count(*) FROM provisor.cluster_processing"
           "  WHERE team_id = $1 AND cluster_id = $2 AND forgotten_at > $3),"
           " (SELECT count(*) FROM provisor.cluster_transfer"
           "  WHERE team_id = $1 AND cluster_id = $2 AND forgotten_at > $3)");
    sql_uuid(&sql, held->cluster_id);
    sql_instant(&sql, named->now_us);
    return tx_send(tx, &sql, err);
}

static enum pv_code read_report(const PGresult *result,
                                struct arena *arena,
                                struct performance_held *held,
                                struct pv_error *err)
{
    struct row row = row_at(result, 0, arena);
    held->first_us = row_int(&row);
    held->newest_us = row_int(&row);
    held->outages = performance_outages_read(&row, &held->n_outages);
    return row_done(&row, err);
}

/* Rows whose first column says which it is. */
static enum pv_code
read_speeds(struct store_tx *tx,
            const PGresult *result,
            const struct performance_index *index,
            bool (*find)(const struct performance_index *, struct row *, size_t *),
            struct performance *speeds,
            struct pv_error *err)
{
    for (size_t i = 0, n = row_count(result); i < n; i++) {
        struct performance read;
        size_t at = 0;
        struct arena_mark mark = arena_mark(&tx->scratch);
        struct row row = row_at(result, (int)i, &tx->scratch);
        bool known = find(index, &row, &at);
        performance_row_read(&row, &read);
        PV_TRY(row_done(&row, err));
        arena_rewind(&tx->scratch, mark);
        if (known)
            speeds[at] = read;
    }
    return PV_OK;
}

static enum pv_code read_processing(struct store_tx *tx,
                                    const PGresult *result,
                                    const struct performance_named *named,
                                    struct performance_held *held,
                                    struct pv_error *err)
{
    struct performance_index index;
    PV_TRY(performance_index_make(&index, &tx->scratch, named->operations, named->n_operations,
                                  sizeof *named->operations, err));
    return read_speeds(tx, result, &index, performance_index_text, held->processing, err);
}

static enum pv_code read_transfers(struct store_tx *tx,
                                   const PGresult *result,
                                   const struct performance_named *named,
                                   struct performance_held *held,
                                   struct pv_error *err)
{
    struct performance_index index;
    struct strview *ids = arena_array(&tx->scratch, named->n_senders, sizeof *ids);
    if (ids == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < named->n_senders; i++)
        ids[i] = strview_of(held->from_ids[i]);
    PV_TRY(performance_index_make(&index, &tx->scratch, ids, named->n_senders, sizeof *ids, err));
    return read_speeds(tx, result, &index, performance_index_uuid, held->transfers, err);
}

static enum pv_code read_held(struct store_tx *tx,
                              struct arena *arena,
                              const struct performance_named *named,
                              struct performance_held *held,
                              struct pv_error *err)
{
    results_auto_t results = {{NULL}};
    PV_TRY(ask_report(tx, named, held->cluster_id, err));
    PV_TRY(ask_speeds(tx, named, held, err));
    PV_TRY(ask_counts(tx, named, held, err));
    PV_TRY(tx_results(tx, results.of, 4, err));
    PV_TRY(read_report(results.of[0], arena, held, err));
    PV_TRY(read_processing(tx, results.of[1], named, held, err));
    PV_TRY(read_transfers(tx, results.of[2], named, held, err));
    /* Those that are there, and those asked for that are not. */
    struct row row = row_at(results.of[3], 0, NULL);
    held->operations = row_int(&row) + (int64_t)(named->n_operations - row_count(results.of[1]));
    held->senders = row_int(&row) + (int64_t)(named->n_senders - row_count(results.of[2]));
    return PV_OK;
}

enum pv_code store_performance_hold(struct store_tx *tx,
                                    struct arena *arena,
                                    const struct performance_named *named,
                                    struct performance_held *held,
                                    bool *found,
                                    struct pv_error *err)
{
    struct performance_held read = {
        .processing = arena_calloc(arena, named->n_operations, sizeof *read.processing),
        .from_ids = arena_calloc(arena, named->n_senders, sizeof *read.from_ids),
        .transfers = arena_calloc(arena, named->n_senders, sizeof *read.transfers)};
    if (read.processing == NULL || read.from_ids == NULL || read.transfers == NULL)
        return pv_no_memory(err);
    PV_TRY(find_clusters(tx, arena, named, &read, found, err));
    for (size_t i = 0; i < named->n_senders; i++)
        if (read.from_ids[i][0] == '\0') {
            *held = read;
            return PV_OK;
        }
    if (*found)
        PV_TRY(read_held(tx, arena, named, &read, err));
    *held = read;
    return PV_OK;
}

/* --- saving --- */

#define INSERT(table, key)                                                                         \
    "INSERT INTO provisor." table " (team_id, cluster_id, " key                                    \
    ", landmark_us, half_life_s, level,"                                                           \
    " samples, newest_us, forgotten_at, bins, weights, masses)"                                    \
    " SELECT $1, $2, s.key, s.landmark_us, s.half_life_s, s.level, s.samples, s.newest_us,"        \
    "  to_timestamp(s.forgotten_us / 1e6), ($12)[s.first:s.last], ($13)[s.first:s.last],"          \
    "  ($14)[s.first:s.last]"                                                                      \
    "  FROM unnest($3, $4, $5, $6, $7, $8, $9, $10::int[], $11::int[])"                            \
    "   AS s (key, landmark_us, half_life_s, level, samples, newest_us, forgotten_us, first, "     \
    "last)"                                                                                        \
    " ON CONFLICT (team_id, cluster_id, " key ") DO UPDATE SET (landmark_us, half_life_s, level,"  \
    "  samples, newest_us, forgotten_at, bins, weights, masses) = ROW (EXCLUDED.landmark_us,"      \
    "  EXCLUDED.half_life_s, EXCLUDED.level, EXCLUDED.samples, EXCLUDED.newest_us,"                \
    "  EXCLUDED.forgotten_at, EXCLUDED.bins, EXCLUDED.weights, EXCLUDED.masses)"

/* Rows that hold something, and their keys. */
struct filled {
    const struct performance **rows;
    struct strview *operations;
    char (*ids)[37];
    size_t n;
};

static enum pv_code find_filled(struct store_tx *tx,
                                const struct performance *all,
                                size_t n,
                                const struct strview *operations,
                                const char (*ids)[37],
                                struct filled *filled,
                                struct pv_error *err)
{
    filled->n = 0;
    filled->rows = arena_array(&tx->scratch, n, sizeof *filled->rows);
    filled->operations = arena_array(&tx->scratch, n, sizeof *filled->operations);
    filled->ids = arena_array(&tx->scratch, n, sizeof *filled->ids);
    if (filled->rows == NULL || filled->operations == NULL || filled->ids == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        if (all[i].n == 0)
            continue;
        filled->rows[filled->n] = &all[i];
        if (operations != NULL)
            filled->operations[filled->n] = operations[i];
        if (ids != NULL)
            memcpy(filled->ids[filled->n], ids[i], sizeof *ids);
        filled->n++;
    }
    return PV_OK;
}

/* operations or ids: the keys of the rows. */
static enum pv_code save_rows(struct store_tx *tx,
                              const char *cluster_id,
                              const struct performance *all,
                              size_t n,
                              const struct strview *operations,
                              const char (*ids)[37],
                              struct pv_error *err)
{
    struct sql sql;
    struct filled filled;
    PV_TRY(find_filled(tx, all, n, operations, ids, &filled, err));
    if (filled.n == 0)
        return PV_OK;
    tx_sql(tx, &sql,
           operations != NULL ? INSERT("cluster_processing", "operation")
                              : INSERT("cluster_transfer", "from_id"));
    sql_uuid(&sql, cluster_id);
    if (operations != NULL)
        sql_texts(&sql, filled.operations, filled.n, sizeof *filled.operations);
    else
        sql_uuids(&sql, (const char *)filled.ids, filled.n, sizeof *filled.ids);
    performance_rows_bind(&sql, filled.rows, filled.n);
    return tx_defer(tx, &sql, err);
}

static enum pv_code
save_outages(struct store_tx *tx, const struct performance_held *held, struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "UPDATE provisor.cluster_report SET outage_from_us = $3, outage_until_us = $4"
           " WHERE team_id = $1 AND cluster_id = $2"
           " AND (outage_from_us, outage_until_us) IS DISTINCT FROM ($3, $4)");
    sql_uuid(&sql, held->cluster_id);
    columns_bind_all(&sql, &performance_outage_columns, held->outages, held->n_outages);
    return tx_defer(tx, &sql, err);
}

enum pv_code store_performance_save(struct store_tx *tx,
                                    const struct performance_named *named,
                                    const struct performance_held *held,
                                    struct pv_error *err)
{
    PV_TRY(save_rows(tx, held->cluster_id, held->processing, named->n_operations, named->operations,
                     NULL, err));
    PV_TRY(save_rows(tx, held->cluster_id, held->transfers, named->n_senders, NULL,
                     (const char(*)[37])held->from_ids, err));
    PV_TRY(save_outages(tx, held, err));
    return journal_audit(tx, "cluster.samples", "cluster", named->cluster, err);
}

/* --- what is forgotten --- */

static enum pv_code expire_from(
    struct store_tx *tx, const char *statement, size_t batch, size_t *gone, struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    tx_sql(tx, &sql, statement);
    sql_int(&sql, (int64_t)batch);
    PV_TRY(tx_query(tx, &sql, &result, err));
    if (row_count(result) > *gone)
        *gone = row_count(result);
    return PV_OK;
}

#define EXPIRE(table)                                                                              \
    "DELETE FROM provisor." table " WHERE ctid = ANY (ARRAY(SELECT ctid FROM provisor." table      \
    " WHERE team_id = $1 AND forgotten_at <= now() LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING 1"

enum pv_code
store_performance_expire(struct store_tx *tx, size_t batch, size_t *gone, struct pv_error *err)
{
    static const char *const statements[] = {EXPIRE("cluster_processing"),
                                             EXPIRE("cluster_transfer"), EXPIRE("cluster_report")};
    *gone = 0;
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        PV_TRY(expire_from(tx, statements[i], batch, gone, err));
    return PV_OK;
}

/* --- showing --- */

/* From one operation to the next through the index: there may be many rows of each. */
enum pv_code store_performance_operations(struct store_tx *tx,
                                          struct arena *arena,
                                          const char *cluster_id,
                                          size_t most,
                                          struct strview **operations,
                                          size_t *n,
                                          struct pv_error *err)
{
    static const struct column operation = {"operation", .kind = COLUMN_KIND_TEXT};
    static const struct columns columns = {"operation", &operation, 1, sizeof(struct strview)};
    struct sql sql;
    result_auto_t *result = NULL;
    bool more;
    tx_sql(tx, &sql,
           "WITH RECURSIVE known AS ("
           " (SELECT operation FROM provisor.cluster_processing WHERE team_id = $1"
           "   ORDER BY operation LIMIT 1)"
           " UNION ALL"
           " SELECT (SELECT p.operation FROM provisor.cluster_processing p"
           "          WHERE p.team_id = $1 AND p.operation > k.operation"
           "          ORDER BY p.operation LIMIT 1)"
           "   FROM known k WHERE k.operation IS NOT NULL)"
           " (SELECT operation FROM known WHERE operation IS NOT NULL LIMIT $3)"
           " UNION SELECT operation FROM provisor.cluster_processing"
           "  WHERE team_id = $1 AND cluster_id = $2 ORDER BY operation");
    sql_uuid(&sql, cluster_id);
    sql_int(&sql, (int64_t)most);
    PV_TRY(tx_query(tx, &sql, &result, err));
    return columns_read_items(result, SIZE_MAX, arena, &columns, operations, n, &more, err);
}
