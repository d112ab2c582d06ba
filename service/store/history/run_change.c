#include "store/history/run_change.h"

#include <stdio.h>
#include <string.h>

#include "base/fault_text.h"
#include "store/history/run_internal.h"

/* --- one run --- */

/* Whoever adds runs to the application waits until the end of the transaction. */
static enum pv_code lock_and_find(struct store_tx *tx,
                                  struct arena *arena,
                                  const char *name,
                                  struct application *application,
                                  struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT FROM provisor.application WHERE team_id = $1 AND name = $2 FOR NO KEY UPDATE");
    sql_text(&sql, strview_of(name));
    PV_TRY(tx_defer(tx, &sql, err));
    return store_application_find(tx, arena, name, application, err);
}

static enum pv_code find_target(struct store_tx *tx,
                                struct arena *arena,
                                struct strview name,
                                struct application *target,
                                struct pv_error *err)
{
    struct pv_error why = {0};
    const char *text = arena_strndup(arena, name.at, name.n);
    if (text == NULL)
        return pv_no_memory(err);
    enum pv_code code = lock_and_find(tx, arena, text, target, &why);
    if (code == PV_E_NOT_FOUND)
        return pv_fault(err, PV_PLACE_POINTER, "/application", "not_found",
                        "there is no application %s", fault_quote(text).text);
    return code == PV_OK ? PV_OK : pv_fail(err, code, "%s", why.detail);
}

static enum pv_code check_free(struct store_tx *tx,
                               const struct application *target,
                               const struct run *run,
                               struct pv_error *err)
{
    results_auto_t results = {{NULL}};
    struct run_logs logs;
    if (run->spark_application_id.at == NULL)
        return PV_OK;
    PV_TRY(run_send_logs(tx, target->id, run, err));
    PV_TRY(tx_results(tx, results.of, 1, err));
    PV_TRY(run_read_logs(results.of[0], &tx->scratch, run, &logs, err));
    return logs.n == 0
               ? PV_OK
               : pv_fail(err, PV_E_CONFLICT, "that application has a run of this log already");
}

static enum pv_code load(struct store_tx *tx,
                         struct arena *arena,
                         const char *application_name,
                         const struct application *from,
                         const char *run_id,
                         struct run *run,
                         struct pv_error *err)
{
    PV_TRY(store_run_find(tx, arena, application_name, run_id, RUN_WITH_STAGES | RUN_WITH_TASKS,
                          run, NULL, err));
    return run_load_digests(tx, arena, from->id, run, 1, RUN_WITH_DIGEST, err);
}

static enum pv_code write_anew(struct store_tx *tx,
                               const struct application *from,
                               const struct application *to,
                               const struct run *run,
                               struct pv_error *err)
{
    const bool moves = strcmp(from->id, to->id) != 0;
    PV_TRY(run_queue_removal(tx, from->id, run->id, err));
    if (moves)
        PV_TRY(run_queue_history(tx, from->id, -1, err));
    PV_TRY(run_queue_rows(tx, to->id, run, err));
    PV_TRY(run_queue_history(tx, to->id, moves ? 1 : 0, err));
    return journal_audit(tx, "run.update", "run", strview_of(run->id), err);
}

enum pv_code store_run_change(struct store_tx *tx,
                              struct arena *arena,
                              const char *application_name,
                              const char *run_id,
                              const struct run_change *change,
                              struct run *run,
                              struct application *application,
                              struct pv_error *err)
{
    struct application from, to;
    struct run changed;
    PV_TRY(lock_and_find(tx, arena, application_name, &from, err));
    store_set_application(tx, from.id);
    PV_TRY(load(tx, arena, application_name, &from, run_id, &changed, err));
    to = from;
    if (change->application.at != NULL && !strview_equal(change->application, from.name)) {
        PV_TRY(find_target(tx, arena, change->application, &to, err));
        PV_TRY(check_free(tx, &to, &changed, err));
    }
    run_change_apply(change, &from.size_measure, &to.size_measure, &changed);
    PV_TRY(write_anew(tx, &from, &to, &changed, err));
    *run = changed;
    *application = to;
    return PV_OK;
}

/* --- all runs of an application --- */

enum { SIZES_TOGETHER = 200 };

struct new_size {
    char id[37];
    double size;
    int64_t whole;
    struct strview measure;
};

static enum pv_code write_sizes(struct store_tx *tx,
                                const char *application_id,
                                const struct new_size sizes[],
                                size_t n,
                                struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "UPDATE provisor.run AS r SET exact_problem_size = n.size, problem_size = n.whole,"
           " problem_size_given = false, problem_size_measure = nullif(n.measure, '')"
           " FROM unnest($3, $4, $5, $6) AS n (id, size, whole, measure)"
           " WHERE r.team_id = $1 AND r.application_id = $2 AND r.id = n.id");
    sql.repeated = true;
    sql_uuid(&sql, application_id);
    sql_uuids(&sql, sizes->id, n, sizeof *sizes);
    sql_doubles(&sql, &sizes->size, n, sizeof *sizes);
    sql_counts(&sql, &sizes->whole, n, sizeof *sizes);
    sql_texts(&sql, &sizes->measure, n, sizeof *sizes);
    PV_TRY(tx_defer(tx, &sql, err));
    return tx_results(tx, NULL, 0, err);
}

/* A page of the runs, whose sizes are written where they change. */
static enum pv_code measure_page(struct store_tx *tx,
                                 struct arena *arena,
                                 const struct application *application,
                                 const struct size_measure *before,
                                 struct run_filter *filter,
                                 bool *more,
                                 size_t *changed,
                                 struct pv_error *err)
{
    struct run_list page;
    struct new_size sizes[SIZES_TOGETHER];
    size_t n = 0;
    PV_TRY(store_run_list(tx, arena, application, filter, &page, err));
    for (size_t i = 0; i < page.n; i++) {
        struct run *run = &page.items[i];
        if (!problem_size_measure(run, before, &application->size_measure))
            continue;
        sizes[n].size = run->problem_size;
        sizes[n].whole = run_whole_problem_size(run->problem_size);
        sizes[n].measure = run->problem_size_measure;
        memcpy(sizes[n++].id, run->id, sizeof run->id);
    }
    *more = page.more;
    *changed += n;
    if (page.n > 0) {
        filter->before_us = page.instants_us[page.n - 1];
        memcpy(filter->before_id, page.items[page.n - 1].id, sizeof filter->before_id);
    }
    return n == 0 ? PV_OK : write_sizes(tx, application->id, sizes, n, err);
}

enum pv_code store_run_measure_sizes(struct store_tx *tx,
                                     const struct application *application,
                                     const struct size_measure *before,
                                     struct pv_error *err)
{
    struct run_filter filter = {.since_us = RUN_NO_INSTANT,
                                .until_us = RUN_NO_INSTANT,
                                .before_us = RUN_NO_INSTANT,
                                .limit = SIZES_TOGETHER,
                                .with = RUN_WITH_STAGES,
                                .stages_most = 20000};
    size_t changed = 0;
    struct arena arena;
    enum pv_code code = PV_OK;
    arena_init(&arena, 0);
    for (bool more = true; more && code == PV_OK;) {
        struct arena_mark mark = arena_mark(&arena);
        code = measure_page(tx, &arena, application, before, &filter, &more, &changed, err);
        arena_rewind(&arena, mark);
    }
    arena_fini(&arena);
    PV_TRY(code);
    return changed == 0 ? PV_OK : run_queue_history(tx, application->id, 0, err);
}
