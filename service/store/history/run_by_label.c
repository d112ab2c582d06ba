#include "store/history/run_internal.h"

/*
 * Which runs carry the labels, newest first. The rows of a label lie in that order in an index of
 * each month, so one label is a walk and two are a walk along both at once, which ends as soon as
 * the page is full or one of them is through; what further labels ask is looked up for each run.
 * The runs themselves are read afterwards by their ids, which tell the months they are in: joined
 * here, every run would be looked for in all of them. OFFSET 0 keeps the walks as they stand;
 * merged into one another they were planned anew for each pair of months (200 ms against 4).
 */
#define WALK(key, value)                                                                           \
    "(SELECT l.instant AS at, l.run_id FROM provisor.run_label l"                                  \
    " WHERE l.team_id = $1 AND l.application_id = $2 AND l.key = " key " AND l.value = " value     \
    " AND l.instant >= $3 AND (l.instant, l.run_id) < ($4, $5)"                                    \
    " ORDER BY l.instant DESC, l.run_id DESC OFFSET 0)"
/* One look by its key, which names the month it is in; only where it is asked for. */
#define SUCCEEDED                                                                                  \
    "($7::bigint IS NULL OR EXISTS (SELECT FROM provisor.run r WHERE r.team_id = $1"               \
    " AND r.application_id = $2 AND r.id = a.run_id AND r.succeeded = ($7::bigint = 1)))"
#define PAGE " ORDER BY a.at DESC, a.run_id DESC LIMIT $6"
#define TWO_WALKS                                                                                  \
    "SELECT a.run_id FROM " WALK("$8", "$9") " AS a JOIN " WALK(                                   \
        "$10", "$11") " AS b ON b.at = a.at AND b.run_id = a.run_id"

static const char one_label[] =
    "SELECT a.run_id FROM " WALK("$8", "$9") " AS a WHERE " SUCCEEDED PAGE;
static const char two_labels[] = TWO_WALKS " WHERE " SUCCEEDED PAGE;
static const char more_labels[] =
    TWO_WALKS " CROSS JOIN LATERAL (SELECT count(*) AS met FROM unnest($12, $13) AS w (key, value)"
              " JOIN provisor.run_label o ON o.team_id = $1 AND o.application_id = $2"
              " AND o.run_id = a.run_id AND o.key = w.key AND o.value = w.value) AS others"
              " WHERE others.met = cardinality($12) AND " SUCCEEDED PAGE;

static const char *text_for(size_t n_labels)
{
    return n_labels == 1 ? one_label : n_labels == 2 ? two_labels : more_labels;
}

static enum pv_code
read_ids(const PGresult *result, struct arena *arena, struct run_id **ids, size_t *n)
{
    *n = row_count(result);
    *ids = arena_calloc(arena, *n, sizeof **ids);
    for (size_t i = 0; *ids != NULL && i < *n; i++) {
        struct row row = row_at(result, (int)i, arena);
        row_uuid(&row, (*ids)[i].text);
    }
    return *ids == NULL ? PV_E_MEMORY : PV_OK;
}

enum pv_code run_ids_by_label(struct store_tx *tx,
                              struct arena *arena,
                              const char *application_id,
                              const struct run_filter *filter,
                              struct run_id **ids,
                              size_t *n,
                              struct pv_error *err)
{
    struct sql sql;
    size_t walked = filter->n_labels < 2 ? filter->n_labels : 2;
    tx_sql(tx, &sql, text_for(filter->n_labels));
    run_add_window(&sql, application_id, filter);
    for (size_t i = 0; i < walked; i++) {
        sql_text(&sql, filter->labels[i].key);
        sql_text(&sql, filter->labels[i].value);
    }
    if (filter->n_labels > walked)
        sql_pairs(&sql, filter->labels + walked, filter->n_labels - walked);
    result_auto_t *result = NULL;
    PV_TRY(tx_walk(tx, &sql, &result, err));
    if (read_ids(result, arena, ids, n) != PV_OK)
        return pv_no_memory(err);
    return PV_OK;
}
