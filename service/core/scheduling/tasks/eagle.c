/*
 * Eagle: a central scheduler for long tasks, probes that shun them for short ones (P. Delgado et
 * al., "Job-aware scheduling in Eagle: divide and stick to your probes", SoCC 2016; docs/design.md,
 * "Bags of tasks").
 *
 * Long tasks wait at a worker in order of arrival, and before the reservations of short jobs, as in
 * the simulator that Eagle's authors published. A worker has long tasks from when one is promised to
 * it until the last one has ended: so it has one or awaits one. The workers with the highest numbers
 * are those reserved for short jobs.
 */
#include <assert.h>

#include "core/scheduling/tasks/pigeon_plan.h"
#include "core/scheduling/tasks/tasks_line.h"
#include "core/scheduling/tasks/tasks_policy.h"
#include "core/scheduling/tasks/tasks_promise.h"
#include "core/scheduling/tasks/tasks_reservations.h"
#include "core/sim/subset.h"

/* In this order at one instant; jobs come last. Probes of a job that are sent back at one instant,
 * and long tasks of a job, travel as a chain of places, which begins with the one named; the `count`
 * of each is the worker that it goes to. */
enum {
    LONG_ENDED,      /* about the worker and the job */
    SHORT_ENDED,     /* likewise */
    TOLD_NONE,       /* about the worker */
    SCHEDULER_ASKED, /* about the worker and the job, or RESERVATIONS_NO_JOB */
    PROBES_RETURNED, /* about how often they were sent back, and the chain */
    LONGS_ARRIVED,   /* about the chain */
    PROBES_ARRIVED,  /* about the job: they are at the workers drawn first */
    PROBES_RESENT    /* about how often they were sent back, and the chain */
};

enum { PROBES_MIN = 20, SENT_BACK_MAX = 2 };

struct worker {
    struct line long_tasks; /* in order of arrival */
    uint32_t longs;         /* long tasks promised to it that have not ended */
    uint32_t free_rank;     /* where it stands among workers without long tasks */
    bool busy;              /* or waits for an answer */
};

struct eagle {
    struct worker *workers;
    uint32_t general;       /* workers that are not reserved: the first ones */
    uint32_t *without_long; /* workers that have no long tasks, in no order */
    uint32_t n_without_long;
    uint32_t *given; /* of each short job: tasks given out */
    struct promises promises;
    struct reservations reservations; /* of short jobs, by the mean duration of their tasks */
    struct line_pool pool;
    struct subset draws;
};

static bool schedule(struct tasks_run *sim, double at_s, uint32_t kind, uint32_t high, uint32_t low)
{
    return event_heap_schedule(&sim->events, at_s, kind, (uint64_t)high << 32 | low);
}

static double in_a_hop(const struct tasks_run *sim)
{
    return sim->now_s + sim->model->communication_s;
}

/* --- who has long tasks --- */

static void promise_long(struct eagle *eagle, uint32_t w, double mean_s)
{
    struct worker *worker = &eagle->workers[w];
    promises_set(&eagle->promises, w, eagle->promises.work_s[w] + mean_s);
    if (worker->longs++ > 0)
        return;
    assert(eagle->without_long[worker->free_rank] == w);
    uint32_t last = eagle->without_long[--eagle->n_without_long];
    eagle->without_long[worker->free_rank] = last;
    eagle->workers[last].free_rank = worker->free_rank;
}

static void long_is_over(struct eagle *eagle, uint32_t w, double mean_s)
{
    struct worker *worker = &eagle->workers[w];
    /* Nothing is left of sums that rounding has touched. */
    bool last = --worker->longs == 0;
    promises_set(&eagle->promises, w, last ? 0 : eagle->promises.work_s[w] - mean_s);
    if (!last)
        return;
    worker->free_rank = eagle->n_without_long;
    eagle->without_long[eagle->n_without_long++] = w;
}

/* --- workers --- */

