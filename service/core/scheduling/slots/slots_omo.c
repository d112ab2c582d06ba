/*
 * The policy "omo", on slots of no fixed kind: OMO's decision (omo_candidates.h) on the state of the
 * instant, among all jobs that have arrived and not ended.
 *
 * Windows follow one another from 0; the n-th ends at n x window_s, and what happens at that instant
 * belongs to it. So windows are closed when time has gone past their ends: what a window saw at its
 * end is what it was after the instant before. Jobs are assessed when their counts change, and those
 * that it matters to (omo_watch.h) when the rates do or the number of jobs.
 *
 * A reduce that waits for maps holds its slot; of all slots one is kept from such reduces, because
 * with none left for maps they would wait for ever.
 */
#include <math.h>

#include "core/scheduling/slots/omo_candidates.h"
#include "core/scheduling/slots/omo_watch.h"
#include "core/scheduling/slots/slots_policy.h"

/* What a job's slots count for in the totals. */
struct share {
    size_t available; /* slots: those of maps, and of reduces once the maps are done */
    size_t blocked;   /* those of reduces before */
    size_t finished;  /* tasks, whose slots have come free */
};

struct omo_policy {
    const struct slots_view *view;
    double weight;
    double window_s;
    double byte_s; /* that a byte of a shuffle takes, alone on a node's link */
    size_t slots;
    double windows;         /* closed so far */
    double closed_at_s;     /* up to when windows were closed */
    struct omo_rates rates; /* NAN before the first window */
    struct share total;     /* finished: in the window that is open */
    struct share *shares;   /* by job */
    struct omo_job *jobs;
    size_t n_running; /* K: jobs that have arrived and not ended */
    bool stale;       /* the rates, or K, are not those of the assessments */
    struct omo_watch watch;
    struct omo_candidates candidates;
};

static enum pv_code omo_begin(const struct slots_view *view,
                              const struct slots_terms *terms,
                              struct slots_partitions *partitions,
                              struct arena *arena,
                              void **state,
                              struct pv_error *err)
{
    struct omo_policy *omo = arena_alloc(arena, sizeof *omo);
    const struct omo_terms rules = {terms->lazy_start, terms->batch_finish,
                                    view->cluster.slow_start};
    size_t n = view->n_jobs;
    (void)partitions;
    if (omo == NULL)
        return pv_no_memory(err);
    *omo = (struct omo_policy){
        .view = view,
        .weight = terms->ema_weight,
        .window_s = terms->window_s,
        .byte_s = slots_cluster_byte_s(&view->cluster),
        .slots = view->cluster.slots[SLOTS_MAP] + view->cluster.slots[SLOTS_REDUCE],
        .rates = {(double)NAN, (double)NAN},
        .shares = arena_calloc(arena, n, sizeof *omo->shares),
        .jobs = arena_array(arena, n, sizeof *omo->jobs),
    };
    *state = omo;
    if (omo->shares == NULL || omo->jobs == NULL ||
        !omo_watch_init(&omo->watch, &rules, n, arena) ||
        !omo_candidates_init(&omo->candidates, &rules, n, arena))
        return pv_no_memory(err);
    return PV_OK;
}

/* --- windows --- */

/* How many have ended before an instant. The quotient may be off by its last bit. */
static double windows_before(double at_s, double window_s)
{
    double n = floor(at_s / window_s);
    if (n * window_s >= at_s)
        return fmax(0, n - 1);
    return (n + 1) * window_s < at_s ? n + 1 : n;
}

/* In the first of those windows what is open has happened, in the others nothing: without releases
 * F falls by the same part in each, and A comes nearer to what is available. */
static void close_windows(struct omo_policy *omo)
{
    double now_s = omo->view->now_s;
    if (now_s == omo->closed_at_s)
        return;
    double ended = windows_before(now_s, omo->window_s) - omo->windows;
    omo->closed_at_s = now_s;
    if (!(ended > 0))
        return;
    double available = (double)omo->total.available;
    double kept = pow(1 - omo->weight, ended - 1);
    omo_rates_update(&omo->rates, omo->weight, omo->window_s, (double)omo->total.finished,
                     available);
    omo->rates.release_frequency_per_s *= kept;
    omo->rates.available_slots = available + kept * (omo->rates.available_slots - available);
    omo->total.finished = 0;
    omo->windows += ended;
    omo->stale = true;
}

/* --- notifications --- */

