/* The loop of instants. */
#include "core/scheduling/slots/slots_engine.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/rounding.h"
#include "core/scheduling/comparison/arrival_order.h"
#include "core/scheduling/slots/slots_engine_internal.h"
#include "core/scheduling/slots/slots_resources.h"

/* Steps between two reports, less than a millisecond. */
enum { REPORT_EVERY = 1024 };

bool slots_engine_goes_on(struct slots_engine *engine)
{
    size_t so_far = engine->given_tasks / 2 + engine->ended_tasks / 2;
    engine->unreported += 1 + engine->looked_through;
    engine->looked_through = 0;
    if (engine->unreported < REPORT_EVERY || engine->cancelled)
        return !engine->cancelled;
    engine->unreported = 0;
    /* Tasks that were lost with their node do not take back what was reported. */
    if (so_far > engine->reported)
        engine->reported = so_far;
    engine->cancelled = engine->report != NULL &&
                        !engine->report->report(engine->report->context, engine->reported);
    return !engine->cancelled;
}

/* --- an instant --- */

/* What the next event is about, which is taken, if that is of this kind and happens now. */
static bool take_event(struct slots_engine *engine, enum slots_event kind, size_t *about)
{
    const struct event *next = event_queue_next(&engine->queue);
    struct event event;
    if (next == NULL || next->at != engine->clock.now_s || next->kind != kind)
        return false;
    (void)event_queue_pop(&engine->queue, &event);
    *about = event.about;
    return true;
}

static void begin_reduces(struct slots_engine *engine)
{
    size_t batch;
    for (size_t i = 0; i < engine->n_maps_ended; i++)
        slots_batches_maps_ended(engine, engine->maps_ended[i]);
    while (take_event(engine, SLOTS_WORK_BEGINS, &batch))
        slots_batch_begin(engine, batch);
}

static void
notify(struct slots_engine *engine, void (*what)(void *, size_t), size_t jobs[], size_t *n)
{
    if (*n > 1)
        qsort(jobs, *n, sizeof *jobs, order_by_size);
    for (size_t i = 0; what != NULL && i < *n && slots_engine_goes_on(engine); i++)
        what(engine->policy_state, jobs[i]);
    *n = 0;
}

static void arrive(struct slots_engine *engine, size_t job)
{
    struct slots_job_progress *progress = &engine->progress[job];
    struct slots_counts *counts = &engine->counts[job];
    double maps;
    *progress =
        (struct slots_job_progress){.latest = {SLOTS_NONE, SLOTS_NONE}, .waiting = SLOTS_NONE};
    progress->times = (struct slots_job_times){.start_s = (double)NAN,
                                               .map_end_s = engine->clock.now_s,
                                               .reduce_start_s = (double)NAN,
                                               .shuffle_end_s = (double)NAN,
                                               .finish_s = (double)NAN};
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++) {
        counts->pending[kind] = slots_tasks_count(&engine->jobs[job].task_lists[kind]);
        slots_observe_pending(engine, (enum slots_kind)kind, (double)counts->pending[kind]);
        progress->unfinished += counts->pending[kind];
    }
    progress->maps_unfinished = counts->pending[SLOTS_MAP];
    maps = (double)progress->maps_unfinished;
    progress->maps_before_ready = (size_t)rounding_ceil(engine->view.cluster.slow_start * maps);
    counts->ready[SLOTS_MAP] = true;
    counts->ready[SLOTS_REDUCE] = progress->maps_before_ready == 0;
    if (engine->fairness != NULL)
        fairness_series_arrive(engine->fairness, job, engine->clock.now_s);
    engine->policy->arrived(engine->policy_state, job);
    if (engine->containers != NULL)
        slots_containers_touch(engine, job);
    if (engine->follows_service)
        slots_service_predict(&engine->service, job, engine->clock.now_s);
}

static void cross(struct slots_engine *engine)
{
    double now_s = engine->clock.now_s;
    size_t n;
    while ((n = slots_service_take_due(&engine->service, now_s, engine->due)) > 0) {
        engine->policy->crossed(engine->policy_state, engine->due, n);
        for (size_t i = 0; i < n; i++) {
            slots_service_predict(&engine->service, engine->due[i], now_s);
            if (engine->containers != NULL)
                slots_containers_touch(engine, engine->due[i]);
        }
    }
}

/* The instant that comes next, of which what belongs to it may come a little earlier. */
static double earlier(double least_s, double at_s)
{
    bool belongs = !isinf(least_s) && slots_service_belongs(at_s, least_s);
    return at_s < least_s && !belongs ? at_s : least_s;
}

/* false: nothing will happen any more. */
static bool find_next_instant(const struct slots_engine *engine, double *at_s)
{
    const struct event *next = event_queue_next(&engine->queue);
    double least_s = next != NULL ? next->at : HUGE_VAL;
    if (engine->ended == engine->view.n_jobs)
        return false;
    if (engine->copies != NULL)
        least_s = fmin(least_s, slots_copies_next(engine));
    if (engine->arrived < engine->view.n_jobs)
        least_s = fmin(least_s, engine->jobs[engine->arrived].arrival_s);
    if (slots_has_network(engine))
        least_s = earlier(least_s, slots_network_next(engine->network));
    if (engine->follows_service)
        least_s = earlier(least_s, slots_service_next(&engine->service));
    *at_s = least_s;
    return isfinite(least_s);
}

