/*
 * The loop of events. Tasks are handled in batches: those of a job that last equally long, were
 * given slots of one partition at one instant, and so end together.
 */
#include "core/scheduling/slots_engine.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/rounding.h"
#include "base/vector.h"
#include "core/scheduling/arrival_order.h"
#include "core/scheduling/slots_service.h"
#include "core/sim/clock.h"
#include "core/sim/event_queue.h"

/* Steps between two reports, less than a millisecond: instants, slots given to a job at once, jobs that
 * the policy looks through. */
enum { REPORT_EVERY = 1024 };

enum slots_event { TASKS_END, WORK_BEGINS };

#define NONE SIZE_MAX

struct batch {
    double given_s;
    double begun_s; /* NAN: not yet */
    double duration_s;
    size_t job; /* NONE: it is over */
    size_t count;
    size_t partition;
    enum slots_kind kind;
    size_t next; /* of the job's that wait for its maps, or of those that are over */
};

/* Of a job, what policies do not see. */
struct progress {
    size_t list_at[SLOTS_KINDS];  /* the tasks that are given out next */
    size_t given_at[SLOTS_KINDS]; /* how many of them have been */
    size_t latest[SLOTS_KINDS];   /* batch */
    size_t waiting;               /* batches of reduces that wait for the end of the maps */
    size_t unfinished;            /* tasks */
    size_t maps_unfinished;
    size_t maps_before_ready; /* that have to finish before reduces are given slots */
    struct slots_job_times times;
};

struct engine {
    struct slots_view view;
    const struct slots_policy *policy;
    void *policy_state;
    bool follows_service;        /* the policy has limits */
    struct occupancy *occupancy; /* NULL: nobody looks */
    struct arena *arena;
    struct sim_clock clock;
    struct event_queue queue;
    struct slots_service service;
    struct slots_job *jobs; /* in order of arrival */
    struct slots_counts *counts;
    struct progress *progress;
    size_t arrived; /* jobs */
    size_t ended;   /* jobs */
    size_t ended_tasks;
    struct slots_partitions free; /* slots */
    VECTOR(struct batch) batches;
    size_t over;        /* chain of batches that are over */
    size_t *maps_ended; /* jobs, at this instant */
    size_t n_maps_ended;
    size_t *jobs_ended; /* likewise */
    size_t n_jobs_ended;
    size_t *due; /* jobs that cross */
    bool no_memory;
    const struct slots_progress *report; /* NULL: nobody is informed */
    size_t unreported;                   /* steps since the last report */
    size_t looked_through;               /* jobs, by the policy, not among these steps yet */
    bool cancelled;
};

/* A step more was made. false: stop, the run is cancelled. */
static bool goes_on(struct engine *engine)
{
    engine->unreported += 1 + engine->looked_through;
    engine->looked_through = 0;
    if (engine->unreported >= REPORT_EVERY) {
        engine->unreported = 0;
        engine->cancelled |= engine->report != NULL &&
                             !engine->report->report(engine->report->context, engine->ended_tasks);
    }
    return !engine->cancelled;
}

/* So many tasks more, or fewer, are pending or hold slots. */
static void
observe(const struct engine *engine, enum slots_series first, enum slots_kind kind, double by)
{
    if (engine->occupancy != NULL)
        occupancy_change(engine->occupancy, (uint32_t)first + (uint32_t)kind, engine->clock.now_s,
                         by);
}

/* --- batches --- */

static size_t add_batch(struct engine *engine, const struct batch *batch)
{
    size_t index = engine->over;
    if (index != NONE) {
        engine->over = engine->batches.items[index].next;
    } else {
        if (vector_add(engine->arena, &engine->batches) == NULL) {
            engine->no_memory = true;
            return NONE;
        }
        index = engine->batches.n - 1;
    }
    engine->batches.items[index] = *batch;
    return index;
}

static void schedule(struct engine *engine, enum slots_event kind, double at_s, size_t batch)
{
    const struct event event = {at_s, kind, batch};
    if (event_queue_schedule(&engine->queue, &event) == 0)
        engine->no_memory = true;
}

static void begin_work(struct engine *engine, size_t index)
{
    struct batch *batch = &engine->batches.items[index];
    batch->begun_s = engine->clock.now_s;
    schedule(engine, TASKS_END, batch->begun_s + batch->duration_s, index);
    if (engine->follows_service)
        slots_service_work(&engine->service, batch->job, batch->begun_s, batch->count);
}

