/*
 * Masters of Pigeon with a layout: classes with a queue each, workers of levels, and tasks that are
 * bound to workers (docs/design.md, "Pigeon's layouts").
 */
#include "core/scheduling/tasks/pigeon_masters.h"

#include <assert.h>

/* --- what waits --- */

bool pigeon_keep(struct tasks_run *sim, struct line *line, uint32_t job, uint32_t task, uint32_t n)
{
    struct pigeon_masters *pigeon = sim->state;
    uint32_t place = line_pool_take(&pigeon->pool, job, task);
    if (place == LINE_END)
        return false;
    line_place_at(&pigeon->pool, place)->count = n;
    line_append(&pigeon->pool, line, place);
    return tasks_run_goes_on(sim, 1);
}

static void count_waiting(const struct tasks_run *sim, struct pigeon_length *length, int64_t by)
{
    const struct pigeon_masters *pigeon = sim->state;
    pigeon_length_change(length, sim->now_s, pigeon->report_every_s, by);
}

static bool own_waits(const struct pigeon_masters *pigeon, uint32_t w, uint32_t class)
{
    return pigeon->own != NULL && pigeon_own_queue(pigeon, w, class)->head != LINE_END;
}

/* Whether a task of a class waits that this worker may take. */
static bool
waits_for(const struct pigeon_masters *pigeon, const struct pigeon_worker *worker, uint32_t class)
{
    uint32_t w = (uint32_t)(worker - pigeon->workers.items);
    return own_waits(pigeon, w, class) ||
           (class <= worker->level && pigeon_queue(pigeon, worker->group, class)->head != LINE_END);
}

/* The class that a worker which reports serves; as many as there are: none. Weighted fair queuing
 * between each class and all those below it: of W tasks at least one is of below, where one waits. */
static uint32_t whose_turn(const struct pigeon_masters *pigeon, const struct pigeon_worker *worker)
{
    uint32_t n = pigeon->n_classes;
    uint64_t *in_a_row = &pigeon->in_a_row[((size_t)worker->group * n + worker->level) * n];
    uint32_t last = n;
    for (uint32_t c = 0; c < n; c++)
        last = waits_for(pigeon, worker, c) ? c : last;
    for (uint32_t c = 0; c < n; c++) {
        uint64_t weight = pigeon->classes[c].weight;
        bool waits = waits_for(pigeon, worker, c);
        bool below = last < n && last > c;
        bool turn = weight != TASKS_WEIGHT_INFINITE && in_a_row[c] >= weight - 1;
        if (below && (!waits || turn)) {
            in_a_row[c] = 0;
            continue;
        }
        in_a_row[c] = below ? in_a_row[c] + 1 : 0;
        if (waits)
            return c;
    }
    return n;
}

/* --- to workers --- */

/* To a worker that is not in its list of idle ones. */
static bool send_task(struct tasks_run *sim, uint32_t w, uint32_t job, uint32_t task)
{
    const struct pigeon_masters *pigeon = sim->state;
    const struct pigeon_worker *worker = &pigeon->workers.items[w];
    double hop_s = sim->model->communication_s;
    double takes_s =
        sim->model->jobs[job].durations_s[task] / pigeon->items[worker->group].group.power;
    tasks_run_messages(sim, worker->group, 1);
    double end_s = tasks_run_begin_for(sim, w, job, task, sim->now_s + hop_s, takes_s);
    if (worker->level + 1 < pigeon->n_classes)
        tasks_run_reserved_works(sim, worker->group, takes_s);
    return tasks_run_goes_on(sim, 1) &&
           event_heap_schedule(&sim->events, end_s + hop_s, PIGEON_IDLE + worker->level, w);
}

/* The first task of a queue that is not empty. */
static bool send_head(struct tasks_run *sim, uint32_t w, struct line *queue)
{
    struct pigeon_masters *pigeon = sim->state;
    uint32_t place = queue->head;
    struct line_place *first = line_place_at(&pigeon->pool, place);
    uint32_t job = first->job;
    uint32_t task = first->item++;
    if (--first->count == 0) {
        line_remove(&pigeon->pool, queue, LINE_END);
        line_pool_give(&pigeon->pool, place);
    }
    return send_task(sim, w, job, task);
}

