/*
 * Pigeon: workers in groups, each with a master of its own that keeps a queue of short tasks and
 * one of long ones (Z. Li, dissertation, UT Arlington 2019, section 4.2; docs/design.md,
 * "Bags of tasks"). One central master is Pigeon with one group. Pigeon with a layout, of other
 * groups or classes, of tasks bound to workers or masters that fail, is pigeon_masters.c.
 *
 * Workers of a kind are alike, so a group counts its idle ones and does not tell them apart. What
 * waits is kept by runs of neighbouring tasks of a job. There is one event a task: when its
 * worker's message, that it is idle, is at the master.
 */
#include <assert.h>

#include "core/scheduling/tasks/pigeon_plan.h"
#include "core/scheduling/tasks/tasks_line.h"
#include "core/scheduling/tasks/tasks_policy.h"
#include "core/sim/subset.h"

/* What a master hears of at one instant, in this order; jobs come last. */
enum { RESERVED_IDLE, GENERAL_IDLE };

/* A place of a queue stands for neighbouring tasks of a job: `item` is the first one, `count` how
 * many they are. */
struct group {
    uint32_t idle_general;
    uint32_t idle_reserved;
    struct line short_tasks;
    struct line long_tasks;
    uint64_t in_a_row; /* short tasks that general workers took while long ones waited */
};

struct pigeon {
    struct group *groups;
    uint32_t n_groups;
    uint64_t weight;
    struct subset draws;
    struct line_pool pool;
};

/* --- memory --- */

/* A job waits at one place for each group that has a block, and for each task that is left. */
static double places_of(const struct tasks_model *model, uint32_t groups)
{
    double places = 0;
    if (model->jobs == NULL)
        return (double)model->tasks;
    for (uint32_t j = 0; j < model->n_jobs; j++) {
        uint32_t tasks = model->jobs[j].tasks;
        bool placed = model->jobs[j].placement != NULL && groups > 1;
        places += placed || tasks < groups ? tasks : groups + tasks % groups;
    }
    return places;
}

static double memory_of(const struct tasks_model *model, uint32_t groups)
{
    return line_pool_memory(places_of(model, groups)) +
           (double)groups * (sizeof(struct group) + 2 * sizeof(uint32_t)) + sizeof(struct pigeon);
}

/* --- masters --- */

/* A worker of the group, which is idle no more, gets the task. */
static inline bool
send_task(struct tasks_run *sim, uint32_t group, uint32_t kind, uint32_t job, uint32_t task)
{
    double hop_s = sim->model->communication_s;
    tasks_run_messages(sim, group, 1);
    double end_s = tasks_run_begin(sim, group, job, task, sim->now_s + hop_s);
    if (kind == RESERVED_IDLE)
        tasks_run_reserved_works(sim, group, sim->model->jobs[job].durations_s[task]);
    return tasks_run_goes_on(sim, 1) &&
           event_heap_schedule(&sim->events, end_s + hop_s, kind, group);
}

/* The first task of a queue that is not empty. */
static inline bool
send_head(struct tasks_run *sim, uint32_t group, uint32_t kind, struct line *queue)
{
    struct pigeon *pigeon = sim->state;
    uint32_t place = queue->head;
    struct line_place *first = line_place_at(&pigeon->pool, place);
    uint32_t job = first->job;
    uint32_t task = first->item++;
    if (--first->count == 0) {
        line_remove(&pigeon->pool, queue, LINE_END);
        line_pool_give(&pigeon->pool, place);
    }
    return send_task(sim, group, kind, job, task);
}

static bool reserved_reports(struct tasks_run *sim, uint32_t g)
{
    struct pigeon *pigeon = sim->state;
    struct group *group = &pigeon->groups[g];
    if (group->short_tasks.head != LINE_END)
        return send_head(sim, g, RESERVED_IDLE, &group->short_tasks);
    group->idle_reserved++;
    return true;
}

static bool general_reports(struct tasks_run *sim, uint32_t g)
{
    struct pigeon *pigeon = sim->state;
    struct group *group = &pigeon->groups[g];
    bool short_wait = group->short_tasks.head != LINE_END;
    bool long_wait = group->long_tasks.head != LINE_END;
    bool turn_of_long =
        pigeon->weight != TASKS_WEIGHT_INFINITE && group->in_a_row >= pigeon->weight - 1;
    if (long_wait && (!short_wait || turn_of_long)) {
        group->in_a_row = 0;
        return send_head(sim, g, GENERAL_IDLE, &group->long_tasks);
    }
    group->in_a_row = long_wait ? group->in_a_row + 1 : 0;
    if (short_wait)
        return send_head(sim, g, GENERAL_IDLE, &group->short_tasks);
    group->idle_general++;
    return true;
}

/* A master hears of n neighbouring tasks. */
static bool receive(struct tasks_run *sim, uint32_t g, uint32_t job, uint32_t task, uint32_t n)
{
    struct pigeon *pigeon = sim->state;
    struct group *group = &pigeon->groups[g];
    bool is_long = sim->model->jobs[job].is_long;
    tasks_run_messages(sim, g, n);
    for (; n > 0 && group->idle_general > 0; n--) {
        group->idle_general--;
        if (!send_task(sim, g, GENERAL_IDLE, job, task++))
            return false;
    }
    for (; n > 0 && !is_long && group->idle_reserved > 0; n--) {
        group->idle_reserved--;
        if (!send_task(sim, g, RESERVED_IDLE, job, task++))
            return false;
    }
    struct line *queue = is_long ? &group->long_tasks : &group->short_tasks;
    if (n == 0)
        return true;
    uint32_t place = line_pool_take(&pigeon->pool, job, task);
    if (place == LINE_END)
        return false;
    line_place_at(&pigeon->pool, place)->count = n;
    line_append(&pigeon->pool, queue, place);
    return tasks_run_goes_on(sim, 1);
}