/* Of reduces whose maps are done. */
static void plan_begin(struct engine *engine, size_t index)
{
    const struct batch *batch = &engine->batches.items[index];
    double begin_s = fmax(batch->given_s + engine->jobs[batch->job].shuffle_s,
                          engine->progress[batch->job].times.map_end_s);
    if (begin_s <= engine->clock.now_s)
        begin_work(engine, index);
    else
        schedule(engine, WORK_BEGINS, begin_s, index);
}

/* --- slots are given --- */

/* More of the same: the job was given slots at this very instant before. */
static bool grow_batch(struct engine *engine, const struct batch *more)
{
    size_t index = engine->progress[more->job].latest[more->kind];
    struct batch *batch = index != NONE ? &engine->batches.items[index] : NULL;
    if (batch == NULL || batch->job != more->job || batch->kind != more->kind ||
        batch->given_s != more->given_s || batch->duration_s != more->duration_s ||
        batch->partition != more->partition)
        return false;
    batch->count += more->count;
    if (engine->follows_service && !isnan(batch->begun_s))
        slots_service_work(&engine->service, batch->job, engine->clock.now_s, more->count);
    return true;
}

static void give_batch(struct engine *engine, const struct batch *batch)
{
    struct progress *progress = &engine->progress[batch->job];
    if (grow_batch(engine, batch))
        return;
    size_t index = add_batch(engine, batch);
    if (index == NONE)
        return;
    progress->latest[batch->kind] = index;
    if (batch->kind == SLOTS_MAP) {
        begin_work(engine, index);
    } else if (progress->maps_unfinished == 0) {
        plan_begin(engine, index);
    } else {
        engine->batches.items[index].next = progress->waiting;
        progress->waiting = index;
    }
}

/* The next `count` pending tasks of a job get slots. */
static void
give(struct engine *engine, enum slots_kind kind, size_t partition, size_t job, size_t count)
{
    struct progress *progress = &engine->progress[job];
    const struct slots_task_list *list = &engine->jobs[job].task_lists[kind];
    if (isnan(progress->times.start_s))
        progress->times.start_s = engine->clock.now_s;
    engine->counts[job].pending[kind] -= count;
    engine->counts[job].held[kind] += count;
    observe(engine, SLOTS_PENDING, kind, -(double)count);
    observe(engine, SLOTS_HELD, kind, (double)count);
    engine->free.slots[kind][partition] -= count;
    while (count > 0) {
        const struct slots_tasks *tasks = &list->tasks[progress->list_at[kind]];
        size_t left = tasks->count - progress->given_at[kind];
        size_t taken = left < count ? left : count;
        const struct batch batch = {.given_s = engine->clock.now_s,
                                    .begun_s = (double)NAN,
                                    .duration_s = tasks->duration_s,
                                    .job = job,
                                    .count = taken,
                                    .partition = partition,
                                    .kind = kind,
                                    .next = NONE};
        give_batch(engine, &batch);
        count -= taken;
        progress->given_at[kind] += taken;
        if (taken == left) {
            progress->list_at[kind]++;
            progress->given_at[kind] = 0;
        }
    }
    engine->policy->changed(engine->policy_state, kind, job);
}

/* Free slots of a kind and partition, as long as the policy names a job. */
static void give_free(struct engine *engine, enum slots_kind kind, size_t partition)
{
    const size_t *free = &engine->free.slots[kind][partition];
    while (*free > 0 && goes_on(engine)) {
        size_t most = SIZE_MAX;
        size_t job = engine->policy->choose(engine->policy_state, kind, partition, &most);
        if (job == SLOTS_NOBODY)
            break;
        assert(slots_is_candidate(&engine->view, kind, job));
        size_t pending = engine->counts[job].pending[kind];
        size_t count = *free < pending ? *free : pending;
        give(engine, kind, partition, job, most < count ? most : count);
    }
}

/* Free slots of no fixed kind, likewise. */
static void give_shared(struct engine *engine)
{
    const size_t *free = &engine->free.slots[SLOTS_MAP][0];
    while (*free > 0 && goes_on(engine)) {
        enum slots_kind kind = SLOTS_MAP;
        size_t job = engine->policy->choose_shared(engine->policy_state, &kind);
        if (job == SLOTS_NOBODY)
            break;
        assert(engine->counts[job].pending[kind] > 0);
        give(engine, kind, 0, job, 1);
    }
}

