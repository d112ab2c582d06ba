#include "store/clusters/cluster.h"

#include "store/clusters/reference.h"
#include "store/sql/columns.h"
#include "threads/clock.h"

/* Read with its price book b. */
#define C struct cluster
static const struct column of_cluster[] = {
    {"c.id", COLUMN_ID(C, id), .computed = true},
    {"c.name", COLUMN_TEXT(C, name), .computed = true},
    {"description", COLUMN_TEXT(C, description)},
    {"label_keys, label_values", COLUMN_PAIRS(C, labels, n_labels)},
    {"executors", COLUMN_COUNT(C, traits.executors)},
    {"cores_per_executor", COLUMN_COUNT(C, traits.cores_per_executor)},
    {"memory_bytes_per_executor", COLUMN_COUNT(C, traits.memory_bytes_per_executor)},
    {"slots", COLUMN_COUNT(C, traits.slots)},
    {"slot_s", COLUMN_NUMBER(C, traits.slot_s)},
    {"unreachable_probability", COLUMN_NUMBER(C, traits.unreachable_probability)},
    {"ingress_bytes_per_s", COLUMN_NUMBER(C, traits.ingress_bytes_per_s)},
    {"egress_bytes_per_s", COLUMN_NUMBER(C, traits.egress_bytes_per_s)},
    {"machine_type", COLUMN_TEXT(C, traits.machine_type)},
    {"price_book_id", COLUMN_ID(C, price_book_id)},
    {"b.name", COLUMN_TEXT(C, price_book), .computed = true},
    {"c.version", COLUMN_COUNT(C, version), .computed = true},
    {"c.created_at", COLUMN_INSTANT(C, created_us), .computed = true},
    {"c.updated_at", COLUMN_INSTANT(C, updated_us), .computed = true},
};
static const struct columns columns = {"cluster", COLUMNS_OF(of_cluster, C)};

#define WITH_BOOK                                                                                  \
    " LEFT JOIN provisor.price_book b ON b.team_id = c.team_id AND b.id = c.price_book_id"

/* One row or none; *found tells. */
static enum pv_code query_one(struct store_tx *tx,
                              const struct sql *sql,
                              struct arena *arena,
                              struct cluster *cluster,
                              bool *found,
                              struct pv_error *err)
{
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, sql, &result, err));
    *found = row_count(result) > 0;
    if (*found)
        PV_TRY(columns_read_row(result, 0, arena, &columns, cluster, err));
    return PV_OK;
}

enum pv_code store_cluster_look(struct store_tx *tx,
                                struct arena *arena,
                                const char *name,
                                struct cluster *cluster,
                                bool *found,
                                struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {cluster} FROM provisor.cluster c" WITH_BOOK
        " WHERE c.team_id = $1 AND c.name = $2",
        .of = {&columns}};
    struct sql sql;
    tx_columns(tx, &sql, &statement);
    sql.repeated = true;
    sql_text(&sql, strview_of(name));
    return query_one(tx, &sql, arena, cluster, found, err);
}

enum pv_code store_cluster_hold(struct store_tx *tx,
                                struct arena *arena,
                                const char *name,
                                struct cluster *cluster,
                                bool *found,
                                struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {cluster} FROM provisor.cluster c" WITH_BOOK
        " WHERE c.team_id = $1 AND c.name = $2 FOR NO KEY UPDATE OF c",
        .of = {&columns}};
    struct sql sql;
    tx_columns(tx, &sql, &statement);
    sql.repeated = true;
    sql_text(&sql, strview_of(name));
    return query_one(tx, &sql, arena, cluster, found, err);
}

enum pv_code store_cluster_of_names(struct store_tx *tx,
                                    struct arena *arena,
                                    const struct strview names[],
                                    size_t n,
                                    struct cluster clusters[],
                                    struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT a.at, {cluster} FROM unnest($2) WITH ORDINALITY AS a (name, at)"
        " JOIN provisor.cluster c ON c.team_id = $1 AND c.name = a.name" WITH_BOOK,
        .of = {&columns}};
    struct sql sql;
    result_auto_t *result = NULL;
    tx_columns(tx, &sql, &statement);
    sql.repeated = true;
    sql_texts(&sql, names, n, sizeof *names);
    PV_TRY(tx_query(tx, &sql, &result, err));
    for (size_t i = 0; i < n; i++)
        clusters[i] = (struct cluster){.id = ""};
    for (size_t i = 0; i < row_count(result); i++) {
        struct row row = row_at(result, (int)i, arena);
        int64_t at = row_int(&row);
        struct cluster c;
        columns_read(&row, &columns, &c);
        PV_TRY(row_done(&row, err));
        if (at >= 1 && (size_t)at <= n)
            clusters[at - 1] = c;
    }
    return PV_OK;
}