/* --- jobs --- */

static bool place_as_given(struct tasks_run *sim, uint32_t job, const uint32_t placement[])
{
    uint32_t n = sim->model->jobs[job].tasks;
    for (uint32_t from = 0, to = 0; from < n; from = to) {
        assert(placement[from] < ((const struct pigeon *)sim->state)->n_groups);
        while (to < n && placement[to] == placement[from])
            to++;
        if (!receive(sim, placement[from], job, from, to - from))
            return false;
    }
    return true;
}

static bool pigeon_take_job(struct tasks_run *sim, uint32_t j)
{
    struct pigeon *pigeon = sim->state;
    const struct tasks_job *job = &sim->model->jobs[j];
    uint32_t block = job->tasks / pigeon->n_groups;
    uint32_t rest = job->tasks % pigeon->n_groups;
    if (job->placement != NULL && pigeon->n_groups > 1)
        return place_as_given(sim, j, job->placement);
    for (uint32_t g = 0; block > 0 && g < pigeon->n_groups; g++)
        if (!receive(sim, g, j, g * block, block))
            return false;
    if (rest == 0)
        return true;
    struct rng stream = trial_stream(&sim->trial, TRIAL_PLACEMENT, j);
    const uint32_t *drawn = subset_draw(&pigeon->draws, &stream, rest);
    for (uint32_t i = 0; i < rest; i++)
        if (!receive(sim, drawn[i], j, job->tasks - rest + i, 1))
            return false;
    return true;
}

static bool pigeon_happen(struct tasks_run *sim, const struct event *event)
{
    uint32_t group = (uint32_t)event->about;
    tasks_run_messages(sim, group, 1);
    return event->kind == RESERVED_IDLE ? reserved_reports(sim, group)
                                        : general_reports(sim, group);
}

static bool begin_with(struct tasks_run *sim, uint32_t n_groups)
{
    struct pigeon *pigeon = arena_calloc(sim->arena, 1, sizeof *pigeon);
    if (pigeon == NULL)
        return false;
    pigeon->n_groups = n_groups;
    pigeon->weight = sim->terms->weight;
    pigeon->groups = arena_array(sim->arena, n_groups, sizeof *pigeon->groups);
    if (pigeon->groups == NULL || !subset_init(&pigeon->draws, n_groups, sim->arena) ||
        !line_pool_init(&pigeon->pool, places_of(sim->model, n_groups), sim->arena) ||
        !tasks_run_goes_on(sim, n_groups))
        return false;
    for (uint32_t g = 0; g < n_groups; g++) {
        uint32_t n = sim->model->workers / n_groups + (g < sim->model->workers % n_groups ? 1 : 0);
        uint32_t reserved = (uint32_t)pigeon_reserved_workers(n, sim->terms->reserved_share);
        pigeon->groups[g] = (struct group){.idle_general = n - reserved,
                                           .idle_reserved = reserved,
                                           .short_tasks = LINE_EMPTY,
                                           .long_tasks = LINE_EMPTY};
        tasks_run_reserved(sim, g, reserved);
    }
    sim->state = pigeon;
    return tasks_run_goes_on(sim, n_groups);
}

static bool pigeon_begin(struct tasks_run *sim)
{
    return begin_with(sim, sim->terms->groups);
}

static bool centralised_begin(struct tasks_run *sim)
{
    return begin_with(sim, 1);
}

static double pigeon_memory(const struct tasks_model *model, const struct tasks_terms *terms)
{
    return memory_of(model, terms->groups);
}

static double centralised_memory(const struct tasks_model *model, const struct tasks_terms *terms)
{
    (void)terms;
    return memory_of(model, 1);
}

static const struct tasks_policy *pigeon_carried_out_by(const struct tasks_terms *terms)
{
    return terms->layout != NULL ? &pigeon_layout_policy : &pigeon_policy;
}

/* One of each worker that is not idle. */
static size_t pigeon_events(const struct tasks_model *model)
{
    return model->workers < model->tasks ? model->workers : (size_t)model->tasks;
}

const struct tasks_policy pigeon_policy = {
    .name = "pigeon",
    .hops = 1,
    .events = pigeon_events,
    .memory = pigeon_memory,
    .begin = pigeon_begin,
    .take_job = pigeon_take_job,
    .happen = pigeon_happen,
    .carried_out_by = pigeon_carried_out_by,
    .usual = {.groups = 1, .reserved_share = 0.05, .weight = PIGEON_WEIGHT},
};

const struct tasks_policy centralised_policy = {
    .name = "centralised",
    .hops = 1,
    .events = pigeon_events,
    .memory = centralised_memory,
    .begin = centralised_begin,
    .take_job = pigeon_take_job,
    .happen = pigeon_happen,
    .usual = {.groups = 1, .reserved_share = 0.05, .weight = PIGEON_WEIGHT},
};
