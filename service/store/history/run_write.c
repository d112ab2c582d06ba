#include <math.h>
#include <string.h>

#include "base/fault_text.h"
#include "core/history/log_damage.h"
#include "core/history/run_reach.h"
#include "store/clusters/admission.h"
#include "store/history/run_internal.h"
#include "store/outbox/outbox.h"
#include "store/usage/usage.h"
#include "threads/clock.h"

/*
 * Inserting takes two round trips: one locks the application (so that what one application learns
 * is serialised, and each log is kept once), one writes everything; the latter is queued and goes
 * out with whatever comes next, at best the commit.
 */

/* What was there when the application was locked. */
struct lookup {
    int64_t now_us;
    struct run_logs logs;
};

/* --- looking --- */

static enum pv_code send_lock(struct store_tx *tx, const char *application_id, struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT clock_timestamp() FROM provisor.application WHERE team_id = $1 AND id = $2"
           " FOR NO KEY UPDATE");
    sql_uuid(&sql, application_id);
    return tx_send(tx, &sql, err);
}

static enum pv_code
send_advice_check(struct store_tx *tx, const struct run *run, struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT $2 IS NULL OR EXISTS (SELECT FROM provisor.advice"
           " WHERE team_id = $1 AND id = $2)");
    sql_uuid(&sql, run->advice_id);
    return tx_send(tx, &sql, err);
}

/* results[2] is NULL for a run without a log. */
static enum pv_code read_lookup(PGresult *const results[3],
                                struct arena *arena,
                                const struct run *run,
                                struct lookup *found,
                                struct pv_error *err)
{
    if (row_count(results[0]) == 0) /* it was there a moment ago; the next look makes it anew */
        return pv_fail(err, PV_E_RETRY, "the application has just been deleted");
    struct row advice = row_at(results[1], 0, NULL);
    if (!row_bool(&advice))
        return pv_fault(err, PV_PLACE_POINTER, "/advice_id", "not_found",
                        "there is no advice of that id");
    struct row lock = row_at(results[0], 0, NULL);
    *found = (struct lookup){.now_us = row_instant(&lock)};
    return results[2] == NULL ? PV_OK : run_read_logs(results[2], arena, run, &found->logs, err);
}

/* A run without a log asks for none: the server would look for a log without a name by walking over
 * all there are, with helpers that take 20 ms to call. */
static enum pv_code look_up(struct store_tx *tx,
                            struct arena *arena,
                            const char *application_id,
                            const struct run *run,
                            struct lookup *found,
                            struct pv_error *err)
{
    const bool has_log = run->spark_application_id.at != NULL;
    results_auto_t results = {{NULL}};
    PV_TRY(send_lock(tx, application_id, err));
    PV_TRY(send_advice_check(tx, run, err));
    if (has_log)
        PV_TRY(run_send_logs(tx, application_id, run, err));
    PV_TRY(tx_results(tx, results.of, has_log ? 3 : 2, err));
    return read_lookup(results.of, arena, run, found, err);
}

/* --- writing: all queued --- */

static bool list_warnings(const struct run *run, struct arena *arena, struct run_warnings *list)
{
    list->n = run->warnings.n;
    list->rows = arena_array(arena, list->n, sizeof *list->rows);
    for (size_t i = 0; list->rows != NULL && i < list->n; i++) {
        const struct finding *warning = &run->warnings.items[i];
        double count = finding_value(warning, "count");
        list->rows[i] = (struct run_warning_row){strview_of(warning->code),
                                                 isnan(count) ? RUN_UNKNOWN : (int64_t)count,
                                                 strview_of(warning->message)};
    }
    return list->rows != NULL;
}

/* Durations that were spread from a sketch are not kept: the sketch is. */
static bool is_listed(const struct run_stage *stage)
{
    return stage->task_durations_s != NULL && stage->n_task_sketch == 0;
}

/* Of a list beside the durations. */
static size_t list_length(const struct run_stage *stage, const int64_t *list)
{
    return is_listed(stage) && list != NULL ? (size_t)stage->n_tasks : 0;
}

/* Rows with their indexes, measured at runs without texts; eight bytes a number. */
enum {
    RUN_ROW_BYTES = 1000,
    LABEL_ROW_BYTES = 200,
    STAGE_ROW_BYTES = 250,
    NODE_BYTES = 12,
    EXECUTOR_BYTES = 32
};

