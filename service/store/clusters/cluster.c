#include "store/clusters/cluster.h"

#include "store/store_internal.h"
#include "threads/clock.h"

#define OF_CLUSTER                                                                                 \
    "c.id, c.name, c.description, c.label_keys, c.label_values, c.executors,"                      \
    " c.cores_per_executor, c.memory_bytes_per_executor, c.slots, c.slot_s,"                       \
    " c.unreachable_probability, c.ingress_bytes_per_s, c.egress_bytes_per_s, c.machine_type,"     \
    " c.price_book_id, b.name, c.version, c.created_at, c.updated_at"
#define WITH_BOOK                                                                                  \
    " LEFT JOIN provisor.price_book b ON b.team_id = c.team_id AND b.id = c.price_book_id"

static void read_traits(struct row *row, struct cluster_traits *traits)
{
    traits->executors = row_int(row);
    traits->cores_per_executor = row_int(row);
    traits->memory_bytes_per_executor = row_int(row);
    traits->slots = row_int(row);
    traits->slot_s = row_double(row);
    traits->unreachable_probability = row_double(row);
    traits->ingress_bytes_per_s = row_double(row);
    traits->egress_bytes_per_s = row_double(row);
    traits->machine_type = row_text(row);
}

static struct cluster read_columns(struct row *row)
{
    struct cluster c = {.id = ""};
    row_uuid(row, c.id);
    c.name = row_text(row);
    c.description = row_text(row);
    c.labels = row_pairs(row, &c.n_labels);
    read_traits(row, &c.traits);
    row_uuid(row, c.price_book_id);
    c.price_book = row_text(row);
    c.version = row_int(row);
    c.created_us = row_instant(row);
    c.updated_us = row_instant(row);
    return c;
}

static enum pv_code read_cluster(const PGresult *result,
                                 size_t at,
                                 struct arena *arena,
                                 struct cluster *cluster,
                                 struct pv_error *err)
{
    struct row row = row_at(result, (int)at, arena);
    struct cluster c = read_columns(&row);
    enum pv_code code = row_done(&row, err);
    if (code == PV_OK)
        *cluster = c;
    return code;
}

/* One row or none; *found tells. */
static enum pv_code query_one(struct store_tx *tx,
                              const struct sql *sql,
                              struct arena *arena,
                              struct cluster *cluster,
                              bool *found,
                              struct pv_error *err)
{
    PGresult *result;
    enum pv_code code = tx_query(tx, sql, &result, err);
    *found = code == PV_OK && row_count(result) > 0;
    if (*found)
        code = read_cluster(result, 0, arena, cluster, err);
    PQclear(result);
    return code;
}

enum pv_code store_cluster_look(struct store_tx *tx,
                                struct arena *arena,
                                const char *name,
                                struct cluster *cluster,
                                bool *found,
                                struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT " OF_CLUSTER " FROM provisor.cluster c" WITH_BOOK
           " WHERE c.team_id = $1 AND c.name = $2");
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
    struct sql sql;
    PGresult *result;
    tx_sql(tx, &sql,
           "SELECT a.at, " OF_CLUSTER " FROM unnest($2) WITH ORDINALITY AS a (name, at)"
           " JOIN provisor.cluster c ON c.team_id = $1 AND c.name = a.name" WITH_BOOK);
    sql.repeated = true;
    sql_texts(&sql, names, n, sizeof *names);
    enum pv_code code = tx_query(tx, &sql, &result, err);
    if (code != PV_OK)
        return code;
    for (size_t i = 0; i < n; i++)
        clusters[i] = (struct cluster){.id = ""};
    for (size_t i = 0; code == PV_OK && i < row_count(result); i++) {
        struct row row = row_at(result, (int)i, arena);
        int64_t at = row_int(&row);
        struct cluster c = read_columns(&row);
        code = row_done(&row, err);
        if (code == PV_OK && at >= 1 && (size_t)at <= n)
            clusters[at - 1] = c;
    }
    PQclear(result);
    return code;
}

static enum pv_code check_room(struct store_tx *tx, int64_t most, struct pv_error *err)
{
    struct sql sql;
    PGresult *result;
    tx_sql(tx, &sql, "SELECT count(*) FROM provisor.cluster WHERE team_id = $1");
    enum pv_code code = tx_query(tx, &sql, &result, err);
    if (code != PV_OK)
        return code;
    struct row row = row_at(result, 0, NULL);
    int64_t there = row_int(&row);
    PQclear(result);
    return there < most ? PV_OK
                        : pv_fail(err, PV_E_LIMIT,
                                  "the team has %lld clusters already, as many as it may "
                                  "(clusters_max)",
                                  (long long)there);
}

/* Everything a client may set, as $3 and on. */
static void bind_fields(struct sql *sql, const struct cluster *cluster)
{
    const struct cluster_traits *traits = &cluster->traits;
    sql_text(sql, cluster->description);
    sql_pairs(sql, cluster->labels, cluster->n_labels);
    sql_count(sql, traits->executors);
    sql_count(sql, traits->cores_per_executor);
    sql_count(sql, traits->memory_bytes_per_executor);
    sql_count(sql, traits->slots);
    sql_double(sql, traits->slot_s);
    sql_double(sql, traits->unreachable_probability);
    sql_double(sql, traits->ingress_bytes_per_s);
    sql_double(sql, traits->egress_bytes_per_s);
    sql_text(sql, traits->machine_type);
    sql_uuid(sql, cluster->price_book_id);
}