static void count(struct omo_policy *omo, size_t index)
{
    const struct omo_job *job = &omo->jobs[index];
    struct share *before = &omo->shares[index];
    bool mapped = job->maps_finished == job->maps;
    const struct share share = {
        .available = job->maps_running + (mapped ? job->reduces_running : 0),
        .blocked = mapped ? 0 : job->reduces_running,
        .finished = job->maps_finished + job->reduces_finished,
    };
    omo->total.available += share.available - before->available;
    omo->total.blocked += share.blocked - before->blocked;
    omo->total.finished += share.finished - before->finished;
    *before = share;
}

static void omo_arrived(void *state, size_t index)
{
    struct omo_policy *omo = state;
    const struct slots_counts *counts = &omo->view->counts[index];
    const struct slots_job *given = &omo->view->jobs[index];
    size_t maps = counts->pending[SLOTS_MAP];
    omo->jobs[index] = (struct omo_job){
        .maps = maps,
        .map_task_s = maps > 0 ? slots_tasks_work(&given->task_lists[SLOTS_MAP]) / (double)maps : 0,
        .reduces = counts->pending[SLOTS_REDUCE],
        .shuffle_s = slots_job_shuffle_alone_s(given, omo->byte_s),
    };
    omo_watch_wake(&omo->watch, index);
    omo->n_running++;
    omo->stale = true;
}

static void omo_job_ended(void *state, size_t index)
{
    struct omo_policy *omo = state;
    (void)index;
    omo->n_running--;
    omo->stale = true;
}

static void put(struct omo_policy *omo, size_t index)
{
    (void)omo_candidates_put(&omo->candidates, index, &omo->jobs[index]);
    omo_watch_put(&omo->watch, index, &omo->jobs[index]);
}

static void omo_changed(void *state, enum slots_kind kind, size_t index)
{
    struct omo_policy *omo = state;
    const struct slots_counts *counts = &omo->view->counts[index];
    struct omo_job *job = &omo->jobs[index];
    close_windows(omo);
    if (kind == SLOTS_MAP) {
        job->maps_finished = counts->finished[kind];
        job->maps_running = counts->held[kind];
        if (job->maps_finished > 0)
            job->map_task_s = counts->finished_s[kind] / (double)job->maps_finished;
    } else {
        job->reduces_finished = counts->finished[kind];
        job->reduces_running = counts->held[kind];
    }
    count(omo, index);
    if (omo->stale)
        omo_watch_wake(&omo->watch, index);
    else
        put(omo, index);
}

/* --- the decision --- */

/* Each that is put either stays where it is among those awake, or makes room for the last one. */
static void assess_anew(struct omo_policy *omo)
{
    const struct omo_rates none = {0, 0};
    const struct omo_rates *rates = omo->windows > 0 ? &omo->rates : &none;
    omo_candidates_set_rates(&omo->candidates, rates, omo->n_running);
    omo_watch_set_rates(&omo->watch, rates, omo->n_running);
    *omo->view->looked_through += omo->watch.n_awake;
    for (size_t i = omo->watch.n_awake; i > 0; i--)
        put(omo, omo->watch.awake[i - 1]);
    omo->stale = false;
}

static size_t omo_choose(void *state, enum slots_kind *kind)
{
    struct omo_policy *omo = state;
    close_windows(omo);
    if (omo->stale)
        assess_anew(omo);
    *omo->view->looked_through += omo->candidates.n_savings;
    struct omo_action action = omo_candidates_choose(&omo->candidates);
    *kind = action.kind;
    if (action.job == SLOTS_NOBODY || action.kind == SLOTS_MAP ||
        omo->jobs[action.job].maps_finished == omo->jobs[action.job].maps ||
        omo->total.blocked + 1 < omo->slots)
        return action.job;
    *kind = SLOTS_MAP;
    return omo_candidates_fewest_slots(&omo->candidates);
}

/* Those whose last maps may be hurried: their reduces hold slots. */
static size_t
omo_looked_through(const struct slots_cluster *cluster, const struct slots_terms *terms, size_t n)
{
    size_t slots = cluster->slots[SLOTS_MAP] + cluster->slots[SLOTS_REDUCE];
    if (!terms->batch_finish)
        return 0;
    return slots < n ? slots : n;
}

const struct slots_policy slots_policy_omo = {
    .name = "omo",
    .container_order = SLOTS_ALIKE,
    .begin = omo_begin,
    .arrived = omo_arrived,
    .job_ended = omo_job_ended,
    .changed = omo_changed,
    .choose_shared = omo_choose,
    .looked_through = omo_looked_through,
    .looked_through_free = 700,
};
