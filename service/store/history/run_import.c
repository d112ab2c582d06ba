#include "store/history/run_import.h"

#include <string.h>

#include "store/history/run_internal.h"
#include "store/outbox/outbox.h"
#include "store/usage/usage.h"
#include "threads/clock.h"

/*
 * Thousands of rows come in one transaction, of which the server's statistics know nothing: plans
 * made for what was there before could read the whole table for every row. So plans are made anew,
 * for any values, and on indexes.
 */
static enum pv_code plan_anew(struct store_tx *tx, struct pv_error *err)
{
    struct sql sql;
    sql_init(&sql, &tx->scratch, "DISCARD PLANS");
    return tx_defer(tx, &sql, err);
}

/* Planning looks at how much there really is: so once more at each fourfold. */
static bool has_outgrown_plans(int64_t before, int64_t after)
{
    int64_t mark = 256;
    while (mark <= before)
        mark *= 4;
    return after >= mark;
}

static enum pv_code plan_for_many(struct store_tx *tx, struct pv_error *err)
{
    struct sql sql;
    PV_TRY(plan_anew(tx, err));
    sql_init(&sql, &tx->scratch,
             "SELECT set_config('plan_cache_mode', 'force_generic_plan', true),"
             " set_config('enable_seqscan', 'off', true)");
    return tx_defer(tx, &sql, err);
}

/* Alone, and into an application that stays until the end of the transaction. */
static enum pv_code
lock(struct store_tx *tx, const char *application_id, PGresult *results[2], struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT pg_try_advisory_xact_lock(hashtextextended("
           "concat_ws(E'\\n', $1::text, $2::text), 7042))");
    sql_uuid(&sql, application_id);
    PV_TRY(tx_send(tx, &sql, err));
    tx_sql(tx, &sql,
           "SELECT FROM provisor.application WHERE team_id = $1 AND id = $2 FOR KEY SHARE");
    sql_uuid(&sql, application_id);
    PV_TRY(tx_send(tx, &sql, err));
    return tx_results(tx, results, 2, err);
}

enum pv_code store_run_import_begin(struct store_tx *tx,
                                    const struct application *application,
                                    struct pv_error *err)
{
    results_auto_t results = {{NULL}};
    store_set_application(tx, application->id);
    PV_TRY(plan_for_many(tx, err));
    PV_TRY(lock(tx, application->id, results.of, err));
    if (row_count(results.of[1]) == 0)
        return pv_fail(err, PV_E_RETRY, "the application has just been deleted");
    struct row alone = row_at(results.of[0], 0, NULL);
    return row_bool(&alone)
               ? PV_OK
               : pv_fail(err, PV_E_CONFLICT, "another import into this application is under way");
}

/* --- looking --- */

static enum pv_code send_ids(struct store_tx *tx,
                             const char *application_id,
                             struct run_import items[],
                             size_t n,
                             struct pv_error *err)
{
    char(*ids)[37] = arena_array(&tx->scratch, n, sizeof *ids);
    if (ids == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        memcpy(ids[i], items[i].run->id, sizeof ids[i]);
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT w.at, r.here, r.id FROM unnest($3) WITH ORDINALITY AS w (id, at), LATERAL"
           " (SELECT application_id = $2 AS here, id FROM provisor.run"
           "  WHERE team_id = $1 AND id = w.id LIMIT 2) AS r"
           " UNION ALL SELECT w.at, true, r.id"
           " FROM unnest($4) WITH ORDINALITY AS w (id, at), LATERAL"
           " (SELECT application_id = $2 AS here, id FROM provisor.run"
           "  WHERE team_id = $1 AND id = w.id LIMIT 2) AS r WHERE r.here");
    sql_uuid(&sql, application_id);
    sql_uuids(&sql, ids[0], n, sizeof *ids);
    sql_uuids(&sql, items->other_id, n, sizeof *items);
    return tx_send(tx, &sql, err);
}

static void read_ids(const PGresult *result, struct run_import items[])
{
    for (size_t i = 0; i < row_count(result); i++) {
        struct row row = row_at(result, (int)i, NULL);
        struct run_import *item = &items[row_int(&row) - 1];
        if (row_bool(&row))
            row_uuid(&row, item->by_id);
        else
            item->id_elsewhere = true;
    }
}

struct log_key {
    struct strview application_id; /* at == NULL: no log */
    struct strview attempt_id;
};

/* Locked, so that nobody continues a log between this look and the writing. */
static enum pv_code send_logs(struct store_tx *tx,
                              const char *application_id,
                              struct run_import items[],
                              size_t n,
                              struct pv_error *err)
{
    struct log_key *keys = arena_array(&tx->scratch, n, sizeof *keys);
    if (keys == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        const struct run *run = items[i].run;
        struct strview attempt = run->spark_attempt_id;
        keys[i] = (struct log_key){.application_id = run->spark_application_id,
                                   .attempt_id = attempt.at == NULL ? strview_of("") : attempt};
    }
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT w.at, l.run_id, l.digest, l.origin"
           " FROM unnest($3, $4) WITH ORDINALITY AS w (application, attempt, at), LATERAL"
           " (SELECT run_id, digest, origin FROM provisor.run_log"
           "  WHERE team_id = $1 AND application_id = $2 AND spark_application_id = w.application"
           "  AND spark_attempt_id = w.attempt FOR UPDATE) AS l");
    sql_uuid(&sql, application_id);
    sql_texts(&sql, &keys->application_id, n, sizeof *keys);
    sql_texts(&sql, &keys->attempt_id, n, sizeof *keys);
    return tx_send(tx, &sql, err);
}