static bool begin_long(struct tasks_run *sim, uint32_t w)
{
    struct eagle *eagle = sim->state;
    struct line *tasks = &eagle->workers[w].long_tasks;
    uint32_t place = tasks->head;
    uint32_t job = line_place_at(&eagle->pool, place)->job;
    uint32_t task = line_place_at(&eagle->pool, place)->item;
    line_remove(&eagle->pool, tasks, LINE_END);
    line_pool_give(&eagle->pool, place);
    return schedule(sim, tasks_run_begin(sim, w, job, task, sim->now_s), LONG_ENDED, w, job);
}

static bool serve_next(struct tasks_run *sim, uint32_t w)
{
    struct eagle *eagle = sim->state;
    struct worker *worker = &eagle->workers[w];
    bool long_waits = worker->long_tasks.head != LINE_END;
    worker->busy = long_waits || reservations_wait(&eagle->reservations, w);
    if (!worker->busy)
        return true;
    if (long_waits)
        return begin_long(sim, w);
    uint32_t job = reservations_take(&eagle->reservations, w);
    return schedule(sim, in_a_hop(sim), SCHEDULER_ASKED, w, job);
}

/* Something joined one of a worker's lines. */
static bool serve_if_idle(struct tasks_run *sim, uint32_t w)
{
    const struct eagle *eagle = sim->state;
    return eagle->workers[w].busy || serve_next(sim, w);
}

/* --- short jobs --- */

/* The job's scheduler answers a worker, which stays with the job while there are tasks. */
static bool answer(struct tasks_run *sim, uint32_t w, uint32_t job)
{
    struct eagle *eagle = sim->state;
    double told_s = in_a_hop(sim);
    if (job == RESERVATIONS_NO_JOB || eagle->given[job] == sim->model->jobs[job].tasks)
        return schedule(sim, told_s, TOLD_NONE, w, 0);
    double end_s = tasks_run_begin(sim, w, job, eagle->given[job]++, told_s);
    reservations_set_remaining(&eagle->reservations, job,
                               (double)(sim->model->jobs[job].tasks - eagle->given[job]) *
                                   sim->model->mean_s[job]);
    return schedule(sim, end_s, SHORT_ENDED, w, job);
}

/* A probe is at a worker; where that has long tasks it joins those that are sent back, unless it
 * was sent back often enough. */
static bool arrive(
    struct tasks_run *sim, uint32_t w, uint32_t place, uint32_t sent_back, struct line *returning)
{
    struct eagle *eagle = sim->state;
    if (!tasks_run_goes_on(sim, 1))
        return false;
    if (eagle->workers[w].longs > 0 && sent_back < SENT_BACK_MAX) {
        line_append(&eagle->pool, returning, place);
        return true;
    }
    reservations_add(&eagle->reservations, w, place);
    return serve_if_idle(sim, w);
}

static bool return_probes(struct tasks_run *sim, uint32_t sent_back, const struct line *returning)
{
    return returning->head == LINE_END ||
           schedule(sim, in_a_hop(sim), PROBES_RETURNED, sent_back, returning->head);
}

/* Where the scheduler sends a probe once more: the last time to a reserved worker. */
static uint32_t
another_worker(const struct tasks_run *sim, const struct line_place *probe, uint32_t sent_back)
{
    const struct eagle *eagle = sim->state;
    const uint64_t keys[] = {TRIAL_PROBES, sim->trial.repetition, probe->job, probe->item,
                             sent_back};
    struct rng stream = variate_stream(sim->trial.seed, keys, 5);
    uint32_t reserved = sim->model->workers - eagle->general;
    if (sent_back < SENT_BACK_MAX && eagle->n_without_long > 0)
        return eagle->without_long[variate_index(&stream, eagle->n_without_long)];
    if (reserved > 0)
        return eagle->general + (uint32_t)variate_index(&stream, reserved);
    return (uint32_t)variate_index(&stream, sim->model->workers);
}

static bool resend_probes(struct tasks_run *sim, uint32_t sent_back, uint32_t chain)
{
    const struct eagle *eagle = sim->state;
    for (uint32_t at = chain; at != LINE_END; at = line_place_at(&eagle->pool, at)->next) {
        struct line_place *probe = line_place_at(&eagle->pool, at);
        probe->count = another_worker(sim, probe, sent_back);
    }
    return schedule(sim, in_a_hop(sim), PROBES_RESENT, sent_back, chain);
}