bool pigeon_master_hear(struct tasks_run *sim, uint32_t w)
{
    struct pigeon_masters *pigeon = sim->state;
    const struct pigeon_worker *worker = &pigeon->workers.items[w];
    struct pigeon_master *master = &pigeon->items[worker->group];
    if (!master->lost && sim->now_s < master->resume_s)
        return event_heap_schedule(&sim->events, master->resume_s, PIGEON_IDLE + worker->level, w);
    uint32_t class = master->lost ? pigeon->n_classes : whose_turn(pigeon, worker);
    if (!master->lost)
        tasks_run_messages(sim, worker->group, 1);
    if (class == pigeon->n_classes) {
        pigeon_workers_rest(&pigeon->workers, w);
        return true;
    }
    if (own_waits(pigeon, w, class)) {
        count_waiting(sim, pigeon_own_length(pigeon, w, class), -1);
        return send_head(sim, w, pigeon_own_queue(pigeon, w, class));
    }
    count_waiting(sim, pigeon_length_of(pigeon, worker->group, class), -1);
    return send_head(sim, w, pigeon_queue(pigeon, worker->group, class));
}

/* --- from schedulers --- */

static bool receive_free(struct tasks_run *sim, uint32_t m, uint32_t job, uint32_t task, uint32_t n)
{
    struct pigeon_masters *pigeon = sim->state;
    uint32_t class = tasks_class_of(&sim->model->jobs[job], pigeon->n_classes);
    uint32_t level = pigeon->n_classes - 1;
    assert(class <= level);
    while (n > 0) {
        uint32_t w = pigeon_workers_first_idle(&pigeon->workers, m, level);
        if (w == PIGEON_NOBODY) {
            if (level-- == class)
                break;
            continue;
        }
        pigeon_workers_take(&pigeon->workers, w);
        if (!send_task(sim, w, job, task++))
            return false;
        n--;
    }
    if (n == 0)
        return true;
    count_waiting(sim, pigeon_length_of(pigeon, m, class), n);
    return pigeon_keep(sim, pigeon_queue(pigeon, m, class), job, task, n);
}

/* Tasks bound to a worker that wait and come before one of this class, or were earlier in it. */
static uint32_t own_before(const struct pigeon_masters *pigeon, uint32_t w, uint32_t class)
{
    uint32_t tasks = 0;
    for (uint32_t c = 0; c <= class; c++)
        tasks += pigeon_own_length(pigeon, w, c)->now;
    return tasks;
}

/* Of the workers of a master that a task of a class is bound to: the first idle one, else that with
 * the shortest queue of its own before the task. */
static uint32_t worker_for(const struct pigeon_masters *pigeon,
                           uint32_t m,
                           uint32_t class,
                           const struct tasks_binding *binding)
{
    uint32_t best = PIGEON_NOBODY;
    uint32_t least = 0;
    for (uint32_t i = 0; i < binding->n; i++) {
        uint32_t w = binding->workers[i];
        if (pigeon->workers.items[w].group != m)
            continue;
        if (pigeon->workers.items[w].idle)
            return w;
        uint32_t before = own_before(pigeon, w, class);
        if (best != PIGEON_NOBODY && before >= least)
            continue;
        best = w;
        least = before;
    }
    return best;
}

static bool receive_bound(struct tasks_run *sim,
                          uint32_t m,
                          const struct tasks_binding *binding,
                          uint32_t job,
                          uint32_t task)
{
    struct pigeon_masters *pigeon = sim->state;
    uint32_t class = tasks_class_of(&sim->model->jobs[job], pigeon->n_classes);
    uint32_t w = worker_for(pigeon, m, class, binding);
    assert(w != PIGEON_NOBODY);
    if (pigeon->workers.items[w].idle) {
        pigeon_workers_take(&pigeon->workers, w);
        return send_task(sim, w, job, task);
    }
    count_waiting(sim, pigeon_own_length(pigeon, w, class), 1);
    return pigeon_keep(sim, pigeon_own_queue(pigeon, w, class), job, task, 1);
}