/* What a run takes in the database, about. */
static int64_t estimate_bytes(const struct run *run)
{
    size_t bytes = RUN_ROW_BYTES + LABEL_ROW_BYTES * run->n_labels +
                   EXECUTOR_BYTES * run->n_executor_lifetimes;
    for (size_t i = 0; i < run->n_nodes; i++)
        bytes += NODE_BYTES + run->nodes[i].name.n;
    for (size_t i = 0; i < run->n_stages; i++) {
        const struct run_stage *s = &run->stages[i];
        size_t tasks = is_listed(s) ? (size_t)s->n_tasks : 2 * s->n_task_sketch;
        tasks += list_length(s, s->task_nodes) + list_length(s, s->task_read_bytes);
        bytes += STAGE_ROW_BYTES + s->name.n + 8 * (s->n_parents + tasks);
    }
    return (int64_t)bytes;
}

static enum pv_code write_run(struct store_tx *tx,
                              const char *application_id,
                              const struct run *run,
                              struct pv_error *err)
{
    static struct columns_statement statement = {
        "INSERT INTO provisor.run (team_id, application_id, bytes, problem_size, {run:written},"
        " measured, {measures:written}, {warnings:written}, {nodes:written})"
        " VALUES ($1, $2, $3, $4, {run:values}, true, {measures:values}, {warnings:values},"
        " {nodes:values})",
        .of = {&run_columns, &run_measure_columns, &run_warning_columns, &run_node_columns}};
    struct sql sql;
    struct run_measures measures;
    struct run_warnings warnings;
    PV_TRY(run_measure(run, &tx->scratch, &measures, err));
    if (!list_warnings(run, &tx->scratch, &warnings))
        return pv_no_memory(err);
    const int64_t bytes = estimate_bytes(run);
    tx->run_bytes += bytes; /* until run_queue_history */
    tx_columns(tx, &sql, &statement);
    sql.repeated = true;
    sql_uuid(&sql, application_id);
    sql_int(&sql, bytes);
    sql_count(&sql, run_whole_problem_size(run->problem_size));
    columns_bind(&sql, &run_columns, run);
    columns_bind(&sql, &run_measure_columns, &measures);
    columns_bind(&sql, &run_warning_columns, &warnings);
    columns_bind(&sql, &run_node_columns, run);
    return tx_defer(tx, &sql, err);
}

static enum pv_code write_labels(struct store_tx *tx,
                                 const char *application_id,
                                 const struct run *run,
                                 struct pv_error *err)
{
    if (run->n_labels == 0)
        return PV_OK;
    struct sql sql;
    tx_sql(tx, &sql,
           "INSERT INTO provisor.run_label (team_id, application_id, run_id, key, value, instant)"
           " SELECT $1, $2, $3, l.key, l.value, $6 FROM unnest($4, $5) AS l (key, value)");
    sql.repeated = true;
    sql_uuid(&sql, application_id);
    sql_uuid(&sql, run->id);
    sql_pairs(&sql, run->labels, run->n_labels);
    sql_instant(&sql, run->started_us == RUN_NO_INSTANT ? run->recorded_us : run->started_us);
    return tx_defer(tx, &sql, err);
}

/* Lists of unequal length do not make one SQL array, so those of all stages lie end to end in one for
 * each kind; each stage says where its own begin and how many they are (-1: none). */
enum { RAGGED_PARENTS, RAGGED_DURATIONS, RAGGED_NODES, RAGGED_READ_BYTES, RAGGED_LISTS };

struct span {
    int64_t at;
    int64_t n;
};

struct ragged {
    size_t n[RAGGED_LISTS];
    int64_t *counts[RAGGED_LISTS]; /* but for the durations */
    double *durations;
    struct span (*spans)[RAGGED_LISTS];
};

static const void *ragged_list(const struct run_stage *s, unsigned kind, size_t *n)
{
    const void *const lists[RAGGED_LISTS] = {s->parents, s->task_durations_s, s->task_nodes,
                                             s->task_read_bytes};
    *n = kind == RAGGED_PARENTS                ? s->n_parents
         : is_listed(s) && lists[kind] != NULL ? (size_t)s->n_tasks
                                               : 0;
    return kind == RAGGED_PARENTS || is_listed(s) ? lists[kind] : NULL;
}

static bool count_ragged(const struct run *run, struct ragged *r)
{
    for (size_t i = 0; i < run->n_stages; i++)
        for (unsigned kind = 0; kind < RAGGED_LISTS; kind++) {
            size_t n;
            (void)ragged_list(&run->stages[i], kind, &n);
            if (__builtin_add_overflow(r->n[kind], n, &r->n[kind]))
                return false;
        }
    return true;
}