/* The logs that may be of each item's run. */
static enum pv_code read_logs(const PGresult *result,
                              struct arena *arena,
                              const struct run_import items[],
                              size_t n,
                              struct run_logs **logs,
                              struct pv_error *err)
{
    *logs = arena_calloc(arena, n, sizeof **logs);
    if (*logs == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < row_count(result); i++) {
        struct row row = row_at(result, (int)i, NULL);
        (*logs)[row_int(&row) - 1].n++;
    }
    for (size_t i = 0; i < n; i++) {
        (*logs)[i].items = arena_array(arena, (*logs)[i].n, sizeof *(*logs)[i].items);
        if ((*logs)[i].items == NULL)
            return pv_no_memory(err);
        (*logs)[i].n = 0;
    }
    for (size_t i = 0; i < row_count(result); i++) {
        struct row row = row_at(result, (int)i, arena);
        size_t at = (size_t)row_int(&row) - 1;
        PV_TRY(run_read_log(&row, items[at].run, &(*logs)[at], err));
    }
    return PV_OK;
}

static enum pv_code
send_advice(struct store_tx *tx, struct run_import items[], size_t n, struct pv_error *err)
{
    char(*ids)[37] = arena_array(&tx->scratch, n, sizeof *ids);
    int64_t *places = arena_array(&tx->scratch, n, sizeof *places);
    if (ids == NULL || places == NULL)
        return pv_no_memory(err);
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        if (items[i].run->advice_id[0] == '\0')
            continue;
        places[m] = (int64_t)i;
        memcpy(ids[m++], items[i].run->advice_id, sizeof *ids);
    }
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT w.place FROM unnest($2, $3) AS w (place, id) WHERE NOT EXISTS"
           " (SELECT FROM provisor.advice a WHERE a.team_id = $1 AND a.id = w.id)");
    sql_counts(&sql, places, m, sizeof *places);
    sql_uuids(&sql, ids[0], m, sizeof *ids);
    return tx_send(tx, &sql, err);
}

static void read_advice(const PGresult *result, struct run_import items[])
{
    for (size_t i = 0; i < row_count(result); i++) {
        struct row row = row_at(result, (int)i, NULL);
        items[row_int(&row)].advice_absent = true;
    }
}

/* Ids of the runs that are loaded: for each item those of its logs, then the one of its id. */
static size_t list_wanted(const struct run_import items[],
                          const struct run_logs logs[],
                          size_t n,
                          struct run wanted[])
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        if (logs[i].same)
            continue;
        for (size_t k = 0; k < logs[i].n; k++)
            memcpy(wanted[m++].id, logs[i].items[k].run_id, sizeof wanted->id);
        if (items[i].by_id[0] != '\0')
            memcpy(wanted[m++].id, items[i].by_id, sizeof wanted->id);
    }
    return m;
}

static enum pv_code decide(struct arena *arena, struct run_import *item, struct pv_error *err)
{
    size_t which;
    item->gives_way = arena_calloc(arena, item->n_known, sizeof *item->gives_way);
    if (item->gives_way == NULL)
        return pv_no_memory(err);
    item->log_verdict =
        run_logs_verdict(item->run, item->known, item->n_known, &which, item->gives_way);
    if (item->log_verdict == RUN_VERDICT_INSERT)
        return PV_OK;
    item->there = item->known[which];
    memcpy(item->by_log, item->there.id, sizeof item->by_log);
    return PV_OK;
}

