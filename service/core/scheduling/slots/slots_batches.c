/*
 * Tasks under way. Those of a job that last equally long and were given slots together are handled
 * together, so that what a simulation costs goes by how many of these there are.
 */
#include "core/scheduling/slots/slots_engine_internal.h"
#include "core/scheduling/slots/slots_spans.h"

event_id
slots_schedule(struct slots_engine *engine, enum slots_event kind, double at_s, size_t about)
{
    const struct event event = {at_s, kind, about};
    event_id id = event_queue_schedule(&engine->queue, &event);
    engine->no_memory |= id == 0;
    return id;
}

/* --- they get slots --- */

static inline size_t add_batch(struct slots_engine *engine, const struct slots_batch *batch)
{
    size_t index = engine->over;
    if (index != SLOTS_NONE) {
        engine->over = engine->batches.items[index].next;
    } else {
        if (vector_add(engine->arena, &engine->batches) == NULL) {
            engine->no_memory = true;
            return SLOTS_NONE;
        }
        index = engine->batches.n - 1;
    }
    engine->batches.items[index] = *batch;
    return index;
}

static inline void begin_batch(struct slots_engine *engine, size_t index)
{
    struct slots_batch *batch = &engine->batches.items[index];
    double now_s = engine->clock.now_s;
    bool counts = true; /* towards the job's service */
    batch->begun_s = now_s;
    if (batch->kind == SLOTS_REDUCE)
        engine->progress[batch->job].times.shuffle_end_s = now_s;
    if (slots_has_network(engine) && batch->kind == SLOTS_REDUCE)
        slots_network_begun(engine, index);
    if (engine->hosting == NULL)
        (void)slots_schedule(engine, SLOTS_TASKS_END, now_s + batch->duration_s, index);
    else
        counts = slots_hosting_begin(engine, index);
    if (engine->follows_service && counts)
        slots_service_work(&engine->service, batch->job, now_s, batch->count);
}

/* Of reduces whose maps are done. */
static inline void plan_begin(struct slots_engine *engine, size_t index)
{
    if (slots_has_network(engine) && slots_network_holds(engine, index))
        return;
    const struct slots_batch *batch = &engine->batches.items[index];
    double begin_s = fmax(batch->given_s + engine->jobs[batch->job].shuffle_s,
                          engine->progress[batch->job].times.map_end_s);
    if (begin_s <= engine->clock.now_s) {
        begin_batch(engine, index);
        return;
    }
    event_id event = slots_schedule(engine, SLOTS_WORK_BEGINS, begin_s, index);
    if (engine->hosting != NULL)
        slots_hosting_plan(engine, index, event);
}

/* More of the same: the job was given slots at this very instant before. */
static inline bool grow(struct slots_engine *engine, const struct slots_batch *more)
{
    size_t index = engine->progress[more->job].latest[more->kind];
    struct slots_batch *batch = index != SLOTS_NONE ? &engine->batches.items[index] : NULL;
    if (batch == NULL || batch->job != more->job || batch->kind != more->kind ||
        batch->given_s != more->given_s || batch->duration_s != more->duration_s ||
        batch->seat != more->seat)
        return false;
    batch->count += more->count;
    if (slots_has_network(engine) && more->kind == SLOTS_REDUCE)
        slots_network_join(engine, index, more->count);
    if (engine->follows_service && !isnan(batch->begun_s))
        slots_service_work(&engine->service, batch->job, engine->clock.now_s, more->count);
    return true;
}

/* First among the reduces of its job that wait for the end of the maps. */
static inline void wait_for_maps(struct slots_engine *engine, size_t index)
{
    size_t *waiting = &engine->progress[engine->batches.items[index].job].waiting;
    engine->batches.items[index].next = *waiting;
    if (engine->hosting != NULL)
        slots_hosting_wait(engine->hosting, index, *waiting);
    *waiting = index;
}

