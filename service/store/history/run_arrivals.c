#include "store/history/run_arrivals.h"

#include <string.h>

#include "store/history/run_internal.h"

/*
 * The next runs of each application, by its index (run_newest, walked from its end), and the first of
 * them all. Tasks are counted of these alone.
 */
static enum pv_code query_heads(struct store_tx *tx,
                                const struct run_arrivals_filter *filter,
                                PGresult **result,
                                struct pv_error *err)
{
    static const char text[] =
        "SELECT h.at - 1, h.id, h.instant, h.submitted, h.succeeded, s.tasks FROM"
        " (SELECT w.at, w.id AS application_id, r.* FROM unnest($2) WITH ORDINALITY AS w (id, at),"
        "  LATERAL (SELECT id, instant, started_at IS NOT NULL AS submitted, succeeded"
        "   FROM provisor.run WHERE team_id = $1 AND application_id = w.id"
        "   AND (instant, id) > ($3, $4) AND instant < $5 ORDER BY instant, id LIMIT $6) AS r"
        "  ORDER BY r.instant, r.id LIMIT $6) AS h,"
        " LATERAL (SELECT coalesce(sum(tasks), 0)::bigint AS tasks FROM provisor.run_stage"
        "  WHERE team_id = $1 AND application_id = h.application_id AND run_id = h.id"
        "  AND h.succeeded) AS s ORDER BY h.instant, h.id";
    bool first = filter->after_us == RUN_NO_INSTANT;
    struct sql sql;
    tx_sql(tx, &sql, text);
    sql_uuids(&sql, filter->applications->id, filter->n_applications, sizeof *filter->applications);
    sql_bound(&sql, first ? filter->since_us : filter->after_us, "-infinity");
    sql_uuid(&sql, first ? RUN_ID_LEAST : filter->after_id);
    sql_bound(&sql, filter->until_us, "infinity");
    sql_int(&sql, (int64_t)filter->limit + 1);
    return tx_walk(tx, &sql, result, err);
}

/* As many as the page may hold; the tasks of the others are left where they are. */
static enum pv_code read_heads(const PGresult *result,
                               struct arena *arena,
                               const struct run_arrivals_filter *filter,
                               struct run_arrivals *page,
                               struct pv_error *err)
{
    size_t rows = row_count(result);
    size_t n = rows > filter->limit ? filter->limit : rows;
    uint64_t tasks = 0;
    page->items = arena_calloc(arena, n, sizeof *page->items);
    if (page->items == NULL)
        return pv_no_memory(err);
    for (page->n = 0; page->n < n; page->n++) {
        struct row row = row_at(result, (int)page->n, NULL);
        struct run_arrival *run = &page->items[page->n];
        run->application = (size_t)row_int(&row);
        row_uuid(&row, run->id);
        run->instant_us = row_instant(&row);
        run->submitted = row_bool(&row);
        run->succeeded = row_bool(&row);
        tasks += (uint64_t)row_int(&row);
        PV_TRY(row_done(&row, err));
        if (page->n > 0 && tasks > filter->tasks_most)
            break;
    }
    page->more = page->n < rows;
    return PV_OK;
}

/* The stages of the runs of one application. runs: room for as many as the page holds. */
static enum pv_code load_of(struct store_tx *tx,
                            struct arena *arena,
                            const struct run_arrivals_filter *filter,
                            size_t application,
                            struct run runs[],
                            struct run_arrivals *page,
                            struct pv_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < page->n; i++) {
        const struct run_arrival *run = &page->items[i];
        if (run->application != application || !run->succeeded)
            continue;
        runs[n] = (struct run){.n_stages = 0};
        memcpy(runs[n++].id, run->id, sizeof run->id);
    }
    PV_TRY(run_load_stages(tx, arena, filter->applications[application].id, runs, n, RUN_WITH_TASKS,
                           err));
    n = 0;
    for (size_t i = 0; i < page->n; i++) {
        struct run_arrival *run = &page->items[i];
        if (run->application != application || !run->succeeded)
            continue;
        run->stages = runs[n].stages;
        run->n_stages = runs[n++].n_stages;
    }
    return PV_OK;
}

enum pv_code store_run_arrivals(struct store_tx *tx,
                                struct arena *arena,
                                const struct run_arrivals_filter *filter,
                                struct run_arrivals *page,
                                struct pv_error *err)
{
    result_auto_t *result = NULL;
    PV_TRY(query_heads(tx, filter, &result, err));
    PV_TRY(read_heads(result, arena, filter, page, err));
    struct run *runs = arena_array(arena, page->n, sizeof *runs);
    if (runs == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < filter->n_applications; i++)
        PV_TRY(load_of(tx, arena, filter, i, runs, page, err));
    return PV_OK;
}