static void happen(struct slots_engine *engine)
{
    size_t about;
    while (take_event(engine, SLOTS_TASKS_END, &about))
        slots_batch_end(engine, about);
    while (engine->hosting != NULL && take_event(engine, SLOTS_INCIDENT_CHANGES, &about))
        slots_incident_change(engine, about);
    if (slots_has_network(engine))
        slots_network_end(engine);
    begin_reduces(engine);
    engine->ended += engine->n_jobs_ended;
    notify(engine, engine->policy->maps_ended, engine->maps_ended, &engine->n_maps_ended);
    notify(engine, engine->policy->job_ended, engine->jobs_ended, &engine->n_jobs_ended);
    while (engine->arrived < engine->view.n_jobs &&
           engine->jobs[engine->arrived].arrival_s == engine->clock.now_s)
        arrive(engine, engine->arrived++);
    if (engine->follows_service)
        cross(engine);
    slots_give_free(engine);
}

static enum pv_code run(struct slots_engine *engine, struct pv_error *err)
{
    double at_s;
    while (find_next_instant(engine, &at_s)) {
        if (engine->fairness != NULL)
            fairness_series_advance(engine->fairness, at_s);
        sim_clock_advance(&engine->clock, at_s);
        engine->view.now_s = at_s;
        happen(engine);
        if (engine->copies != NULL)
            PV_TRY(slots_copies_epoch(engine, err));
        if (slots_has_network(engine))
            PV_TRY(slots_network_settle(engine, err));
        if (engine->no_memory)
            return pv_no_memory(err);
        if (!slots_engine_goes_on(engine))
            return pv_fail(err, PV_E_CANCELLED, "the simulation was cancelled");
    }
    if (engine->ended < engine->view.n_jobs)
        return pv_fail(err, PV_E_INTERNAL, "\"%s\" leaves a job without slots",
                       engine->policy->name);
    return PV_OK;
}

/* --- before and after --- */

static enum pv_code take_jobs(struct slots_engine *engine,
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
        if (job->task_lists[SLOTS_REDUCE].n > 0 && engine->view.cluster.slots[SLOTS_REDUCE] == 0 &&
            !slots_cluster_has_room(&engine->view.cluster))
            return pv_fault(err, PV_PLACE_POINTER, "/cluster/reduce_slots", "out_of_range",
                            "a job has reduces, for which there is no slot");
    }
    engine->view.jobs = engine->jobs;
    engine->view.counts = engine->counts;
    engine->view.size_s = size_s;
    engine->view.predicted_size_s = predicted_s;
    return PV_OK;
}

static enum pv_code make_engine(struct slots_engine *engine, size_t n, struct pv_error *err)
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
begin_policy(struct slots_engine *engine, const struct slots_terms *terms, struct pv_error *err)
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

/* Where nodes have room for them, and the policy takes them for what they are. */
static enum pv_code
begin_containers(struct slots_engine *engine, const struct slots_terms *terms, struct pv_error *err)
{
    const struct slots_cluster *cluster = &engine->view.cluster;
    enum slots_container_order order = engine->policy->container_order;
    if (!slots_cluster_has_room(cluster))
        return PV_OK;
    bool phased =
        terms->concurrency > 0 && (order == SLOTS_BY_MEMORY || order == SLOTS_BY_DOMINANT_SHARE);
    if (order == SLOTS_WITHOUT_CONTAINERS || phased ||
        (order == SLOTS_ALIKE && cluster->n_sizes > 1))
        return pv_fault(err, PV_PLACE_POINTER, "/policies", "conflict",
                        "\"%s\" with these terms is for slots, not for these containers",
                        engine->policy->name);
    return order == SLOTS_ALIKE || slots_containers_init(engine, terms) ? PV_OK : pv_no_memory(err);
}

static enum pv_code simulate(struct slots_engine *engine,
                             const struct slots_job jobs[],
                             size_t n,
                             const struct slots_terms *terms,
                             const struct slots_observer *observer,
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
    PV_TRY(begin_containers(engine, terms, err));
    if (engine->view.cluster.n_nodes > 0 && !slots_hosting_init(engine))
        return pv_no_memory(err);
    if (engine->hosting != NULL && terms->speculation.kind != SLOTS_NO_SPECULATION &&
        !slots_copies_init(engine, &terms->speculation, observer->speculation))
        return pv_no_memory(err);
    if (engine->hosting != NULL && !slots_network_init(engine))
        return pv_no_memory(err);
    PV_TRY(run(engine, err));
    for (size_t i = 0; i < n; i++)
        times[order[i]] = engine->progress[i].times;
    if (slots_has_network(engine) && observer->traffic != NULL)
        slots_network_take(engine, observer->traffic);
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
                                     const struct slots_observer *observer,
                                     struct arena *scratch,
                                     struct slots_job_times times[],
                                     struct pv_error *err)
{
    assert(n > 0 && n < UINT32_MAX && cluster->slots[SLOTS_MAP] > 0);
    struct slots_speculation uncounted = {0};
    struct slots_observer looks = {0};
    struct arena_mark mark = arena_mark(scratch);
    if (observer != NULL)
        looks = *observer;
    if (looks.speculation == NULL)
        looks.speculation = &uncounted;
    struct slots_engine engine = {.view = {.cluster = *cluster, .n_jobs = n},
                                  .policy = terms->policy,
                                  .follows_service = terms->policy->crossed != NULL,
                                  .occupancy = looks.occupancy,
                                  .spans = looks.spans,
                                  .fairness = looks.fairness,
                                  .report = progress,
                                  .arena = scratch,
                                  .over = SLOTS_NONE};
    engine.view.looked_through = &engine.looked_through;
    enum pv_code code = simulate(&engine, jobs, n, terms, &looks, times, err);
    if (code == PV_OK && looks.allocated != NULL)
        *looks.allocated = engine.allocated;
    if (engine.copies != NULL)
        slots_copies_fini(engine.copies);
    arena_rewind(scratch, mark);
    return code;
}
