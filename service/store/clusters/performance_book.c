#include "store/clusters/performance_book.h"

#include "store/clusters/performance_internal.h"

/* Rows are read one at a time and their memory is given back: the book keeps what it needs. */
struct asked {
    struct store_tx *tx;
    struct arena *arena;
    const struct performance_ask *ask;
    struct performance_book *book;
    struct performance_index places; /* by id */
    struct performance_index operations;
    struct performance_index clusters; /* of the team, by id, whose types are known */
    struct strview *types;             /* theirs */
};

static enum pv_code make_indices(struct asked *asked, struct pv_error *err)
{
    const struct performance_ask *ask = asked->ask;
    struct strview *ids = arena_array(asked->arena, ask->n_places, sizeof *ids);
    if (ids == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < ask->n_places; i++)
        ids[i] = strview_of(ask->places[i].id);
    PV_TRY(
        performance_index_make(&asked->places, asked->arena, ids, ask->n_places, sizeof *ids, err));
    return performance_index_make(&asked->operations, asked->arena, ask->operations,
                                  ask->n_operations, sizeof *ask->operations, err);
}

/* Places that are registered, of those that are wanted (NULL: all). */
struct registered {
    char (*ids)[37];
    size_t n;
};

static enum pv_code performance_book_collect(const struct asked *asked,
                                             const bool *wanted,
                                             struct registered *registered,
                                             struct pv_error *err)
{
    const struct performance_ask *ask = asked->ask;
    registered->n = 0;
    registered->ids = arena_array(asked->arena, ask->n_places, sizeof *registered->ids);
    if (registered->ids == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < ask->n_places; i++)
        if (ask->places[i].id[0] != '\0' && (wanted == NULL || wanted[i]))
            memcpy(registered->ids[registered->n++], ask->places[i].id, sizeof *registered->ids);
    return PV_OK;
}

static void bind_places(struct sql *sql, const struct registered *registered)
{
    sql_uuids(sql, (const char *)registered->ids, registered->n, sizeof *registered->ids);
}

/* --- what they observed themselves --- */

static enum pv_code
ask_processing(const struct asked *asked, const struct registered *places, struct pv_error *err)
{
    struct sql sql;
    tx_sql(asked->tx, &sql,
           "SELECT cluster_id, operation, " PERFORMANCE_COLUMNS(
               "") " FROM provisor.cluster_processing WHERE team_id = $1 AND cluster_id = ANY ($2)"
                   " AND operation = ANY ($3) AND forgotten_at > $4");
    bind_places(&sql, places);
    sql_texts(&sql, asked->ask->operations, asked->ask->n_operations, sizeof(struct strview));
    sql_instant(&sql, asked->ask->now_us);
    return tx_send(asked->tx, &sql, err);
}

static enum pv_code ask_transfers(const struct asked *asked,
                                  const struct registered *from,
                                  const struct registered *to,
                                  struct pv_error *err)
{
    struct sql sql;
    tx_sql(asked->tx, &sql,
           "SELECT from_id, cluster_id, " PERFORMANCE_COLUMNS(
               "") " FROM provisor.cluster_transfer WHERE team_id = $1 AND cluster_id = ANY ($2)"
                   " AND from_id = ANY ($3) AND forgotten_at > $4");
    bind_places(&sql, to);
    bind_places(&sql, from);
    sql_instant(&sql, asked->ask->now_us);
    return tx_send(asked->tx, &sql, err);
}

static enum pv_code
ask_outages(const struct asked *asked, const struct registered *places, struct pv_error *err)
{
    struct sql sql;
    tx_sql(asked->tx, &sql,
           "SELECT cluster_id, first_us, newest_us, outage_from_us, outage_until_us"
           " FROM provisor.cluster_report WHERE team_id = $1 AND cluster_id = ANY ($2)");
    bind_places(&sql, places);
    return tx_send(asked->tx, &sql, err);
}

static enum pv_code
take_processing(const struct asked *asked, struct row *row, struct pv_error *err)
{
    struct performance observed;
    size_t place = 0;
    size_t operation = 0;
    bool known = performance_index_uuid(&asked->places, row, &place);
    known = performance_index_text(&asked->operations, row, &operation) && known;
    performance_row_read(row, &observed);
    enum pv_code code = row_done(row, err);
    return code == PV_OK && known
               ? performance_book_add_processing(asked->book, place, operation, &observed, err)
               : code;
}

