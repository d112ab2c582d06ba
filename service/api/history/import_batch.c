#include "api/history/import_batch.h"

#include <stdlib.h>
#include <string.h>

#include "core/history/run_reach.h"

/* Large enough that round trips cost little, small enough to be searched one run after another and
 * to fit into any machine's memory. */
enum { BATCH_RUNS = 200, BATCH_TASKS = 250000, BATCH_STAGES = 20000 };

struct import_batch {
    const struct config *config;
    int64_t now_us;
    struct arena arena; /* of the runs in hand */
    struct counter_map seen;
    struct run runs[BATCH_RUNS];
    struct run_import items[BATCH_RUNS];
    struct import_line lines[BATCH_RUNS]; /* without their texts */
    size_t n;
    size_t stages;
    size_t tasks;
    bool clashes; /* the next run is in the batch already, so it waits until that is written */
    struct run waiting;
    struct import_line waiting_line;
    struct arena waiting_arena;
    struct import_outcome outcome;
    struct pv_error conflicts;
};

struct import_batch *
import_batch_create(const struct config *config, const struct arena *first, int64_t now_us)
{
    struct import_batch *batch = calloc(1, sizeof *batch);
    if (batch == NULL)
        return NULL;
    batch->config = config;
    batch->now_us = now_us;
    arena_init_beside(&batch->arena, first, 0);
    arena_init_beside(&batch->waiting_arena, first, 0);
    return batch;
}

void import_batch_destroy(struct import_batch *batch)
{
    if (batch == NULL)
        return;
    counter_map_fini(&batch->seen);
    arena_fini(&batch->arena);
    arena_fini(&batch->waiting_arena);
    free(batch);
}

/* --- gathering --- */

static bool same_log(const struct run *a, const struct run *b)
{
    return a->spark_application_id.at != NULL && b->spark_application_id.at != NULL &&
           strview_equal(a->spark_application_id, b->spark_application_id) &&
           strview_equal(a->spark_attempt_id, b->spark_attempt_id);
}

static bool is_in_batch(const struct import_batch *batch, const struct run *run)
{
    for (size_t i = 0; i < batch->n; i++)
        if (memcmp(batch->runs[i].id, run->id, sizeof run->id) == 0 ||
            same_log(&batch->runs[i], run))
            return true;
    return false;
}

static void
take_run(struct import_batch *batch, const struct import_line *line, const struct run *run)
{
    size_t i = batch->n++;
    batch->runs[i] = *run;
    if (run->recorded_us == RUN_NO_INSTANT)
        batch->runs[i].recorded_us = batch->now_us;
    batch->items[i] = (struct run_import){.run = &batch->runs[i]};
    batch->lines[i] = (struct import_line){.index = line->index, .line = line->line};
    batch->stages += run->n_stages;
    for (size_t s = 0; s < run->n_stages; s++)
        if (run->stages[s].task_durations_s != NULL)
            batch->tasks += (size_t)run->stages[s].n_tasks;
}

/* Decoded once more, where it outlives the batch. */
static enum pv_code let_wait(struct import_batch *batch,
                             const struct import_line *line,
                             const char id[37],
                             struct pv_error *err)
{
    PV_TRY(import_line_decode(batch->config, line, batch->now_us, &batch->waiting_arena,
                              &batch->waiting, err));
    memcpy(batch->waiting.id, id, sizeof batch->waiting.id);
    batch->waiting_line = (struct import_line){.index = line->index, .line = line->line};
    batch->clashes = true;
    return PV_OK;
}

enum pv_code
import_batch_add(struct import_batch *batch, const struct import_line *line, struct pv_error *err)
{
    struct run run;
    PV_TRY(import_line_decode(batch->config, line, batch->now_us, &batch->arena, &run, err));
    PV_TRY(import_line_name(&batch->arena, &batch->seen, batch->now_us, &run, err));
    if (is_in_batch(batch, &run))
        return let_wait(batch, line, run.id, err);
    take_run(batch, line, &run);
    return PV_OK;
}

bool import_batch_is_full(const struct import_batch *batch)
{
    return batch->clashes || batch->n == BATCH_RUNS || batch->stages >= BATCH_STAGES ||
           batch->tasks >= BATCH_TASKS;
}