static void give_slots(struct engine *engine)
{
    if (engine->policy->choose_shared != NULL) {
        give_shared(engine);
        return;
    }
    for (size_t p = 0; p < engine->free.n; p++)
        give_free(engine, SLOTS_MAP, p);
    for (size_t p = 0; p < engine->free.n; p++)
        give_free(engine, SLOTS_REDUCE, p);
}

/* --- an instant --- */

static void end_map_tasks(struct engine *engine, size_t job, size_t count)
{
    struct progress *progress = &engine->progress[job];
    struct slots_counts *counts = &engine->counts[job];
    progress->maps_unfinished -= count;
    if (progress->maps_unfinished == 0) {
        progress->times.map_end_s = engine->clock.now_s;
        engine->maps_ended[engine->n_maps_ended++] = job;
    }
    if (!counts->ready[SLOTS_REDUCE] &&
        counts->finished[SLOTS_MAP] >= progress->maps_before_ready) {
        counts->ready[SLOTS_REDUCE] = true;
        engine->policy->changed(engine->policy_state, SLOTS_REDUCE, job);
    }
}

static void end_batch(struct engine *engine, size_t index)
{
    const struct batch batch = engine->batches.items[index];
    struct progress *progress = &engine->progress[batch.job];
    struct slots_counts *counts = &engine->counts[batch.job];
    engine->batches.items[index].job = NONE;
    engine->batches.items[index].next = engine->over;
    engine->over = index;
    engine->free.slots[batch.kind][batch.partition] += batch.count;
    engine->ended_tasks += batch.count;
    counts->held[batch.kind] -= batch.count;
    counts->finished[batch.kind] += batch.count;
    observe(engine, SLOTS_HELD, batch.kind, -(double)batch.count);
    counts->finished_s[batch.kind] += (double)batch.count * batch.duration_s;
    progress->unfinished -= batch.count;
    if (engine->follows_service)
        slots_service_rest(&engine->service, batch.job, engine->clock.now_s, batch.count,
                           batch.begun_s, batch.duration_s);
    engine->policy->changed(engine->policy_state, batch.kind, batch.job);
    if (batch.kind == SLOTS_MAP)
        end_map_tasks(engine, batch.job, batch.count);
    if (progress->unfinished == 0) {
        progress->times.finish_s = engine->clock.now_s;
        engine->jobs_ended[engine->n_jobs_ended++] = batch.job;
        if (engine->follows_service)
            slots_service_end(&engine->service, batch.job);
    }
}

/* The batch of the next event, which is taken, if that is of this kind and happens now. */
static bool take_event(struct engine *engine, enum slots_event kind, size_t *batch)
{
    const struct event *next = event_queue_next(&engine->queue);
    struct event event;
    if (next == NULL || next->at != engine->clock.now_s || next->kind != kind)
        return false;
    (void)event_queue_pop(&engine->queue, &event);
    *batch = event.about;
    return true;
}

static void begin_reduces(struct engine *engine)
{
    size_t batch;
    for (size_t i = 0; i < engine->n_maps_ended; i++) {
        size_t *waiting = &engine->progress[engine->maps_ended[i]].waiting;
        while (*waiting != NONE) {
            batch = *waiting;
            *waiting = engine->batches.items[batch].next;
            plan_begin(engine, batch);
        }
    }
    while (take_event(engine, WORK_BEGINS, &batch))
        begin_work(engine, batch);
}

static void notify(struct engine *engine, void (*what)(void *, size_t), size_t jobs[], size_t *n)
{
    if (*n > 1)
        qsort(jobs, *n, sizeof *jobs, order_by_size);
    for (size_t i = 0; what != NULL && i < *n && goes_on(engine); i++)
        what(engine->policy_state, jobs[i]);
    *n = 0;
}