static enum pv_code take_transfer(const struct asked *asked, struct row *row, struct pv_error *err)
{
    struct performance observed;
    size_t from = 0;
    size_t to = 0;
    bool known = performance_index_uuid(&asked->places, row, &from);
    known = performance_index_uuid(&asked->places, row, &to) && known;
    performance_row_read(row, &observed);
    PV_TRY(row_done(row, err));
    return known ? performance_book_add_transfer(asked->book, from, to, &observed, err) : PV_OK;
}

static enum pv_code take_outages(const struct asked *asked, struct row *row, struct pv_error *err)
{
    size_t n;
    size_t place = 0;
    bool known = performance_index_uuid(&asked->places, row, &place);
    int64_t first_us = row_int(row);
    int64_t newest_us = row_int(row);
    const struct outage *outages = performance_outages_read(row, &n);
    PV_TRY(row_done(row, err));
    if (known)
        performance_book_add_outages(asked->book, place, outages, n, first_us, newest_us);
    return PV_OK;
}

typedef enum pv_code (*take_row)(const struct asked *asked, struct row *row, struct pv_error *err);

static enum pv_code
read_rows(const struct asked *asked, const PGresult *result, take_row take, struct pv_error *err)
{
    struct arena *scratch = &asked->tx->scratch;
    for (size_t i = 0, n = row_count(result); i < n; i++) {
        struct arena_mark mark = arena_mark(scratch);
        struct row row = row_at(result, (int)i, scratch);
        PV_TRY(take(asked, &row, err));
        arena_rewind(scratch, mark);
    }
    return PV_OK;
}

static enum pv_code read_own(const struct asked *asked, struct pv_error *err)
{
    static const take_row takes[3] = {take_processing, take_transfer, take_outages};
    struct registered from;
    struct registered to;
    results_auto_t results = {{NULL}};
    PV_TRY(performance_book_collect(asked, asked->ask->sends, &from, err));
    PV_TRY(performance_book_collect(asked, asked->ask->runs, &to, err));
    PV_TRY(ask_processing(asked, &to, err));
    PV_TRY(ask_transfers(asked, &from, &to, err));
    PV_TRY(ask_outages(asked, &to, err));
    PV_TRY(tx_results(asked->tx, results.of, 3, err));
    for (size_t i = 0; i < 3; i++)
        PV_TRY(read_rows(asked, results.of[i], takes[i], err));
    return PV_OK;
}

/* --- what others did --- */

/* What types of machines the team's clusters have, for the pools. */
static enum pv_code read_types(struct asked *asked, struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    tx_sql(asked->tx, &sql,
           "SELECT id, machine_type FROM provisor.cluster"
           " WHERE team_id = $1 AND machine_type IS NOT NULL");
    PV_TRY(tx_query(asked->tx, &sql, &result, err));
    size_t n = row_count(result);
    struct strview *ids = arena_array(asked->arena, n, sizeof *ids);
    asked->types = arena_array(asked->arena, n, sizeof *asked->types);
    if (ids == NULL || asked->types == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        char id[37] = "";
        struct row row = row_at(result, (int)i, asked->arena);
        row_uuid(&row, id);
        ids[i] = arena_copy(asked->arena, strview_of(id));
        asked->types[i] = row_text(&row);
        PV_TRY(row_done(&row, err));
    }
    return performance_index_make(&asked->clusters, asked->arena, ids, n, sizeof *ids, err);
}

/* Of the cluster whose id is in the next column. */
static struct strview find_type(const struct asked *asked, struct row *row)
{
    size_t at;
    return performance_index_uuid(&asked->clusters, row, &at) ? asked->types[at]
                                                              : (struct strview){NULL, 0};
}

/* Operations that some place lacks. */
static enum pv_code find_lacking(const struct asked *asked,
                                 struct strview **operations,
                                 size_t *n,
                                 struct pv_error *err)
{
    const struct performance_ask *ask = asked->ask;
    *n = 0;
    *operations = arena_array(asked->arena, ask->n_operations, sizeof **operations);
    if (*operations == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < ask->n_operations; i++)
        if (performance_book_lacks_processing(asked->book, i))
            (*operations)[(*n)++] = ask->operations[i];
    return PV_OK;
}

