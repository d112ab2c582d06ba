/*
 * Sparrow: probes at workers drawn, and late binding (K. Ousterhout et al., "Sparrow: distributed,
 * low latency scheduling", SOSP 2013; docs/design.md, "Bags of tasks"). A probe leaves a reservation at
 * a worker; a worker that is free asks the job's scheduler for a task, and may hear that there
 * is none left.
 */
#include "core/scheduling/tasks/tasks_line.h"
#include "core/scheduling/tasks/tasks_policy.h"
#include "core/sim/subset.h"

enum {
    WORKER_FREE,    /* about the worker: its task ended, or it heard that there is none */
    SCHEDULER_ASKED /* about the worker and the job */
};

struct worker {
    struct line line;
    bool busy; /* or waits for an answer */
};

struct sparrow {
    struct worker *workers;
    uint32_t *given; /* of each job: tasks that were given out */
    struct line_pool pool;
    struct subset draws;
};

static bool serve_next(struct tasks_run *sim, uint32_t w)
{
    struct sparrow *sparrow = sim->state;
    struct worker *worker = &sparrow->workers[w];
    uint32_t place = worker->line.head;
    worker->busy = place != LINE_END;
    if (!worker->busy)
        return true;
    uint32_t job = line_place_at(&sparrow->pool, place)->job;
    line_remove(&sparrow->pool, &worker->line, LINE_END);
    line_pool_give(&sparrow->pool, place);
    return event_heap_schedule(&sim->events, sim->now_s + sim->model->communication_s,
                               SCHEDULER_ASKED, (uint64_t)w << 32 | job);
}

static bool reserve(struct tasks_run *sim, uint32_t w, uint32_t job)
{
    struct sparrow *sparrow = sim->state;
    struct worker *worker = &sparrow->workers[w];
    uint32_t place = line_pool_take(&sparrow->pool, job, 0);
    if (place == LINE_END)
        return false;
    line_append(&sparrow->pool, &worker->line, place);
    return tasks_run_goes_on(sim, 1) && (worker->busy || serve_next(sim, w));
}

static bool sparrow_take_job(struct tasks_run *sim, uint32_t job)
{
    struct sparrow *sparrow = sim->state;
    uint32_t workers = sim->model->workers;
    uint64_t probes = (uint64_t)sim->terms->probes_per_task * sim->model->jobs[job].tasks;
    uint32_t rest = (uint32_t)(probes % workers);
    for (uint64_t round = 0; round < probes / workers; round++)
        for (uint32_t w = 0; w < workers; w++)
            if (!reserve(sim, w, job))
                return false;
    struct rng stream = trial_stream(&sim->trial, TRIAL_PROBES, job);
    const uint32_t *drawn = subset_draw(&sparrow->draws, &stream, rest);
    for (uint32_t i = 0; i < rest; i++)
        if (!reserve(sim, drawn[i], job))
            return false;
    return true;
}

/* The job's scheduler answers a worker. */
static bool answer(struct tasks_run *sim, uint32_t w, uint32_t job)
{
    struct sparrow *sparrow = sim->state;
    double told_s = sim->now_s + sim->model->communication_s;
    double free_s = sparrow->given[job] < sim->model->jobs[job].tasks
                        ? tasks_run_begin(sim, w, job, sparrow->given[job]++, told_s)
                        : told_s;
    return event_heap_schedule(&sim->events, free_s, WORKER_FREE, w);
}

static bool sparrow_happen(struct tasks_run *sim, const struct event *event)
{
    return event->kind == WORKER_FREE
               ? serve_next(sim, (uint32_t)event->about)
               : answer(sim, (uint32_t)(event->about >> 32), (uint32_t)event->about);
}

static double reservations_of(const struct tasks_model *model, const struct tasks_terms *terms)
{
    return (double)model->tasks * (double)terms->probes_per_task;
}

static bool sparrow_begin(struct tasks_run *sim)
{
    uint32_t workers = sim->model->workers;
    struct sparrow *sparrow = arena_calloc(sim->arena, 1, sizeof *sparrow);
    if (sparrow == NULL)
        return false;
    sparrow->workers = arena_array(sim->arena, workers, sizeof *sparrow->workers);
    sparrow->given = arena_calloc(sim->arena, sim->model->n_jobs, sizeof *sparrow->given);
    if (sparrow->workers == NULL || sparrow->given == NULL ||
        !subset_init(&sparrow->draws, workers, sim->arena) ||
        !line_pool_init(&sparrow->pool, reservations_of(sim->model, sim->terms), sim->arena) ||
        !tasks_run_goes_on(sim, workers))
        return false;
    for (uint32_t w = 0; w < workers; w++)
        sparrow->workers[w] = (struct worker){LINE_EMPTY, false};
    sim->state = sparrow;
    return tasks_run_goes_on(sim, workers);
}

static double sparrow_memory(const struct tasks_model *model, const struct tasks_terms *terms)
{
    (void)terms;
    return (double)model->workers * (sizeof(struct worker) + 2 * sizeof(uint32_t)) +
           (double)model->n_jobs * sizeof(uint32_t) + sizeof(struct sparrow);
}

static double sparrow_places(const struct tasks_model *model, const struct tasks_terms *terms)
{
    return line_pool_memory(reservations_of(model, terms));
}

/* One of each worker that is not idle. */
static size_t sparrow_events(const struct tasks_model *model)
{
    return model->workers;
}

const struct tasks_policy sparrow_policy = {
    .name = "sparrow",
    .hops = 1,
    .events = sparrow_events,
    .memory = sparrow_memory,
    .places = sparrow_places,
    .work = reservations_of,
    .begin = sparrow_begin,
    .take_job = sparrow_take_job,
    .happen = sparrow_happen,
    .usual = {.groups = 1, .weight = 1, .probes_per_task = 2},
};