bool pigeon_master_receive(
    struct tasks_run *sim, uint32_t m, uint32_t job, uint32_t task, uint32_t n)
{
    struct pigeon_masters *pigeon = sim->state;
    struct pigeon_master *master = &pigeon->items[m];
    struct tasks_binding binding = pigeon_binding(sim, job, task);
    if (master->lost || sim->now_s < master->resume_s)
        return pigeon_keep(sim, &master->held, job, task, n);
    tasks_run_messages(sim, m, n);
    return binding.n > 0 ? receive_bound(sim, m, &binding, job, task)
                         : receive_free(sim, m, job, task, n);
}

/* --- the policy --- */

static bool take_job(struct tasks_run *sim, uint32_t job)
{
    struct rng stream = trial_stream(&sim->trial, TRIAL_PLACEMENT, job);
    return pigeon_distribute(sim, job, 0, sim->model->jobs[job].tasks, &stream);
}

static bool happen(struct tasks_run *sim, const struct event *event)
{
    bool of_worker = event->kind >= PIGEON_IDLE && event->kind < PIGEON_RESUMED;
    return of_worker ? pigeon_master_hear(sim, (uint32_t)event->about)
                     : pigeon_failure_happen(sim, event);
}

static bool has_bindings(const struct tasks_model *model)
{
    for (uint32_t j = 0; model->jobs != NULL && j < model->n_jobs; j++)
        if (model->jobs[j].bindings != NULL)
            return true;
    return false;
}

/* Schedulers look through groups that are listed for each job, and for each class through the workers
 * of a task that is bound. */
static double looked_through(const struct tasks_model *model, const struct tasks_terms *terms)
{
    bool listed = terms->layout->groups != NULL;
    double looked = listed ? (double)model->n_jobs * pigeon_layout_groups(terms) : 0;
    for (uint32_t j = 0; model->jobs != NULL && j < model->n_jobs; j++) {
        const struct tasks_job *job = &model->jobs[j];
        for (uint32_t i = 0; job->bindings != NULL && i < job->tasks; i++)
            looked += (double)job->bindings[i].n * tasks_model_classes(model);
    }
    return looked;
}

/* A failure may send the tasks of a group again: of two groups all tasks, of more about twice what a
 * group has of them at most, when others failed before. */
static double work_of(const struct tasks_model *model, const struct tasks_terms *terms)
{
    double groups = pigeon_layout_groups(terms);
    double sent_again = terms->layout->n_failures * fmin(1, 2 / groups);
    return (double)model->tasks * (1 + sent_again) + looked_through(model, terms);
}

/* A job waits at two places of each group, a block and one that was left; but each task may have one
 * of its own where tasks have their group or their workers, or are sent again. */
static double places_of(const struct tasks_model *model, const struct tasks_terms *terms)
{
    double groups = pigeon_layout_groups(terms);
    bool failing = terms->layout->n_failures > 0;
    double places = 0;
    if (model->jobs == NULL)
        return (double)model->tasks;
    for (uint32_t j = 0; j < model->n_jobs; j++) {
        const struct tasks_job *job = &model->jobs[j];
        bool apart = failing || job->placement != NULL || job->bindings != NULL;
        places += apart ? job->tasks : fmin(job->tasks, 2 * groups);
    }
    return places;
}

static bool make_bound(struct pigeon_masters *pigeon, uint32_t workers, struct arena *arena)
{
    size_t lines = (size_t)workers * pigeon->n_classes;
    pigeon->own = arena_array(arena, lines, sizeof *pigeon->own);
    pigeon->own_lengths = arena_calloc(arena, lines, sizeof *pigeon->own_lengths);
    pigeon->sent = arena_array(arena, workers, sizeof *pigeon->sent);
    if (pigeon->own == NULL || pigeon->own_lengths == NULL || pigeon->sent == NULL)
        return false;
    for (size_t i = 0; i < lines; i++)
        pigeon->own[i] = LINE_EMPTY;
    for (uint32_t w = 0; w < workers; w++)
        pigeon->sent[w] = (struct pigeon_sent){UINT32_MAX, 0};
    return true;
}

