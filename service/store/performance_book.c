#include "store/performance_book.h"

#include "store/performance_internal.h"

/*
 * Rows come with the places and operations they belong to as positions in the arrays that were
 * sent, so nothing has to be looked up here. Rows are read one at a time and their memory is given
 * back: the book keeps what it needs.
 */
struct asked {
    struct store_tx *tx;
    struct arena *arena;
    const struct performance_ask *ask;
    struct performance_book *book;
};

/* Places that are registered, of those that `wanted` names (NULL: all): ids and which they are. */
struct registered {
    struct place {
        char id[37];
        int64_t at;
    } * places;
    size_t n;
};

static enum pv_code collect(const struct asked *asked,
                            const bool *wanted,
                            struct registered *registered,
                            struct pv_error *err)
{
    const struct performance_ask *ask = asked->ask;
    registered->n = 0;
    registered->places = arena_array(asked->arena, ask->n_places, sizeof *registered->places);
    if (registered->places == NULL)
        return pv_fail(err, PV_E_MEMORY, "not enough memory for the clusters");
    for (size_t i = 0; i < ask->n_places; i++) {
        if (ask->places[i].id[0] == '\0' || (wanted != NULL && !wanted[i]))
            continue;
        struct place *place = &registered->places[registered->n++];
        memcpy(place->id, ask->places[i].id, sizeof place->id);
        place->at = (int64_t)i;
    }
    return PV_OK;
}

static void bind_places(struct sql *sql, const struct registered *registered)
{
    const struct place *places = registered->places;
    sql_uuids(sql, places->id, registered->n, sizeof *places);
    sql_counts(sql, &places->at, registered->n, sizeof *places);
}

/* --- what they observed themselves --- */

static enum pv_code
ask_processing(const struct asked *asked, const struct registered *places, struct pv_error *err)
{
    struct sql sql;
    tx_sql(asked->tx, &sql,
           "SELECT c.at, o.at - 1, " PERFORMANCE_COLUMNS(
               "p.") " FROM unnest($2, $3) AS c (id, at)"
                     " JOIN provisor.cluster_processing p"
                     "   ON p.team_id = $1 AND p.cluster_id = c.id"
                     " JOIN unnest($4) WITH ORDINALITY AS o (name, at) ON o.name = p.operation"
                     " WHERE p.forgotten_at > $5");
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
           "SELECT f.at, t.at, " PERFORMANCE_COLUMNS(
               "p.") " FROM unnest($2, $3) AS t (id, at)"
                     " JOIN provisor.cluster_transfer p"
                     "   ON p.team_id = $1 AND p.cluster_id = t.id"
                     " JOIN unnest($4, $5) AS f (id, at) ON f.id = p.from_id"
                     " WHERE p.forgotten_at > $6");
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
           "SELECT c.at, r.first_us, r.newest_us, r.outage_from_us, r.outage_until_us"
           " FROM unnest($2, $3) AS c (id, at)"
           " JOIN provisor.cluster_report r ON r.team_id = $1 AND r.cluster_id = c.id");
    bind_places(&sql, places);
    return tx_send(asked->tx, &sql, err);
}

/* A row of two positions and a distribution goes to `take`. */
typedef enum pv_code (*take_observed)(struct performance_book *book,
                                      size_t first,
                                      size_t second,
                                      const struct performance *observed,
                                      struct pv_error *err);

static enum pv_code read_observed(const struct asked *asked,
                                  const PGresult *result,
                                  take_observed take,
                                  struct pv_error *err)
{
    enum pv_code code = PV_OK;
    size_t n = row_count(result);
    for (size_t i = 0; i < n && code == PV_OK; i++) {
        struct performance observed;
        struct arena_mark mark = arena_mark(asked->arena);
        struct row row = row_at(result, (int)i, asked->arena);
        size_t first = (size_t)row_int(&row);
        size_t second = (size_t)row_int(&row);
        performance_row_read(&row, &observed);
        code = row_done(&row, err);
        arena_rewind(asked->arena, mark);
        if (code == PV_OK)
            code = take(asked->book, first, second, &observed, err);
    }
    return code;
}