/* Hand out the runs that were loaded, in the order of list_wanted. */
static enum pv_code spread_known(struct arena *arena,
                                 struct run_import items[],
                                 const struct run_logs logs[],
                                 size_t n,
                                 struct run *loaded,
                                 struct pv_error *err)
{
    for (size_t i = 0; i < n; i++) {
        struct run_import *item = &items[i];
        item->log_verdict = RUN_VERDICT_INSERT;
        item->log_same = logs[i].same;
        if (logs[i].same) {
            item->log_verdict = RUN_VERDICT_KEEP;
            memcpy(item->by_log, logs[i].items[0].run_id, sizeof item->by_log);
            continue;
        }
        item->known = loaded;
        item->n_known = logs[i].n;
        loaded += logs[i].n;
        for (size_t k = 0; k < logs[i].n; k++)
            run_set_log(&item->known[k], &logs[i].items[k]);
        if (item->by_id[0] != '\0')
            item->there = *loaded++;
        PV_TRY(decide(arena, item, err));
    }
    return PV_OK;
}

/* Load the stored runs, for the caller to compare. */
static enum pv_code load_there(struct store_tx *tx,
                               struct arena *arena,
                               const char *application_id,
                               struct run_import items[],
                               const struct run_logs logs[],
                               size_t n,
                               struct pv_error *err)
{
    size_t room = n;
    for (size_t i = 0; i < n; i++)
        room += logs[i].n;
    struct run *runs = arena_calloc(arena, room, sizeof *runs);
    if (runs == NULL)
        return pv_no_memory(err);
    size_t m = list_wanted(items, logs, n, runs);
    PV_TRY(run_load_many(tx, arena, application_id, runs, m, RUN_WITH_STAGES, err));
    return spread_known(arena, items, logs, n, runs, err);
}

enum pv_code store_run_import_find(struct store_tx *tx,
                                   struct arena *arena,
                                   const struct application *application,
                                   struct run_import items[],
                                   size_t n,
                                   struct pv_error *err)
{
    results_auto_t results = {{NULL}};
    struct run_logs *logs = NULL;
    PV_TRY(send_ids(tx, application->id, items, n, err));
    PV_TRY(send_logs(tx, application->id, items, n, err));
    PV_TRY(send_advice(tx, items, n, err));
    PV_TRY(tx_results(tx, results.of, 3, err));
    read_ids(results.of[0], items);
    PV_TRY(read_logs(results.of[1], arena, items, n, &logs, err));
    read_advice(results.of[2], items);
    return load_there(tx, arena, application->id, items, logs, n, err);
}

/* --- writing --- */

/* All runs that give way; the item takes the place of the first of them. */
static enum pv_code remove_replaced(struct store_tx *tx,
                                    const char *application_id,
                                    const struct run_import *item,
                                    struct run_import_counts *counts,
                                    struct pv_error *err)
{
    counts->merged--;
    for (size_t i = 0; i < item->n_known; i++) {
        if (!item->gives_way[i])
            continue;
        PV_TRY(run_queue_replaced(tx, application_id, item->known[i].id, err));
        counts->merged++;
    }
    return PV_OK;
}

enum pv_code store_run_import_write(struct store_tx *tx,
                                    const struct application *application,
                                    struct run_import items[],
                                    size_t n,
                                    struct run_import_counts *counts,
                                    struct pv_error *err)
{
    int64_t before = counts->inserted;
    for (size_t i = 0; i < n; i++) {
        struct run_import *item = &items[i];
        struct run *run = item->run;
        if (item->verdict == RUN_VERDICT_KEEP) {
            counts->kept++;
            continue;
        }
        if (item->verdict == RUN_VERDICT_REPLACE) {
            memcpy(run->id, item->by_log, sizeof run->id);
            PV_TRY(remove_replaced(tx, application->id, item, counts, err));
            counts->replaced++;
        } else {
            if (item->id_elsewhere)
                memcpy(run->id, item->other_id, sizeof run->id);
            counts->inserted++;
        }
        PV_TRY(run_queue_rows(tx, application->id, run, err));
    }
    /* They are counted at the end; a million of them need not be written to learn of too many. */
    PV_TRY(usage_check_runs(tx, counts->inserted, err));
    return has_outgrown_plans(before, counts->inserted) ? plan_anew(tx, err) : PV_OK;
}

enum pv_code store_run_import_end(struct store_tx *tx,
                                  const struct application *application,
                                  const struct run_import_counts *counts,
                                  struct pv_error *err)
{
    if (counts->inserted + counts->replaced == 0)
        return PV_OK;
    PV_TRY(run_queue_history(tx, application->id, counts->inserted - counts->merged, err));
    PV_TRY(outbox_append_import(tx, application, counts->inserted, counts->replaced, err));
    return journal_audit(tx, "run.import", "application", application->name, err);
}