static void make_masters(struct pigeon_masters *pigeon, const struct tasks_run *sim)
{
    uint32_t counts[PIGEON_CLASSES_MAX];
    for (uint32_t m = 0; m < pigeon->n; m++) {
        struct pigeon_group group = pigeon_layout_group(sim->model, sim->terms, m);
        pigeon->items[m] =
            (struct pigeon_master){.group = group, .first = pigeon->workers.n, .held = LINE_EMPTY};
        pigeon_layout_levels(pigeon->classes, pigeon->n_classes, group.workers, counts);
        pigeon_workers_add(&pigeon->workers, m, counts);
        tasks_run_reserved(sim, m, group.workers - counts[pigeon->n_classes - 1]);
    }
    assert(pigeon->workers.n == sim->model->workers);
}

static bool begin(struct tasks_run *sim)
{
    struct arena *arena = sim->arena;
    uint32_t workers = sim->model->workers;
    struct pigeon_masters *pigeon = arena_calloc(arena, 1, sizeof *pigeon);
    if (pigeon == NULL)
        return false;
    sim->state = pigeon;
    pigeon->n = pigeon_layout_groups(sim->terms);
    pigeon->n_classes = pigeon_layout_classes(sim->terms, pigeon->classes);
    pigeon->report_every_s = sim->terms->layout->report_every_s;
    pigeon->stranded = LINE_EMPTY;
    size_t lines = (size_t)pigeon->n * pigeon->n_classes;
    pigeon->items = arena_array(arena, pigeon->n, sizeof *pigeon->items);
    pigeon->queues = arena_array(arena, lines, sizeof *pigeon->queues);
    pigeon->lengths = arena_calloc(arena, lines, sizeof *pigeon->lengths);
    pigeon->in_a_row = arena_calloc(arena, lines, pigeon->n_classes * sizeof *pigeon->in_a_row);
    if (pigeon->items == NULL || pigeon->queues == NULL || pigeon->lengths == NULL ||
        pigeon->in_a_row == NULL ||
        !pigeon_workers_init(&pigeon->workers, workers, pigeon->n, pigeon->n_classes, arena) ||
        !pigeon_spread_init(&pigeon->spread, pigeon->n, arena) ||
        !line_pool_init(&pigeon->pool, places_of(sim->model, sim->terms), arena) ||
        (has_bindings(sim->model) && !make_bound(pigeon, workers, arena)) ||
        !tasks_run_goes_on(sim, workers))
        return false;
    for (size_t i = 0; i < lines; i++)
        pigeon->queues[i] = LINE_EMPTY;
    make_masters(pigeon, sim);
    if (!tasks_run_goes_on(sim, workers))
        return false;
    pigeon_spread_anew(sim);
    return pigeon_failures_begin(sim);
}

/* One of each worker that is not idle. */
static size_t events_of(const struct tasks_model *model)
{
    return model->workers < model->tasks ? model->workers : (size_t)model->tasks;
}

static double memory_of(const struct tasks_model *model, const struct tasks_terms *terms)
{
    struct pigeon_class classes[PIGEON_CLASSES_MAX];
    double groups = pigeon_layout_groups(terms);
    double n_classes = pigeon_layout_classes(terms, classes);
    double line = sizeof(struct line) + sizeof(struct pigeon_length);
    double bound = has_bindings(model) ? n_classes * line + sizeof(struct pigeon_sent) : 0;
    /* The heap of events may have to grow beyond one a worker. */
    double failures = 3.0 * terms->layout->n_failures;
    double grown = failures > 0 ? 4 * ((double)events_of(model) + failures + 1) : 0;
    return line_pool_memory(places_of(model, terms)) + sizeof(struct pigeon_masters) +
           pigeon_workers_memory(model->workers, pigeon_layout_groups(terms),
                                 pigeon_layout_classes(terms, classes)) +
           pigeon_spread_memory(pigeon_layout_groups(terms)) + model->workers * bound +
           groups *
               (sizeof(struct pigeon_master) + n_classes * (line + n_classes * sizeof(uint64_t))) +
           grown * sizeof(struct event_heap_entry);
}

const struct tasks_policy pigeon_layout_policy = {
    .name = "pigeon",
    .hops = 1,
    .events = events_of,
    .memory = memory_of,
    .work = work_of,
    .begin = begin,
    .take_job = take_job,
    .happen = happen,
    .standstill = "tasks wait for workers that have failed for good",
};