static bool resent_probes_arrive(struct tasks_run *sim, uint32_t sent_back, uint32_t chain)
{
    const struct eagle *eagle = sim->state;
    struct line returning = LINE_EMPTY;
    for (uint32_t at = chain, next; at != LINE_END; at = next) {
        next = line_place_at(&eagle->pool, at)->next;
        if (!arrive(sim, line_place_at(&eagle->pool, at)->count, at, sent_back, &returning))
            return false;
    }
    return return_probes(sim, sent_back + 1, &returning);
}

static bool
probe(struct tasks_run *sim, uint32_t w, uint32_t job, uint32_t number, struct line *returning)
{
    struct eagle *eagle = sim->state;
    uint32_t place = line_pool_take(&eagle->pool, job, number);
    return place != LINE_END && arrive(sim, w, place, 0, returning);
}

static uint64_t
probes_of(const struct tasks_model *model, const struct tasks_terms *terms, uint32_t job)
{
    uint64_t probes = (uint64_t)terms->probes_per_task * model->jobs[job].tasks;
    return probes > PROBES_MIN ? probes : PROBES_MIN;
}

static bool probe_all(struct tasks_run *sim, uint32_t job)
{
    struct eagle *eagle = sim->state;
    uint32_t workers = sim->model->workers;
    uint64_t probes = probes_of(sim->model, sim->terms, job);
    uint32_t rest = (uint32_t)(probes % workers);
    uint32_t number = 0;
    struct line returning = LINE_EMPTY;
    for (uint64_t round = 0; round < probes / workers; round++)
        for (uint32_t w = 0; w < workers; w++)
            if (!probe(sim, w, job, number++, &returning))
                return false;
    struct rng stream = trial_stream(&sim->trial, TRIAL_PROBES, job);
    const uint32_t *drawn = subset_draw(&eagle->draws, &stream, rest);
    for (uint32_t i = 0; i < rest; i++)
        if (!probe(sim, drawn[i], job, number++, &returning))
            return false;
    return return_probes(sim, 1, &returning);
}

/* --- long jobs --- */

static bool place_long(struct tasks_run *sim, uint32_t job)
{
    struct eagle *eagle = sim->state;
    struct line tasks = LINE_EMPTY;
    for (uint32_t i = 0; i < sim->model->jobs[job].tasks; i++) {
        uint32_t place = line_pool_take(&eagle->pool, job, i);
        if (place == LINE_END || !tasks_run_goes_on(sim, 1))
            return false;
        uint32_t w = promises_least(&eagle->promises);
        promise_long(eagle, w, sim->model->mean_s[job]);
        line_place_at(&eagle->pool, place)->count = w;
        line_append(&eagle->pool, &tasks, place);
    }
    return schedule(sim, in_a_hop(sim), LONGS_ARRIVED, 0, tasks.head);
}

static bool long_tasks_arrive(struct tasks_run *sim, uint32_t chain)
{
    const struct eagle *eagle = sim->state;
    for (uint32_t at = chain, next; at != LINE_END; at = next) {
        next = line_place_at(&eagle->pool, at)->next;
        uint32_t w = line_place_at(&eagle->pool, at)->count;
        line_append(&eagle->pool, &eagle->workers[w].long_tasks, at);
        if (!serve_if_idle(sim, w))
            return false;
    }
    return true;
}

/* --- events --- */

static bool eagle_take_job(struct tasks_run *sim, uint32_t job)
{
    return sim->model->jobs[job].is_long ? place_long(sim, job)
                                         : schedule(sim, in_a_hop(sim), PROBES_ARRIVED, 0, job);
}