static enum pv_code
read_outages(const struct asked *asked, const PGresult *result, struct pv_error *err)
{
    enum pv_code code = PV_OK;
    size_t n = row_count(result);
    for (size_t i = 0; i < n && code == PV_OK; i++) {
        size_t n_outages;
        struct arena_mark mark = arena_mark(asked->arena);
        struct row row = row_at(result, (int)i, asked->arena);
        size_t place = (size_t)row_int(&row);
        int64_t first_us = row_int(&row);
        int64_t newest_us = row_int(&row);
        const struct outage *outages = performance_outages_read(&row, &n_outages);
        code = row_done(&row, err);
        if (code == PV_OK)
            performance_book_add_outages(asked->book, place, outages, n_outages, first_us,
                                         newest_us);
        arena_rewind(asked->arena, mark);
    }
    return code;
}

static enum pv_code read_own(const struct asked *asked, struct pv_error *err)
{
    struct registered from;
    struct registered to;
    PGresult *results[3] = {NULL, NULL, NULL};
    enum pv_code code = collect(asked, asked->ask->sends, &from, err);
    if (code == PV_OK)
        code = collect(asked, asked->ask->runs, &to, err);
    if (code == PV_OK)
        code = ask_processing(asked, &to, err);
    if (code == PV_OK)
        code = ask_transfers(asked, &from, &to, err);
    if (code == PV_OK)
        code = ask_outages(asked, &to, err);
    if (code == PV_OK)
        code = tx_results(asked->tx, results, 3, err);
    if (code == PV_OK)
        code = read_observed(asked, results[0], performance_book_add_processing, err);
    if (code == PV_OK)
        code = read_observed(asked, results[1], performance_book_add_transfer, err);
    if (code == PV_OK)
        code = read_outages(asked, results[2], err);
    for (size_t i = 0; i < 3; i++)
        PQclear(results[i]);
    return code;
}

/* --- what others did --- */

/* Operations that some place lacks. */
struct lacking {
    struct operation {
        struct strview name;
        int64_t at;
    } * operations;
    size_t n;
};

static enum pv_code
find_lacking(const struct asked *asked, struct lacking *lacking, struct pv_error *err)
{
    const struct performance_ask *ask = asked->ask;
    lacking->n = 0;
    lacking->operations = arena_array(asked->arena, ask->n_operations, sizeof *lacking->operations);
    if (lacking->operations == NULL)
        return pv_fail(err, PV_E_MEMORY, "not enough memory for the operations");
    for (size_t i = 0; i < ask->n_operations; i++)
        if (performance_book_lacks_processing(asked->book, i))
            lacking->operations[lacking->n++] = (struct operation){ask->operations[i], (int64_t)i};
    return PV_OK;
}

static enum pv_code
ask_pool_processing(const struct asked *asked, const struct lacking *lacking, struct pv_error *err)
{
    struct sql sql;
    const struct operation *operations = lacking->operations;
    tx_sql(asked->tx, &sql,
           "SELECT o.at, c.machine_type, NULL::text, " PERFORMANCE_COLUMNS(
               "p.") " FROM unnest($2, $3) AS o (name, at)"
                     " CROSS JOIN LATERAL (SELECT * FROM provisor.cluster_processing q"
                     "  WHERE q.team_id = $1 AND q.operation = o.name AND q.forgotten_at > $4"
                     "  ORDER BY uuid_hash_extended(q.cluster_id, 0) LIMIT $5) AS p"
                     " JOIN provisor.cluster c ON c.team_id = $1 AND c.id = p.cluster_id"
                     " ORDER BY o.at, c.id");
    sql_texts(&sql, &operations->name, lacking->n, sizeof *operations);
    sql_counts(&sql, &operations->at, lacking->n, sizeof *operations);
    sql_instant(&sql, asked->ask->now_us);
    sql_int(&sql, POOL_OPERATION);
    return tx_send(asked->tx, &sql, err);
}