static bool allocate_ragged(const struct run *run, struct arena *arena, struct ragged *r)
{
    bool sound = true;
    for (unsigned kind = 0; kind < RAGGED_LISTS; kind++) {
        if (kind == RAGGED_DURATIONS)
            continue;
        r->counts[kind] = arena_array(arena, r->n[kind], sizeof **r->counts);
        sound = sound && r->counts[kind] != NULL;
    }
    r->durations = arena_array(arena, r->n[RAGGED_DURATIONS], sizeof *r->durations);
    r->spans = arena_array(arena, run->n_stages, sizeof *r->spans);
    return sound && r->durations != NULL && r->spans != NULL;
}

static bool make_ragged(const struct run *run, struct arena *arena, struct ragged *r)
{
    size_t at[RAGGED_LISTS] = {0};
    *r = (struct ragged){.durations = NULL};
    if (!count_ragged(run, r) || !allocate_ragged(run, arena, r))
        return false;
    for (size_t i = 0; i < run->n_stages; i++)
        for (unsigned kind = 0; kind < RAGGED_LISTS; kind++) {
            size_t n;
            const void *list = ragged_list(&run->stages[i], kind, &n);
            bool there = kind == RAGGED_PARENTS || list != NULL;
            r->spans[i][kind] = (struct span){(int64_t)at[kind], there ? (int64_t)n : RUN_UNKNOWN};
            if (n > 0 && kind == RAGGED_DURATIONS)
                memcpy(r->durations + at[kind], list, n * sizeof *r->durations);
            else if (n > 0)
                memcpy(r->counts[kind] + at[kind], list, n * sizeof **r->counts);
            at[kind] += n;
        }
    return true;
}

static enum pv_code write_some_stages(struct store_tx *tx,
                                      const char *application_id,
                                      const struct run *run,
                                      struct pv_error *err)
{
    static struct columns_statement statement = {
        "INSERT INTO provisor.run_stage (team_id, application_id, run_id, parents,"
        " task_durations_s, task_nodes, task_read_bytes, {stage:written})"
        " SELECT $1, $2, $3, $4[s.p + 1 : s.p + s.np],"
        " CASE WHEN s.nd IS NOT NULL THEN $5[s.d + 1 : s.d + s.nd] END,"
        " CASE WHEN s.nn IS NOT NULL THEN $6[s.n + 1 : s.n + s.nn] END,"
        " CASE WHEN s.nb IS NOT NULL THEN $7[s.b + 1 : s.b + s.nb] END, {stage:written}"
        " FROM unnest($8, $9, $10, $11, $12, $13, $14, $15, {stage:values})"
        " AS s (p, np, d, nd, n, nn, b, nb, {stage:written})",
        .of = {&run_stage_columns}};
    struct ragged ragged;
    if (!make_ragged(run, &tx->scratch, &ragged))
        return pv_no_memory(err);
    struct sql sql;
    tx_columns(tx, &sql, &statement);
    sql.repeated = true;
    sql_uuid(&sql, application_id);
    sql_uuid(&sql, run->id);
    for (unsigned kind = 0; kind < RAGGED_LISTS; kind++) {
        if (kind == RAGGED_DURATIONS)
            sql_doubles(&sql, ragged.durations, ragged.n[kind], sizeof *ragged.durations);
        else
            sql_counts(&sql, ragged.counts[kind], ragged.n[kind], sizeof **ragged.counts);
    }
    for (unsigned kind = 0; kind < RAGGED_LISTS; kind++) {
        const struct span *span = *ragged.spans + kind;
        sql_counts(&sql, &span->at, run->n_stages, sizeof *ragged.spans);
        sql_counts(&sql, &span->n, run->n_stages, sizeof *ragged.spans);
    }
    columns_bind_all(&sql, &run_stage_columns, run->stages, run->n_stages);
    enum pv_code code = tx_defer(tx, &sql, err);
    size_t written;
    return code != PV_OK || !run->tasks_thinned
               ? code
               : run_write_sketches(tx, application_id, run->id, run->stages, run->n_stages,
                                    &written, err);
}

enum { DURATIONS_TOGETHER = 1 << 16 };

/* How many stages from the first on go together: at least one. */
static size_t count_together(const struct run *run)
{
    size_t durations = 0;
    for (size_t i = 0; i < run->n_stages; i++) {
        const struct run_stage *s = &run->stages[i];
        durations += s->task_durations_s == NULL ? 0 : (size_t)s->n_tasks;
        if (i > 0 && durations > DURATIONS_TOGETHER)
            return i;
    }
    return run->n_stages;
}