static bool eagle_happen(struct tasks_run *sim, const struct event *event)
{
    uint32_t high = (uint32_t)(event->about >> 32);
    uint32_t low = (uint32_t)event->about;
    switch (event->kind) {
    case LONG_ENDED:
        long_is_over(sim->state, high, sim->model->mean_s[low]);
        return serve_next(sim, high);
    case SHORT_ENDED:
        return schedule(sim, in_a_hop(sim), SCHEDULER_ASKED, high, low);
    case TOLD_NONE:
        return serve_next(sim, high);
    case SCHEDULER_ASKED:
        return answer(sim, high, low);
    case PROBES_RETURNED:
        return resend_probes(sim, high, low);
    case LONGS_ARRIVED:
        return long_tasks_arrive(sim, low);
    case PROBES_ARRIVED:
        return probe_all(sim, low);
    default:
        return resent_probes_arrive(sim, high, low);
    }
}

/* Each probe and each long task stands in a line or is under way. */
static double places_of(const struct tasks_model *model, const struct tasks_terms *terms)
{
    double places = 0;
    if (model->jobs == NULL)
        return (double)model->tasks * (double)terms->probes_per_task +
               (double)model->n_jobs * fmax(0, PROBES_MIN - (double)terms->probes_per_task);
    for (uint32_t j = 0; j < model->n_jobs; j++)
        places += model->jobs[j].is_long ? (double)model->jobs[j].tasks
                                         : (double)probes_of(model, terms, j);
    return places;
}

static bool eagle_begin(struct tasks_run *sim)
{
    uint32_t workers = sim->model->workers;
    struct eagle *eagle = arena_calloc(sim->arena, 1, sizeof *eagle);
    if (eagle == NULL)
        return false;
    eagle->general =
        workers - (uint32_t)pigeon_reserved_workers(workers, sim->terms->reserved_share);
    eagle->workers = arena_array(sim->arena, workers, sizeof *eagle->workers);
    eagle->without_long = arena_array(sim->arena, workers, sizeof *eagle->without_long);
    eagle->given = arena_calloc(sim->arena, sim->model->n_jobs, sizeof *eagle->given);
    if (eagle->workers == NULL || eagle->without_long == NULL || eagle->given == NULL ||
        !promises_init(&eagle->promises, eagle->general, sim->arena) ||
        !tasks_run_goes_on(sim, workers) || !subset_init(&eagle->draws, workers, sim->arena) ||
        !line_pool_init(&eagle->pool, places_of(sim->model, sim->terms), sim->arena) ||
        !reservations_init(&eagle->reservations, workers, sim->model->n_jobs, &eagle->pool,
                           sim->arena) ||
        !tasks_run_goes_on(sim, workers))
        return false;
    for (uint32_t w = 0; w < workers; w++) {
        eagle->workers[w] = (struct worker){LINE_EMPTY, 0, w, false};
        eagle->without_long[w] = w;
    }
    eagle->n_without_long = workers;
    for (uint32_t j = 0; j < sim->model->n_jobs; j++)
        reservations_set_remaining(&eagle->reservations, j,
                                   sim->model->jobs[j].tasks * sim->model->mean_s[j]);
    sim->state = eagle;
    return tasks_run_goes_on(sim, workers);
}

static double eagle_memory(const struct tasks_model *model, const struct tasks_terms *terms)
{
    (void)terms;
    return (double)model->workers * (sizeof(struct worker) + 3 * sizeof(uint32_t)) +
           promises_memory(model->workers) + reservations_memory(model->workers, model->n_jobs) +
           (double)model->n_jobs * sizeof(uint32_t) + sizeof(struct eagle);
}

static double eagle_places(const struct tasks_model *model, const struct tasks_terms *terms)
{
    double places = places_of(model, terms);
    return line_pool_memory(places) + reservations_index_nodes_memory(places);
}

/* One of each worker that is not idle, and one chain of each job. */
static size_t eagle_events(const struct tasks_model *model)
{
    return (size_t)model->workers + model->n_jobs;
}

const struct tasks_policy eagle_policy = {
    .name = "eagle",
    .events = eagle_events,
    .memory = eagle_memory,
    .places = eagle_places,
    .work = places_of,
    .begin = eagle_begin,
    .take_job = eagle_take_job,
    .happen = eagle_happen,
    .usual = {.groups = 1, .weight = 1, .reserved_share = 0.1, .probes_per_task = 2},
};