#define FIELDS                                                                                     \
    "description, label_keys, label_values, executors, cores_per_executor,"                        \
    " memory_bytes_per_executor, slots, slot_s, unreachable_probability, ingress_bytes_per_s,"     \
    " egress_bytes_per_s, machine_type, price_book_id"
#define VALUES "$3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15"

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
    char id[37];
    bool made;
    struct sql sql;
    struct cluster stored;
    clock_uuid7(id);
    enum pv_code code = check_room(tx, most, err);
    if (code != PV_OK)
        return code;
    tx_sql(tx, &sql,
           "WITH c AS (INSERT INTO provisor.cluster (team_id, id, " FIELDS ", name)"
           " VALUES ($1, $2, " VALUES ", $16) RETURNING *)"
           " SELECT " OF_CLUSTER " FROM c" WITH_BOOK);
    sql_uuid(&sql, id);
    bind_fields(&sql, cluster);
    sql_text(&sql, cluster->name);
    code = query_one(tx, &sql, arena, &stored, &made, err);
    if (code == PV_OK)
        code = adopt_prices(tx, &stored, err);
    if (code == PV_OK)
        code = journal_audit(tx, "cluster.insert", "cluster", stored.name, err);
    if (code == PV_OK)
        *cluster = stored;
    return code;
}

enum pv_code store_cluster_update(struct store_tx *tx,
                                  struct arena *arena,
                                  struct cluster *cluster,
                                  struct pv_error *err)
{
    bool there;
    struct sql sql;
    struct cluster stored;
    tx_sql(tx, &sql,
           "WITH c AS (UPDATE provisor.cluster SET (" FIELDS ", version, updated_at)"
           " = ROW (" VALUES ", version + 1, now()) WHERE team_id = $1 AND id = $2 RETURNING *)"
           " SELECT " OF_CLUSTER " FROM c" WITH_BOOK);
    sql_uuid(&sql, cluster->id);
    bind_fields(&sql, cluster);
    enum pv_code code = query_one(tx, &sql, arena, &stored, &there, err);
    if (code == PV_OK && !there)
        code = pv_fail(err, PV_E_RETRY, "the cluster has just been deleted");
    if (code == PV_OK)
        code = journal_audit(tx, "cluster.update", "cluster", stored.name, err);
    if (code == PV_OK)
        *cluster = stored;
    return code;
}

enum pv_code
store_cluster_delete(struct store_tx *tx, const struct cluster *cluster, struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql, "DELETE FROM provisor.cluster WHERE team_id = $1 AND id = $2");
    sql_uuid(&sql, cluster->id);
    enum pv_code code = tx_defer(tx, &sql, err);
    return code == PV_OK ? journal_audit(tx, "cluster.delete", "cluster", cluster->name, err)
                         : code;
}

static struct strview optional(const char *text)
{
    return text == NULL ? (struct strview){NULL, 0} : strview_of(text);
}

enum pv_code store_cluster_list(struct store_tx *tx,
                                struct arena *arena,
                                const struct cluster_filter *filter,
                                const char *after,
                                size_t limit,
                                struct cluster_list *list,
                                struct pv_error *err)
{
    struct sql sql;
    PGresult *result;
    tx_sql(
        tx, &sql,
        "SELECT " OF_CLUSTER " FROM provisor.cluster c" WITH_BOOK
        " WHERE c.team_id = $1 AND c.name > $2 AND ($3 IS NULL OR b.name = $3)"
        " AND ($4 IS NULL OR c.machine_type = $4)"
        " AND NOT EXISTS (SELECT FROM unnest($5, $6) AS asked (key, value)"
        "  WHERE NOT EXISTS (SELECT FROM unnest(c.label_keys, c.label_values) AS has (key, value)"
        "   WHERE has.key = asked.key AND has.value = asked.value))"
        " ORDER BY c.name LIMIT $7");
    sql_text(&sql, strview_of(after));
    sql_text(&sql, optional(filter->price_book));
    sql_text(&sql, optional(filter->machine_type));
    sql_pairs(&sql, filter->labels, filter->n_labels);
    sql_int(&sql, (int64_t)limit + 1);
    enum pv_code code = tx_query(tx, &sql, &result, err);
    if (code != PV_OK)
        return code;
    size_t there = row_count(result);
    struct cluster_list read = {.n = there > limit ? limit : there, .more = there > limit};
    read.items = arena_calloc(arena, read.n, sizeof *read.items);
    if (read.items == NULL)
        code = pv_no_memory(err);
    for (size_t i = 0; code == PV_OK && i < read.n; i++)
        code = read_cluster(result, i, arena, &read.items[i], err);
    PQclear(result);
    if (code == PV_OK)
        *list = read;
    return code;
}