/* A run of millions of tasks goes in several statements, each waited for, so that copies of its
 * durations take no more than those of one statement; any other in one that nothing waits for. */
static enum pv_code write_stages(struct store_tx *tx,
                                 const char *application_id,
                                 const struct run *run,
                                 struct pv_error *err)
{
    struct run rest = *run;
    while (rest.n_stages > 0) {
        struct run some = rest;
        some.n_stages = count_together(&rest);
        rest.stages += some.n_stages;
        rest.n_stages -= some.n_stages;
        struct arena_mark mark = arena_mark(&tx->scratch);
        PV_TRY(write_some_stages(tx, application_id, &some, err));
        arena_rewind(&tx->scratch, mark);
        if (rest.n_stages > 0)
            PV_TRY(tx_results(tx, NULL, 0, err));
    }
    return PV_OK;
}

enum pv_code run_queue_history(struct store_tx *tx,
                               const char *application_id,
                               int64_t runs_more,
                               struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "UPDATE provisor.application SET history_version = history_version + 1,"
           " runs = runs + $3, run_bytes = run_bytes + $4 WHERE team_id = $1 AND id = $2");
    sql_uuid(&sql, application_id);
    sql_int(&sql, runs_more);
    sql_int(&sql, tx->run_bytes);
    tx->run_bytes = 0;
    PV_TRY(tx_defer(tx, &sql, err));
    return runs_more < 0 ? PV_OK : usage_check_runs(tx, 0, err);
}

enum pv_code run_queue_removal(struct store_tx *tx,
                               const char *application_id,
                               const char *run_id,
                               struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "DELETE FROM provisor.run WHERE team_id = $1 AND application_id = $2 AND id = $3");
    sql_uuid(&sql, application_id);
    sql_uuid(&sql, run_id);
    return tx_defer(tx, &sql, err);
}

enum pv_code run_queue_rows(struct store_tx *tx,
                            const char *application_id,
                            const struct run *run,
                            struct pv_error *err)
{
    PV_TRY(write_run(tx, application_id, run, err));
    PV_TRY(write_labels(tx, application_id, run, err));
    PV_TRY(run_queue_log(tx, application_id, run, err));
    return write_stages(tx, application_id, run, err);
}

/* The verdict on a run next to the stored runs of its logs. */
struct decision {
    enum run_verdict verdict;
    struct run *stored;
    size_t n;
    size_t which;
    bool *gives_way;
};

/* Queue the removal of all that give way. Returns the number of them. */
static enum pv_code remove_replaced(struct store_tx *tx,
                                    const char *application_id,
                                    const struct decision *decision,
                                    int64_t *removed,
                                    struct pv_error *err)
{
    *removed = 0;
    if (decision->verdict != RUN_VERDICT_REPLACE)
        return PV_OK;
    for (size_t i = 0; i < decision->n; i++) {
        if (!decision->gives_way[i])
            continue;
        PV_TRY(run_queue_replaced(tx, application_id, decision->stored[i].id, err));
        ++*removed;
    }
    return PV_OK;
}

static enum pv_code write_all(struct store_tx *tx,
                              const struct application *application,
                              const struct run *run,
                              const struct decision *decision,
                              struct pv_error *err)
{
    int64_t removed = 0;
    PV_TRY(remove_replaced(tx, application->id, decision, &removed, err));
    PV_TRY(run_queue_rows(tx, application->id, run, err));
    PV_TRY(run_queue_history(tx, application->id, 1 - removed, err));
    PV_TRY(outbox_append_run(tx, application, run, err));
    PV_TRY(admission_release_by_run(tx, application->name, run, err));
    return removed > 0 ? PV_OK : journal_audit(tx, "run.insert", "run", strview_of(run->id), err);
}

/* --- the calls --- */

static struct log_extent extent_of(const struct run *run)
{
    bool counted = run->tasks_succeeded >= 0 && run->tasks_failed >= 0;
    return (struct log_extent){.duration_s = run->duration_s,
                               .tasks =
                                   counted ? run->tasks_succeeded + run->tasks_failed : RUN_UNKNOWN,
                               .ended = run->ended,
                               .damage = log_damage(run)};
}

static enum pv_code load_stored(struct store_tx *tx,
                                struct arena *arena,
                                const char *application_id,
                                const struct run_logs *logs,
                                struct decision *decision,
                                struct pv_error *err)
{
    decision->n = logs->n;
    decision->stored = arena_calloc(arena, logs->n, sizeof *decision->stored);
    decision->gives_way = arena_calloc(arena, logs->n, sizeof *decision->gives_way);
    if (decision->stored == NULL || decision->gives_way == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < logs->n; i++) {
        PV_TRY(
            run_load(tx, arena, application_id, logs->items[i].run_id, &decision->stored[i], err));
        run_set_log(&decision->stored[i], &logs->items[i]);
    }
    return PV_OK;
}