/* Drawn by the keys alone; only then are the rows themselves read. */
static enum pv_code ask_pool_transfers(const struct asked *asked, struct pv_error *err)
{
    struct sql sql;
    tx_sql(asked->tx, &sql,
           "SELECT 0::bigint, f.machine_type, t.machine_type, " PERFORMANCE_COLUMNS(
               "p.") " FROM (SELECT q.cluster_id, q.from_id FROM provisor.cluster_transfer q"
                     "  WHERE q.team_id = $1"
                     "  ORDER BY uuid_hash_extended(q.from_id,"
                     "   uuid_hash_extended(q.cluster_id, 0)) LIMIT $3) AS k"
                     " JOIN provisor.cluster_transfer p ON p.team_id = $1"
                     "  AND p.cluster_id = k.cluster_id AND p.from_id = k.from_id"
                     " JOIN provisor.cluster f ON f.team_id = $1 AND f.id = p.from_id"
                     " JOIN provisor.cluster t ON t.team_id = $1 AND t.id = p.cluster_id"
                     " WHERE p.forgotten_at > $2 ORDER BY t.id, f.id");
    sql_instant(&sql, asked->ask->now_us);
    sql_int(&sql, POOL_PAIRS);
    return tx_send(asked->tx, &sql, err);
}

static enum pv_code
read_pool(const struct asked *asked, const PGresult *result, bool pairs, struct pv_error *err)
{
    enum pv_code code = PV_OK;
    size_t n = row_count(result);
    for (size_t i = 0; i < n && code == PV_OK; i++) {
        struct performance observed;
        struct row row = row_at(result, (int)i, asked->arena);
        size_t operation = (size_t)row_int(&row);
        struct strview type = row_text(&row);
        struct strview to_type = row_text(&row);
        performance_row_read(&row, &observed);
        code = row_done(&row, err);
        if (code == PV_OK && pairs)
            code = performance_book_pool_transfer(asked->book, type, to_type, &observed, err);
        else if (code == PV_OK)
            code = performance_book_pool_processing(asked->book, operation, type, &observed, err);
    }
    return code;
}

static enum pv_code read_pools(const struct asked *asked, struct pv_error *err)
{
    struct lacking lacking;
    PGresult *results[2] = {NULL, NULL};
    bool pairs = performance_book_lacks_transfers(asked->book);
    enum pv_code code = find_lacking(asked, &lacking, err);
    if (code != PV_OK || (lacking.n == 0 && !pairs))
        return code;
    code = ask_pool_processing(asked, &lacking, err);
    if (code == PV_OK && pairs)
        code = ask_pool_transfers(asked, err);
    if (code == PV_OK)
        code = tx_results(asked->tx, results, pairs ? 2 : 1, err);
    if (code == PV_OK)
        code = read_pool(asked, results[0], false, err);
    if (code == PV_OK && pairs)
        code = read_pool(asked, results[1], true, err);
    PQclear(results[0]);
    PQclear(results[1]);
    return code;
}

enum pv_code store_performance_book(struct store_tx *tx,
                                    struct arena *arena,
                                    const struct performance_ask *ask,
                                    const struct performance_book **book,
                                    struct pv_error *err)
{
    struct asked asked = {tx, arena, ask, performance_book_open(ask, arena)};
    if (asked.book == NULL)
        return pv_fail(err, PV_E_MEMORY, "not enough memory for the speeds of clusters");
    enum pv_code code = read_own(&asked, err);
    if (code == PV_OK)
        code = read_pools(&asked, err);
    if (code == PV_OK)
        code = performance_book_close(asked.book, err);
    if (code == PV_OK)
        *book = asked.book;
    return code;
}