static void arrive(struct engine *engine, size_t job)
{
    struct progress *progress = &engine->progress[job];
    struct slots_counts *counts = &engine->counts[job];
    double maps;
    *progress = (struct progress){.latest = {NONE, NONE}, .waiting = NONE};
    progress->times = (struct slots_job_times){
        .start_s = (double)NAN, .map_end_s = engine->clock.now_s, .finish_s = (double)NAN};
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++) {
        counts->pending[kind] = slots_tasks_count(&engine->jobs[job].task_lists[kind]);
        observe(engine, SLOTS_PENDING, (enum slots_kind)kind, (double)counts->pending[kind]);
        progress->unfinished += counts->pending[kind];
    }
    progress->maps_unfinished = counts->pending[SLOTS_MAP];
    maps = (double)progress->maps_unfinished;
    progress->maps_before_ready = (size_t)rounding_ceil(engine->view.cluster.slow_start * maps);
    counts->ready[SLOTS_MAP] = true;
    counts->ready[SLOTS_REDUCE] = progress->maps_before_ready == 0;
    engine->policy->arrived(engine->policy_state, job);
    if (engine->follows_service)
        slots_service_predict(&engine->service, job, engine->clock.now_s);
}

static void cross(struct engine *engine)
{
    double now_s = engine->clock.now_s;
    size_t n;
    while ((n = slots_service_take_due(&engine->service, now_s, engine->due)) > 0) {
        engine->policy->crossed(engine->policy_state, engine->due, n);
        for (size_t i = 0; i < n; i++)
            slots_service_predict(&engine->service, engine->due[i], now_s);
    }
}

/* false: nothing will happen any more. */
static bool find_next_instant(const struct engine *engine, double *at_s)
{
    const struct event *next = event_queue_next(&engine->queue);
    double least_s = next != NULL ? next->at : HUGE_VAL;
    if (engine->arrived < engine->view.n_jobs)
        least_s = fmin(least_s, engine->jobs[engine->arrived].arrival_s);
    if (engine->follows_service) {
        double crossing_s = slots_service_next(&engine->service);
        if (crossing_s < least_s && (isinf(least_s) || !slots_service_belongs(crossing_s, least_s)))
            least_s = crossing_s;
    }
    *at_s = least_s;
    return isfinite(least_s);
}

static void happen(struct engine *engine)
{
    size_t batch;
    while (take_event(engine, TASKS_END, &batch))
        end_batch(engine, batch);
    begin_reduces(engine);
    engine->ended += engine->n_jobs_ended;
    notify(engine, engine->policy->maps_ended, engine->maps_ended, &engine->n_maps_ended);
    notify(engine, engine->policy->job_ended, engine->jobs_ended, &engine->n_jobs_ended);
    while (engine->arrived < engine->view.n_jobs &&
           engine->jobs[engine->arrived].arrival_s == engine->clock.now_s)
        arrive(engine, engine->arrived++);
    if (engine->follows_service)
        cross(engine);
    give_slots(engine);
}

static enum pv_code run(struct engine *engine, struct pv_error *err)
{
    double at_s;
    while (find_next_instant(engine, &at_s)) {
        sim_clock_advance(&engine->clock, at_s);
        engine->view.now_s = at_s;
        happen(engine);
        if (engine->no_memory)
            return pv_no_memory(err);
        if (!goes_on(engine))
            return pv_fail(err, PV_E_CANCELLED, "the simulation was cancelled");
    }
    if (engine->ended < engine->view.n_jobs)
        return pv_fail(err, PV_E_INTERNAL, "\"%s\" leaves a job without slots",
                       engine->policy->name);
    return PV_OK;
}

/* --- before and after --- */

static enum pv_code take_jobs(struct engine *engine,
                              const struct slots_job jobs[],
                              const uint32_t order[],
                              struct pv_error *err)
{
    size_t n = engine->view.n_jobs;
    double *size_s = arena_array(engine->arena, n, sizeof *size_s);
    double *predicted_s = arena_array(engine->arena, n, sizeof *predicted_s);
    if (size_s == NULL || predicted_s == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        const struct slots_job *job = &jobs[order[i]];
        engine->jobs[i] = *job;
        size_s[i] = slots_job_size(job);
        predicted_s[i] = isnan(job->predicted_size_s) ? size_s[i] : job->predicted_size_s;
        if (job->task_lists[SLOTS_REDUCE].n > 0 && engine->view.cluster.slots[SLOTS_REDUCE] == 0)
            return pv_fault(err, PV_PLACE_POINTER, "/cluster/reduce_slots", "out_of_range",
                            "a job has reduces, for which there is no slot");
    }
    engine->view.jobs = engine->jobs;
    engine->view.counts = engine->counts;
    engine->view.size_s = size_s;
    engine->view.predicted_size_s = predicted_s;
    return PV_OK;
}

