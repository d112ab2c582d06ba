#include "store/advice/team_accuracy.h"

#include "store/advice/accuracy_internal.h"
#include "store/store_internal.h"

/* The newest runs of the team that name advice, in the order of their index; of those whose advice
 * is gone the columns from it are null. */
static const char newest[] =
    "SELECT r.instant, a.id IS NOT NULL, p.name, a.model_kind, " ACCURACY_COMPARED
    ", " ACCURACY_ERROR_PERCENT ", " ACCURACY_INSIDE
    ", a.confidence, a.deadline_probability, coalesce(r.duration_s <= a.deadline_s, false)"
    " FROM (SELECT * FROM provisor.run WHERE team_id = $1 AND advice_id IS NOT NULL"
    "  AND instant >= $2 AND instant < $3 ORDER BY instant DESC, id DESC LIMIT $4) AS r"
    " LEFT JOIN provisor.advice a ON a.team_id = $1 AND a.id = r.advice_id"
    " LEFT JOIN provisor.application p ON p.team_id = $1 AND p.id = r.application_id";

static bool read_entry(struct row *row, int64_t *instant_us, struct accuracy_entry *entry)
{
    *instant_us = row_instant(row);
    bool there = row_bool(row);
    entry->application = row_text(row);
    entry->model = row_text(row);
    entry->compared = row_bool(row);
    entry->error_percent = row_double(row);
    entry->inside_known = !row_is_null(row);
    entry->inside = row_bool(row);
    entry->confidence = row_double(row);
    entry->promised = row_double(row);
    entry->met = row_bool(row);
    return there && entry->application.at != NULL;
}

static enum pv_code read_all(const PGresult *result,
                             struct arena *arena,
                             struct team_accuracy *accuracy,
                             struct pv_error *err)
{
    size_t n = row_count(result);
    struct team_accuracy all = {.oldest_us = RUN_NO_INSTANT,
                                .newest_only = n > (size_t)TEAM_ACCURACY_RUNS};
    all.entries = arena_array(arena, n, sizeof *all.entries);
    if (all.entries == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n && i < (size_t)TEAM_ACCURACY_RUNS; i++) {
        struct row row = row_at(result, (int)i, arena);
        all.n += read_entry(&row, &all.oldest_us, &all.entries[all.n]);
        PV_TRY(row_done(&row, err));
    }
    *accuracy = all;
    return PV_OK;
}

enum pv_code store_team_accuracy(struct store_tx *tx,
                                 struct arena *arena,
                                 int64_t since_us,
                                 int64_t until_us,
                                 struct team_accuracy *accuracy,
                                 struct pv_error *err)
{
    struct sql sql;
    result_auto_t *result = NULL;
    tx_sql(tx, &sql, newest);
    sql_bound(&sql, since_us, "-infinity");
    sql_bound(&sql, until_us, "infinity");
    sql_int(&sql, TEAM_ACCURACY_RUNS + 1);
    PV_TRY(tx_walk(tx, &sql, &result, err));
    return read_all(result, arena, accuracy, err);
}