static inline size_t
start_batch(struct slots_engine *engine, const struct slots_batch *batch, size_t entry, size_t twin)
{
    struct slots_job_progress *progress = &engine->progress[batch->job];
    size_t index = add_batch(engine, batch);
    if (index == SLOTS_NONE ||
        (engine->hosting != NULL && !slots_hosting_add(engine, index, entry, twin)))
        return SLOTS_NONE;
    if (slots_has_network(engine) && batch->kind == SLOTS_REDUCE)
        slots_network_fetch(engine, index);
    if (batch->kind == SLOTS_MAP) {
        begin_batch(engine, index);
    } else if (progress->maps_unfinished == 0) {
        plan_begin(engine, index);
    } else {
        wait_for_maps(engine, index);
    }
    return index;
}

static void give_batch(struct slots_engine *engine, const struct slots_batch *batch, size_t entry)
{
    if (grow(engine, batch))
        return;
    size_t index = start_batch(engine, batch, entry, SLOTS_NONE);
    if (index != SLOTS_NONE)
        engine->progress[batch->job].latest[batch->kind] = index;
}

/* The job's next tasks that last equally long, of the batch's kind, which has its count of them at
 * most: those that were lost come first, else in order of the list. Returns where they stand there. */
static size_t take_next(struct slots_engine *engine, struct slots_batch *batch)
{
    struct slots_job_progress *progress = &engine->progress[batch->job];
    const struct slots_tasks *tasks = engine->jobs[batch->job].task_lists[batch->kind].tasks;
    size_t entry = progress->list_at[batch->kind];
    if (engine->hosting != NULL &&
        slots_hosting_take_lost(engine, batch->kind, batch->job, &entry, &batch->count)) {
        batch->duration_s = tasks[entry].duration_s;
        return entry;
    }
    size_t left = tasks[entry].count - progress->given_at[batch->kind];
    batch->duration_s = tasks[entry].duration_s;
    if (left <= batch->count) {
        batch->count = left;
        progress->list_at[batch->kind]++;
        progress->given_at[batch->kind] = 0;
    } else {
        progress->given_at[batch->kind] += batch->count;
    }
    return entry;
}

void slots_batches_give(
    struct slots_engine *engine, enum slots_kind kind, size_t seat, size_t job, size_t count)
{
    struct slots_batch batch = {.given_s = engine->clock.now_s,
                                .begun_s = (double)NAN,
                                .job = job,
                                .seat = seat,
                                .kind = kind,
                                .next = SLOTS_NONE};
    while (count > 0) {
        batch.count = count;
        size_t entry = take_next(engine, &batch);
        count -= batch.count;
        give_batch(engine, &batch, entry);
    }
}

void slots_batches_maps_ended(struct slots_engine *engine, size_t job)
{
    size_t *waiting = &engine->progress[job].waiting;
    while (*waiting != SLOTS_NONE) {
        size_t batch = *waiting;
        *waiting = engine->batches.items[batch].next;
        if (engine->hosting != NULL)
            slots_hosting_wait_no_more(engine, batch);
        plan_begin(engine, batch);
    }
}

/* --- they end --- */

static void end_maps(struct slots_engine *engine, size_t job, size_t count)
{
    struct slots_job_progress *progress = &engine->progress[job];
    struct slots_counts *counts = &engine->counts[job];
    progress->maps_unfinished -= count;
    if (progress->maps_unfinished == 0) {
        progress->times.map_end_s = engine->clock.now_s;
        engine->maps_ended[engine->n_maps_ended++] = job;
    }
    if (!counts->ready[SLOTS_REDUCE] &&
        counts->finished[SLOTS_MAP] >= progress->maps_before_ready) {
        counts->ready[SLOTS_REDUCE] = true;
        slots_engine_changed(engine, SLOTS_REDUCE, job);
    }
}