static void empty(struct import_batch *batch)
{
    arena_fini(&batch->arena);
    batch->n = batch->stages = batch->tasks = 0;
    if (!batch->clashes)
        return;
    struct arena next = batch->arena;
    batch->arena = batch->waiting_arena;
    batch->waiting_arena = next;
    batch->clashes = false;
    take_run(batch, &batch->waiting_line, &batch->waiting);
}

/* --- what becomes of each --- */

static enum pv_code
import_batch_refuse(struct import_batch *batch, size_t i, const char *member, const char *detail)
{
    (void)pv_fail(&batch->conflicts, PV_E_CONFLICT,
                  "the import has other values for runs that are stored already");
    return import_line_fault(&batch->lines[i], member, "conflict", detail, &batch->conflicts);
}

/* A run that is there under its id or its log. */
static enum pv_code classify_known(struct import_batch *batch, size_t i, struct pv_error *err)
{
    struct run_import *item = &batch->items[i];
    bool same = item->log_same;
    item->verdict = RUN_VERDICT_KEEP;
    if (!same)
        PV_TRY(import_line_same(&batch->arena, item->run, &item->there, &same, err));
    if (same)
        return PV_OK;
    if (item->by_log[0] == '\0') {
        (void)import_batch_refuse(batch, i, "/id",
                                  "a run of this id is stored already, with other values");
        return PV_OK;
    }
    item->verdict = item->log_verdict;
    if (item->verdict == RUN_VERDICT_CONFLICT)
        (void)import_batch_refuse(
            batch, i, "/spark_application_id",
            "a run of this application id, attempt and start is stored already, with other "
            "values: delete that run first if the line is right");
    return PV_OK;
}

static enum pv_code
import_batch_classify(struct import_batch *batch, size_t i, struct pv_error *err)
{
    struct run_import *item = &batch->items[i];
    bool by_id = item->by_id[0] != '\0', by_log = item->by_log[0] != '\0';
    batch->outcome.unknown_advice += item->advice_absent;
    item->verdict = RUN_VERDICT_INSERT;
    if (!by_id && !by_log)
        return PV_OK;
    if (!by_id || !by_log || strcmp(item->by_id, item->by_log) == 0)
        return classify_known(batch, i, err);
    item->verdict = RUN_VERDICT_CONFLICT;
    (void)import_batch_refuse(batch, i, "/id", "by its id this is one run, by its log another");
    return PV_OK;
}

static enum pv_code stop_at_conflicts(const struct import_batch *batch, struct pv_error *err)
{
    *err = batch->conflicts;
    return err->code;
}

static enum pv_code look_up(struct import_batch *batch,
                            struct store_tx *tx,
                            const struct application *application,
                            struct pv_error *err)
{
    for (size_t i = 0; i < batch->n; i++)
        import_line_other_id(batch->runs[i].id, application->id, batch->items[i].other_id);
    return batch->n == 0
               ? PV_OK
               : store_run_import_find(tx, &batch->arena, application, batch->items, batch->n, err);
}

enum pv_code import_batch_save(struct import_batch *batch,
                               struct store_tx *tx,
                               const struct application *application,
                               struct pv_error *err)
{
    PV_TRY(look_up(batch, tx, application, err));
    for (size_t i = 0; i < batch->n; i++)
        PV_TRY(import_batch_classify(batch, i, err));
    /* Nothing is written any more once there is a conflict; the rest is still compared. */
    if (batch->conflicts.n_faults == 0)
        PV_TRY(store_run_import_write(tx, application, batch->items, batch->n,
                                      &batch->outcome.counts, err));
    if (batch->conflicts.n_faults >= PV_FAULTS_MAX)
        return stop_at_conflicts(batch, err);
    empty(batch);
    return PV_OK;
}

enum pv_code import_batch_finish(struct import_batch *batch,
                                 struct store_tx *tx,
                                 const struct application *application,
                                 struct import_outcome *outcome,
                                 struct pv_error *err)
{
    while (batch->n > 0)
        PV_TRY(import_batch_save(batch, tx, application, err));
    if (batch->conflicts.n_faults > 0)
        PV_TRY(stop_at_conflicts(batch, err));
    PV_TRY(store_run_import_end(tx, application, &batch->outcome.counts, err));
    *outcome = batch->outcome;
    return PV_OK;
}