static enum pv_code ask_pool_processing(const struct asked *asked,
                                        const struct strview operations[],
                                        size_t n,
                                        struct pv_error *err)
{
    struct sql sql;
    tx_sql(asked->tx, &sql,
           "SELECT p.operation, p.cluster_id, " PERFORMANCE_COLUMNS(
               "p.") " FROM unnest($2) AS o (name)"
                     " CROSS JOIN LATERAL (SELECT * FROM provisor.cluster_processing q"
                     "  WHERE q.team_id = $1 AND q.operation = o.name AND q.forgotten_at > $3"
                     "  ORDER BY uuid_hash_extended(q.cluster_id, 0), q.cluster_id LIMIT $4) AS p");
    sql_texts(&sql, operations, n, sizeof *operations);
    sql_instant(&sql, asked->ask->now_us);
    sql_int(&sql, POOL_OPERATION);
    return tx_send(asked->tx, &sql, err);
}

static enum pv_code ask_pool_transfers(const struct asked *asked, struct pv_error *err)
{
    struct sql sql;
    tx_sql(asked->tx, &sql,
           "SELECT from_id, cluster_id, " PERFORMANCE_COLUMNS(
               "") " FROM provisor.cluster_transfer WHERE team_id = $1 AND forgotten_at > $2"
                   " ORDER BY uuid_hash_extended(from_id, uuid_hash_extended(cluster_id, 0)),"
                   "  cluster_id, from_id LIMIT $3");
    sql_instant(&sql, asked->ask->now_us);
    sql_int(&sql, POOL_PAIRS);
    return tx_send(asked->tx, &sql, err);
}

static enum pv_code
pool_processing(const struct asked *asked, struct row *row, struct pv_error *err)
{
    struct performance observed;
    size_t operation = 0;
    bool known = performance_index_text(&asked->operations, row, &operation);
    struct strview type = find_type(asked, row);
    performance_row_read(row, &observed);
    enum pv_code code = row_done(row, err);
    return code == PV_OK && known
               ? performance_book_pool_processing(asked->book, operation, type, &observed, err)
               : code;
}

static enum pv_code pool_transfer(const struct asked *asked, struct row *row, struct pv_error *err)
{
    struct performance observed;
    struct strview from_type = find_type(asked, row);
    struct strview to_type = find_type(asked, row);
    performance_row_read(row, &observed);
    PV_TRY(row_done(row, err));
    return performance_book_pool_transfer(asked->book, from_type, to_type, &observed, err);
}

static enum pv_code read_pools(struct asked *asked, struct pv_error *err)
{
    struct strview *lacking;
    size_t n;
    results_auto_t results = {{NULL}};
    bool pairs = performance_book_lacks_transfers(asked->book);
    PV_TRY(find_lacking(asked, &lacking, &n, err));
    if (n == 0 && !pairs)
        return PV_OK;
    PV_TRY(read_types(asked, err));
    PV_TRY(ask_pool_processing(asked, lacking, n, err));
    if (pairs)
        PV_TRY(ask_pool_transfers(asked, err));
    PV_TRY(tx_results(asked->tx, results.of, pairs ? 2 : 1, err));
    PV_TRY(read_rows(asked, results.of[0], pool_processing, err));
    return pairs ? read_rows(asked, results.of[1], pool_transfer, err) : PV_OK;
}

enum pv_code store_performance_book(struct store_tx *tx,
                                    struct arena *arena,
                                    const struct performance_ask *ask,
                                    const struct performance_book **book,
                                    struct pv_error *err)
{
    struct asked asked = {
        .tx = tx, .arena = arena, .ask = ask, .book = performance_book_open(ask, arena)};
    if (asked.book == NULL)
        return pv_no_memory(err);
    PV_TRY(make_indices(&asked, err));
    PV_TRY(read_own(&asked, err));
    PV_TRY(read_pools(&asked, err));
    PV_TRY(performance_book_close(asked.book, err));
    *book = asked.book;
    return PV_OK;
}