static enum pv_code decide(struct store_tx *tx,
                           struct arena *arena,
                           const char *application_id,
                           const struct run_logs *logs,
                           const struct run *run,
                           struct decision *decision,
                           struct pv_error *err)
{
    *decision = (struct decision){.verdict = RUN_VERDICT_INSERT};
    if (logs->n == 0)
        return PV_OK;
    PV_TRY(load_stored(tx, arena, application_id, logs, decision, err));
    decision->verdict =
        run_logs_verdict(run, decision->stored, decision->n, &decision->which, decision->gives_way);
    return decision->verdict != RUN_VERDICT_CONFLICT
               ? PV_OK
               : pv_fail(err, PV_E_CONFLICT,
                         "run %s was read from another log with the same application id, attempt,"
                         " start and first events: both logs are intact and have ended, but they"
                         " differ. Delete that run first if this log is the right one",
                         decision->stored[decision->which].id);
}

static struct run_insert
describe(const struct decision *decision, const struct run_logs *logs, const struct run *run)
{
    struct run_insert insert = {.outcome = RUN_INSERTED};
    if (decision->verdict == RUN_VERDICT_INSERT)
        return insert;
    insert.outcome = decision->verdict == RUN_VERDICT_KEEP ? RUN_UNCHANGED : RUN_REPLACED;
    insert.compared = !logs->same;
    insert.sent = extent_of(run);
    insert.stored = extent_of(&decision->stored[decision->which]);
    return insert;
}

enum pv_code store_run_insert(struct store_tx *tx,
                              struct arena *arena,
                              const struct application *application,
                              const unsigned char *log_digest,
                              struct run *run,
                              struct run_insert *insert,
                              struct pv_error *err)
{
    struct lookup there;
    struct decision decision;
    struct run made = *run;
    made.log_digest =
        (struct strview){(const char *)log_digest, log_digest == NULL ? 0 : RUN_DIGEST_BYTES};
    store_set_application(tx, application->id);
    PV_TRY(look_up(tx, arena, application->id, &made, &there, err));
    PV_TRY(decide(tx, arena, application->id, &there.logs, &made, &decision, err));
    *insert = describe(&decision, &there.logs, &made);
    if (decision.verdict == RUN_VERDICT_KEEP) {
        *run = decision.stored[decision.which];
        return PV_OK;
    }
    if (decision.verdict == RUN_VERDICT_REPLACE)
        memcpy(made.id, decision.stored[decision.which].id, sizeof made.id);
    else
        clock_uuid7(made.id);
    made.recorded_us = there.now_us;
    PV_TRY(write_all(tx, application, &made, &decision, err));
    *run = made;
    return PV_OK;
}

static enum pv_code find_application_id(struct store_tx *tx,
                                        const char *name,
                                        char application_id[37],
                                        struct pv_error *err)
{
    struct sql sql;
    tx_sql(tx, &sql,
           "SELECT id FROM provisor.application WHERE team_id = $1 AND name = $2"
           " FOR NO KEY UPDATE");
    sql_text(&sql, strview_of(name));
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, &sql, &result, err));
    if (row_count(result) == 0)
        return pv_fail(err, PV_E_NOT_FOUND, "there is no application %s", fault_quote(name).text);
    struct row row = row_at(result, 0, NULL);
    row_uuid(&row, application_id);
    return PV_OK;
}

enum pv_code store_run_delete(struct store_tx *tx,
                              const char *application_name,
                              const char *run_id,
                              struct pv_error *err)
{
    char application_id[37];
    PV_TRY(find_application_id(tx, application_name, application_id, err));
    struct sql sql;
    tx_sql(tx, &sql,
           "DELETE FROM provisor.run WHERE team_id = $1 AND application_id = $2 AND id = $3"
           " RETURNING id");
    sql_uuid(&sql, application_id);
    sql_uuid(&sql, run_id);
    result_auto_t *result = NULL;
    PV_TRY(tx_query(tx, &sql, &result, err));
    bool found = row_count(result) > 0;
    if (!found)
        return pv_fail(err, PV_E_NOT_FOUND, "there is no run of that id");
    PV_TRY(run_queue_history(tx, application_id, -1, err));
    return journal_audit(tx, "run.delete", "run", strview_of(run_id), err);
}