/* Prices may have named it before it came. */
static enum pv_code
adopt_prices(struct store_tx *tx, const struct cluster *made, struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "UPDATE provisor.price SET cluster_id = $2 WHERE team_id = $1 AND cluster = $3");
    sql_uuid(&sql, made->id);
    sql_text(&sql, made->name);
    return tx_defer(tx, &sql, err);
}

enum pv_code store_cluster_insert(struct store_tx *tx,
                                  struct arena *arena,
                                  int64_t most,
                                  struct cluster *cluster,
                                  struct pv_error *err)
{
    static struct columns_statement statement = {
        "WITH c AS (INSERT INTO provisor.cluster (team_id, id, name, {cluster:written})"
        " VALUES ($1, $2, $3, {cluster:values}) RETURNING *)"
        " SELECT {cluster} FROM c" WITH_BOOK,
        .of = {&columns}};
    char id[37];
    bool made;
    struct sql sql;
    struct cluster stored = {.id = ""};
    clock_uuid7(id);
    PV_TRY(store_registry_check_number(tx, REFERENCE_TO_CLUSTER, most, err));
    tx_columns(tx, &sql, &statement);
    sql_uuid(&sql, id);
    sql_text(&sql, cluster->name);
    columns_bind(&sql, &columns, cluster);
    PV_TRY(query_one(tx, &sql, arena, &stored, &made, err));
    PV_TRY(adopt_prices(tx, &stored, err));
    PV_TRY(journal_audit(tx, "cluster.insert", "cluster", stored.name, err));
    *cluster = stored;
    return PV_OK;
}

enum pv_code store_cluster_update(struct store_tx *tx,
                                  struct arena *arena,
                                  struct cluster *cluster,
                                  struct pv_error *err)
{
    static struct columns_statement statement = {
        "WITH c AS (UPDATE provisor.cluster SET ({cluster:written}, version, updated_at)"
        " = ROW ({cluster:values}, version + 1, now()) WHERE team_id = $1 AND id = $2"
        " RETURNING *) SELECT {cluster} FROM c" WITH_BOOK,
        .of = {&columns}};
    bool there;
    struct sql sql;
    struct cluster stored;
    tx_columns(tx, &sql, &statement);
    sql_uuid(&sql, cluster->id);
    columns_bind(&sql, &columns, cluster);
    PV_TRY(query_one(tx, &sql, arena, &stored, &there, err));
    if (!there)
        return pv_fail(err, PV_E_RETRY, "the cluster has just been deleted");
    PV_TRY(journal_audit(tx, "cluster.update", "cluster", stored.name, err));
    *cluster = stored;
    return PV_OK;
}

enum pv_code
store_cluster_delete(struct store_tx *tx, const struct cluster *cluster, struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql, "DELETE FROM provisor.cluster WHERE team_id = $1 AND id = $2");
    sql_uuid(&sql, cluster->id);
    PV_TRY(tx_defer(tx, &sql, err));
    return journal_audit(tx, "cluster.delete", "cluster", cluster->name, err);
}

enum pv_code store_cluster_list(struct store_tx *tx,
                                struct arena *arena,
                                const struct cluster_filter *filter,
                                const char *after,
                                size_t limit,
                                struct cluster_list *list,
                                struct pv_error *err)
{
    static struct columns_statement statement = {
        "SELECT {cluster} FROM provisor.cluster c" WITH_BOOK
        " WHERE c.team_id = $1 AND c.name > $2 AND ($3 IS NULL OR b.name = $3)"
        " AND ($4 IS NULL OR c.machine_type = $4)"
        " AND NOT EXISTS (SELECT FROM unnest($5, $6) AS asked (key, value)"
        "  WHERE NOT EXISTS (SELECT FROM unnest(c.label_keys, c.label_values) AS has (key, value)"
        "   WHERE has.key = asked.key AND has.value = asked.value))"
        " ORDER BY c.name LIMIT $7",
        .of = {&columns}};
    struct sql sql;
    result_auto_t *result = NULL;
    tx_columns(tx, &sql, &statement);
    sql_text(&sql, strview_of(after));
    sql_text(&sql, strview_of(filter->price_book));
    sql_text(&sql, strview_of(filter->machine_type));
    sql_pairs(&sql, filter->labels, filter->n_labels);
    sql_int(&sql, (int64_t)limit + 1);
    PV_TRY(tx_query(tx, &sql, &result, err));
    return columns_read_list(result, limit, arena, &columns, list, err);
}