static void end_job(struct slots_engine *engine, size_t job)
{
    engine->progress[job].times.finish_s = engine->clock.now_s;
    engine->jobs_ended[engine->n_jobs_ended++] = job;
    if (engine->follows_service)
        slots_service_end(&engine->service, job);
    if (engine->fairness != NULL)
        fairness_series_end(engine->fairness, job);
    if (engine->copies != NULL)
        slots_copies_job_ended(engine->copies, job);
    if (slots_has_network(engine))
        slots_network_job_ended(engine, job);
}

static void record(struct slots_engine *engine, size_t index, bool finished)
{
    const struct slots_batch *batch = &engine->batches.items[index];
    const struct slots_attempt *attempt =
        engine->hosting != NULL ? &engine->hosting->attempts.items[index] : NULL;
    const struct slots_span span = {.job = batch->job,
                                    .kind = batch->kind,
                                    .node = attempt != NULL ? attempt->node : 0,
                                    .count = batch->count,
                                    .given_s = batch->given_s,
                                    .begun_s = batch->begun_s,
                                    .end_s = engine->clock.now_s,
                                    .is_copy = attempt != NULL && attempt->is_copy,
                                    .finished = finished};
    slots_spans_add(engine->spans, &span);
}

static inline void put_over(struct slots_engine *engine, size_t index, bool finished)
{
    struct slots_batch *batch = &engine->batches.items[index];
    size_t *latest = &engine->progress[batch->job].latest[batch->kind];
    if (*latest == index)
        *latest = SLOTS_NONE; /* the next one at this index may be a copy, which must not grow */
    if (engine->spans != NULL)
        record(engine, index, finished);
    if (slots_has_network(engine) && batch->kind == SLOTS_REDUCE)
        slots_network_over(engine, index);
    if (engine->hosting != NULL)
        slots_hosting_over(engine, index);
    else
        engine->free.slots[batch->kind][batch->seat] += batch->count;
    batch->job = SLOTS_NONE;
    batch->next = engine->over;
    engine->over = index;
}

void slots_batch_end(struct slots_engine *engine, size_t index)
{
    const struct slots_batch batch = engine->batches.items[index];
    struct slots_job_progress *progress = &engine->progress[batch.job];
    struct slots_counts *counts = &engine->counts[batch.job];
    struct slots_worked worked = {batch.begun_s, batch.duration_s, batch.duration_s};
    if (engine->hosting != NULL) { /* as it is wherever there is a network */
        worked = slots_hosting_end(engine, &index);
        if (slots_has_network(engine) && batch.kind == SLOTS_MAP)
            slots_network_map_ended(engine, batch.job, engine->hosting->attempts.items[index].node,
                                    batch.count);
    }
    put_over(engine, index, true);
    engine->ended_tasks += batch.count;
    counts->held[batch.kind] -= batch.count;
    counts->finished[batch.kind] += batch.count;
    slots_observe_held(engine, batch.kind, batch.job, -(double)batch.count);
    counts->finished_s[batch.kind] += (double)batch.count * worked.task_s;
    progress->unfinished -= batch.count;
    if (engine->follows_service)
        slots_service_rest(&engine->service, batch.job, engine->clock.now_s, batch.count,
                           worked.begun_s, worked.service_s);
    slots_engine_changed(engine, batch.kind, batch.job);
    if (batch.kind == SLOTS_MAP)
        end_maps(engine, batch.job, batch.count);
    if (progress->unfinished == 0)
        end_job(engine, batch.job);
}

/* --- for the other parts --- */

size_t slots_batch_add(struct slots_engine *engine, const struct slots_batch *batch)
{
    return add_batch(engine, batch);
}

void slots_batch_plan(struct slots_engine *engine, size_t index)
{
    plan_begin(engine, index);
}

void slots_batch_begin(struct slots_engine *engine, size_t index)
{
    begin_batch(engine, index);
}

size_t slots_batch_start(struct slots_engine *engine,
                         const struct slots_batch *batch,
                         size_t entry,
                         size_t twin)
{
    return start_batch(engine, batch, entry, twin);
}

void slots_batch_over(struct slots_engine *engine, size_t index, bool finished)
{
    put_over(engine, index, finished);
}