static enum pv_code make_engine(struct engine *engine, size_t n, struct pv_error *err)
{
    struct arena *arena = engine->arena;
    engine->jobs = arena_array(arena, n, sizeof *engine->jobs);
    engine->counts = arena_calloc(arena, n, sizeof *engine->counts);
    engine->progress = arena_array(arena, n, sizeof *engine->progress);
    engine->maps_ended = arena_array(arena, n, sizeof *engine->maps_ended);
    engine->jobs_ended = arena_array(arena, n, sizeof *engine->jobs_ended);
    if (engine->jobs == NULL || engine->counts == NULL || engine->progress == NULL ||
        engine->maps_ended == NULL || engine->jobs_ended == NULL ||
        !event_queue_init(&engine->queue, arena))
        return pv_no_memory(err);
    if (!engine->follows_service)
        return PV_OK;
    engine->due = arena_array(arena, n, sizeof *engine->due);
    if (engine->due == NULL || !slots_service_init(&engine->service, n, arena))
        return pv_no_memory(err);
    engine->view.limit_s = engine->service.limit_s;
    return PV_OK;
}

/* Slots of no fixed kind: maps and reduces are given slots from one count. */
static void share_slots(struct slots_partitions *free)
{
    free->slots[SLOTS_MAP][0] += free->slots[SLOTS_REDUCE][0];
    free->slots[SLOTS_REDUCE] = free->slots[SLOTS_MAP];
}

/* All slots are one partition, until the policy divides them. */
static enum pv_code
begin_policy(struct engine *engine, const struct slots_terms *terms, struct pv_error *err)
{
    engine->free.n = 1;
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++) {
        engine->free.slots[kind] = arena_alloc(engine->arena, sizeof **engine->free.slots);
        if (engine->free.slots[kind] == NULL)
            return pv_no_memory(err);
        engine->free.slots[kind][0] = engine->view.cluster.slots[kind];
    }
    if (engine->policy->choose_shared != NULL)
        share_slots(&engine->free);
    return engine->policy->begin(&engine->view, terms, &engine->free, engine->arena,
                                 &engine->policy_state, err);
}

static enum pv_code simulate(struct engine *engine,
                             const struct slots_job jobs[],
                             size_t n,
                             const struct slots_terms *terms,
                             struct slots_job_times times[],
                             struct pv_error *err)
{
    uint32_t *order = arena_array(engine->arena, n, sizeof *order);
    if (order == NULL ||
        !arrival_order(&jobs->arrival_s, sizeof *jobs, (uint32_t)n, order, engine->arena))
        return pv_no_memory(err);
    PV_TRY(make_engine(engine, n, err));
    PV_TRY(take_jobs(engine, jobs, order, err));
    PV_TRY(begin_policy(engine, terms, err));
    PV_TRY(run(engine, err));
    for (size_t i = 0; i < n; i++)
        times[order[i]] = engine->progress[i].times;
    return PV_OK;
}

enum pv_code slots_simulate(const struct slots_cluster *cluster,
                            const struct slots_job jobs[],
                            size_t n,
                            const struct slots_terms *terms,
                            const struct slots_progress *progress,
                            struct arena *scratch,
                            struct slots_job_times times[],
                            struct pv_error *err)
{
    return slots_simulate_observed(cluster, jobs, n, terms, progress, NULL, scratch, times, err);
}

enum pv_code slots_simulate_observed(const struct slots_cluster *cluster,
                                     const struct slots_job jobs[],
                                     size_t n,
                                     const struct slots_terms *terms,
                                     const struct slots_progress *progress,
                                     struct occupancy *occupancy,
                                     struct arena *scratch,
                                     struct slots_job_times times[],
                                     struct pv_error *err)
{
    assert(n > 0 && n < UINT32_MAX && cluster->slots[SLOTS_MAP] > 0);
    struct arena_mark mark = arena_mark(scratch);
    struct engine engine = {.view = {.cluster = *cluster, .n_jobs = n},
                            .policy = terms->policy,
                            .follows_service = terms->policy->crossed != NULL,
                            .occupancy = occupancy,
                            .report = progress,
                            .arena = scratch,
                            .over = NONE};
    engine.view.looked_through = &engine.looked_through;
    enum pv_code code = simulate(&engine, jobs, n, terms, times, err);
    arena_rewind(scratch, mark);
    return code;
}
