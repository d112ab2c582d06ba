#include "core/geosim/sim_state.h"

#include <string.h>

#include "core/geosim/draws.h"

/* Gates are full to within this share, as those of a plan are (ALLOCATION_TIE). */
#define TIE 1e-12

const struct geosim_task *sim_state_task(const struct sim_state *state, uint32_t task)
{
    const struct task_state *entry = &state->tasks[task];
    size_t first = state->workflows[entry->workflow].first;
    return &state->workload->workflows[entry->workflow].tasks[task - first];
}

static const struct geosim_cluster *cluster_of(const struct sim_state *state, size_t cluster)
{
    return &state->world->clusters[cluster];
}

/* --- gates --- */

/* Adds (sign 1) or takes back (-1) what a copy takes of the gates. One that nobody uses any more is
 * empty, whatever rounding has left. */
static void
move_gates(struct sim_state *state, uint32_t task, size_t cluster, double expected, double sign)
{
    const struct task_state *entry = &state->tasks[task];
    struct cluster_state *here = &state->clusters[cluster];
    for (size_t i = 0; i < entry->n_inputs; i++) {
        struct cluster_state *there = &state->clusters[entry->inputs[i]];
        double each = sign * expected / (double)entry->n_inputs;
        if (there == here)
            continue;
        here->inflows += sign > 0 ? 1 : (size_t)-1;
        there->outflows += sign > 0 ? 1 : (size_t)-1;
        here->ingress = here->inflows > 0 ? here->ingress + each : 0;
        there->egress = there->outflows > 0 ? there->egress + each : 0;
    }
}

static bool sim_state_fits(double need, double left)
{
    double size = need > left ? need : left;
    return need <= left + TIE * size;
}

bool sim_state_has_capacity(const struct sim_state *state,
                            uint32_t task,
                            size_t cluster,
                            double expected)
{
    const struct task_state *entry = &state->tasks[task];
    const struct cluster_state *here = &state->clusters[cluster];
    double each = expected / (double)(entry->n_inputs > 0 ? entry->n_inputs : 1);
    double all = 0;
    if (here->down || here->busy >= cluster_of(state, cluster)->slots)
        return false;
    for (size_t i = 0; i < entry->n_inputs; i++) {
        size_t from = entry->inputs[i];
        if (from == cluster)
            continue;
        all += each;
        if (!sim_state_fits(each, cluster_of(state, from)->egress_bytes_per_s -
                                      state->clusters[from].egress))
            return false;
    }
    return sim_state_fits(all, cluster_of(state, cluster)->ingress_bytes_per_s - here->ingress);
}

/* --- open tasks of a workflow --- */

static void list_open(struct workflow_state *workflow, uint32_t task)
{
    size_t at = workflow->n_open++;
    for (; at > 0 && workflow->open[at - 1] > task; at--)
        workflow->open[at] = workflow->open[at - 1];
    workflow->open[at] = task;
}

static void unlist_open(struct workflow_state *workflow, uint32_t task)
{
    size_t at = 0;
    while (workflow->open[at] != task)
        at++;
    workflow->n_open--;
    memmove(workflow->open + at, workflow->open + at + 1,
            (workflow->n_open - at) * sizeof *workflow->open);
}

static size_t
mark_inputs(struct sim_state *state, const struct geosim_task *task, size_t first, bool mark)
{
    size_t n = 0;
    for (size_t i = 0; i < task->n_sources + task->n_feeding; i++) {
        size_t from = i < task->n_sources
                          ? task->sources[i]
                          : state->tasks[first + task->parents[i - task->n_sources]].where;
        n += state->marked[from] != mark;
        state->marked[from] = mark;
    }
    return n;
}

/* Where its raw input lies, and what its parents left. */
static bool find_inputs(struct sim_state *state, uint32_t task)
{
    struct task_state *entry = &state->tasks[task];
    const struct geosim_task *is = sim_state_task(state, task);
    size_t first = state->workflows[entry->workflow].first;
    size_t n = mark_inputs(state, is, first, true);
    entry->inputs = arena_array(state->arena, n, sizeof *entry->inputs);
    if (entry->inputs != NULL)
        for (size_t m = 0; entry->n_inputs < n; m++)
            if (state->marked[m])
                entry->inputs[entry->n_inputs++] = m;
    (void)mark_inputs(state, is, first, false);
    return entry->inputs != NULL;
}

static bool open_task(struct sim_state *state, uint32_t task)
{
    struct task_state *entry = &state->tasks[task];
    if (!find_inputs(state, task))
        return false;
    entry->phase = TASK_OPEN;
    entry->ready_s = state->clock.now_s;
    state->ready++;
    list_open(&state->workflows[entry->workflow], task);
    return true;
}

/* --- workflows --- */

/* Children of each task, and how many parents each waits for. */
static bool link_tasks(struct sim_state *state, size_t index)
{
    const struct geosim_workflow *is = &state->workload->workflows[index];
    struct workflow_state *workflow = &state->workflows[index];
    uint32_t *from = arena_calloc(state->arena, is->n_tasks + 2, sizeof *from);
    size_t edges = 0;
    if (from == NULL)
        return false;
    for (size_t t = 0; t < is->n_tasks; t++) {
        edges += is->tasks[t].n_parents;
        for (size_t i = 0; i < is->tasks[t].n_parents; i++)
            from[is->tasks[t].parents[i] + 2]++;
    }
    workflow->child_from = from;
    workflow->children = arena_array(state->arena, edges, sizeof *workflow->children);
    if (workflow->children == NULL)
        return false;
    for (size_t t = 2; t <= is->n_tasks; t++)
        from[t] += from[t - 1];
    for (size_t t = 0; t < is->n_tasks; t++)
        for (size_t i = 0; i < is->tasks[t].n_parents; i++)
            workflow->children[from[is->tasks[t].parents[i] + 1]++] = (uint32_t)t;
    return true;
}

static bool make_levels(struct sim_state *state, size_t index)
{
    const struct geosim_workflow *is = &state->workload->workflows[index];
    struct workflow_state *workflow = &state->workflows[index];
    double *durations = arena_array(state->arena, is->n_tasks, sizeof *durations);
    for (size_t t = 0; t < is->n_tasks; t++) {
        struct task_state *task = &state->tasks[workflow->first + t];
        for (size_t i = 0; i < is->tasks[t].n_parents; i++) {
            uint32_t parent = state->tasks[workflow->first + is->tasks[t].parents[i]].level;
            task->level = parent + 1 > task->level ? parent + 1 : task->level;
        }
        workflow->n_levels =
            task->level + 1U > workflow->n_levels ? task->level + 1U : workflow->n_levels;
    }
    workflow->levels = arena_calloc(state->arena, workflow->n_levels, sizeof *workflow->levels);
    if (durations == NULL || workflow->levels == NULL)
        return false;
    for (size_t t = 0; t < is->n_tasks; t++)
        workflow->levels[state->tasks[workflow->first + t].level].tasks++;
    for (size_t k = 0; k < workflow->n_levels; k++) {
        workflow->levels[k].durations = durations;
        durations += workflow->levels[k].tasks;
    }
    return true;
}

bool sim_state_arrive(struct sim_state *state, size_t index)
{
    const struct geosim_workflow *is = &state->workload->workflows[index];
    struct workflow_state *workflow = &state->workflows[index];
    bool ok = link_tasks(state, index);
    workflow->left = is->n_tasks;
    workflow->open = arena_array(state->arena, is->n_tasks, sizeof *workflow->open);
    ok = ok && workflow->open != NULL;
    for (size_t t = 0; ok && t < is->n_tasks; t++)
        state->tasks[workflow->first + t] =
            (struct task_state){.workflow = (uint32_t)index,
                                .pending = (uint32_t)is->tasks[t].n_parents,
                                .copies = SIM_STATE_NONE,
                                .visits = SIM_STATE_NONE};
    ok = ok && make_levels(state, index);
    state->alive[state->n_alive++] = (uint32_t)index;
    for (size_t t = 0; ok && t < is->n_tasks; t++)
        if (is->tasks[t].n_parents == 0)
            ok = open_task(state, (uint32_t)(workflow->first + t));
    return ok;
}

static void sim_state_leave(struct sim_state *state, uint32_t workflow)
{
    size_t at = 0;
    while (state->alive[at] != workflow)
        at++;
    state->n_alive--;
    memmove(state->alive + at, state->alive + at + 1, (state->n_alive - at) * sizeof *state->alive);
}

bool sim_state_init(struct sim_state *state)
{
    size_t tasks = 0;
    size_t n = state->workload->n_workflows;
    size_t clusters = state->world->n_clusters;
    state->workflows = arena_calloc(state->arena, n, sizeof *state->workflows);
    state->alive = arena_array(state->arena, n, sizeof *state->alive);
    state->clusters = arena_calloc(state->arena, clusters, sizeof *state->clusters);
    state->marked = arena_calloc(state->arena, clusters, sizeof *state->marked);
    if (!state->workflows || !state->alive || !state->clusters || !state->marked)
        return false;
    for (size_t w = 0; w < n; w++) {
        state->workflows[w].first = tasks;
        tasks += state->workload->workflows[w].n_tasks;
    }
    for (size_t m = 0; m < clusters; m++)
        state->clusters[m].copies = SIM_STATE_NONE;
    state->free = SIM_STATE_NONE;
    state->tasks = arena_array(state->arena, tasks, sizeof *state->tasks);
    return state->tasks != NULL && n < SIM_STATE_NONE && clusters < SIM_STATE_NONE &&
           tasks < SIM_STATE_NONE && event_queue_init(&state->completions, state->arena);
}

/* --- copies --- */

/* SIM_STATE_NONE: out of memory. */
static uint32_t take_copy(struct sim_state *state)
{
    uint32_t copy = state->free;
    if (copy != SIM_STATE_NONE) {
        state->free = state->copies.items[copy].sibling;
        return copy;
    }
    if (state->copies.n >= SIM_STATE_NONE - 1 || vector_add(state->arena, &state->copies) == NULL)
        return SIM_STATE_NONE;
    return (uint32_t)(state->copies.n - 1);
}

/* How many copies of the task the cluster has had before; false: out of memory. */
static bool
count_visit(struct sim_state *state, struct task_state *task, size_t cluster, uint64_t *before)
{
    uint32_t at = task->visits;
    while (at != SIM_STATE_NONE && state->visits.items[at].cluster != cluster)
        at = state->visits.items[at].next;
    *before = at != SIM_STATE_NONE ? state->visits.items[at].times++ : 0;
    if (at != SIM_STATE_NONE)
        return true;
    struct visit *visit =
        state->visits.n < SIM_STATE_NONE - 1 ? vector_add(state->arena, &state->visits) : NULL;
    if (visit == NULL)
        return false;
    *visit = (struct visit){(uint32_t)cluster, 1, task->visits};
    task->visits = (uint32_t)(state->visits.n - 1);
    return true;
}

/* Bytes per second that the copy comes to. */
static double
draw_pace(const struct sim_state *state, uint32_t task, size_t cluster, uint64_t visit)
{
    const struct task_state *entry = &state->tasks[task];
    const struct geosim_task *is = sim_state_task(state, task);
    const struct draw_key of = {entry->workflow, task - state->workflows[entry->workflow].first,
                                cluster, visit};
    double power = draw_power(state->seed, &of, &cluster_of(state, cluster)->power);
    double processing = is->input_bytes / is->work_s * power;
    double transfer = 0;
    size_t remote = 0;
    for (size_t i = 0; i < entry->n_inputs; i++) {
        size_t from = entry->inputs[i];
        if (from == cluster)
            continue;
        remote++;
        transfer += draw_transfer(state->seed, &of, from,
                                  &state->world->wan[from * state->world->n_clusters + cluster]);
    }
    transfer /= remote > 0 ? (double)remote : 1;
    return remote > 0 && transfer < processing ? transfer : processing;
}

static void link_copy(struct sim_state *state, uint32_t place)
{
    struct copy_state *copy = &state->copies.items[place];
    struct cluster_state *here = &state->clusters[copy->cluster];
    uint32_t *end = &state->tasks[copy->task].copies;
    while (*end != SIM_STATE_NONE)
        end = &state->copies.items[*end].sibling;
    *end = place;
    if (here->copies != SIM_STATE_NONE)
        state->copies.items[here->copies].before = place;
    copy->after = here->copies;
    here->copies = place;
}

static void unlink_copy(struct sim_state *state, uint32_t place)
{
    struct copy_state *copy = &state->copies.items[place];
    uint32_t *at = &state->tasks[copy->task].copies;
    while (*at != place)
        at = &state->copies.items[*at].sibling;
    *at = copy->sibling;
    if (copy->before != SIM_STATE_NONE)
        state->copies.items[copy->before].after = copy->after;
    else
        state->clusters[copy->cluster].copies = copy->after;
    if (copy->after != SIM_STATE_NONE)
        state->copies.items[copy->after].before = copy->before;
}

bool sim_state_start_copy(struct sim_state *state, uint32_t task, size_t cluster, double expected)
{
    struct task_state *entry = &state->tasks[task];
    uint64_t visit;
    uint32_t place = take_copy(state);
    if (place == SIM_STATE_NONE || !count_visit(state, entry, cluster, &visit))
        return false;
    struct copy_state *copy = &state->copies.items[place];
    double pace = draw_pace(state, task, cluster, visit);
    *copy = (struct copy_state){.task = task,
                                .cluster = (uint32_t)cluster,
                                .sibling = SIM_STATE_NONE,
                                .before = SIM_STATE_NONE,
                                .began_s = state->clock.now_s,
                                .ends_s = state->clock.now_s +
                                          sim_state_task(state, task)->input_bytes / pace,
                                .pace = pace,
                                .expected = expected};
    /* Copies that end at the same instant complete by rising place. */
    copy->completion = event_queue_schedule(
        &state->completions, &(struct event){.at = copy->ends_s, .kind = place, .about = place});
    if (copy->completion == 0)
        return false;
    link_copy(state, place);
    move_gates(state, task, cluster, expected, 1);
    state->clusters[cluster].busy++;
    state->workflows[entry->workflow].running++;
    state->running++;
    state->ready -= entry->n_copies == 0;
    state->counts.extra += entry->n_copies > 0;
    state->counts.copies++;
    entry->n_copies++;
    return true;
}

/* Frees what the copy holds; its slot was taken until now. */
static void end_copy(struct sim_state *state, uint32_t place)
{
    struct copy_state *copy = &state->copies.items[place];
    struct task_state *task = &state->tasks[copy->task];
    unlink_copy(state, place);
    move_gates(state, copy->task, copy->cluster, copy->expected, -1);
    state->clusters[copy->cluster].busy_s += state->clock.now_s - copy->began_s;
    state->clusters[copy->cluster].busy--;
    state->workflows[task->workflow].running--;
    state->running--;
    task->n_copies--;
    (void)event_queue_cancel(&state->completions, copy->completion);
    copy->sibling = state->free;
    state->free = place;
}

/* The task has lost a copy: without any left it is ready again. */
static void fall_back(struct sim_state *state, uint32_t task)
{
    struct task_state *entry = &state->tasks[task];
    if (entry->n_copies > 0)
        return;
    entry->ready_s = state->clock.now_s;
    state->ready++;
    state->counts.reruns++;
}

bool sim_state_next_completion(const struct sim_state *state, double *ends_s, uint32_t *copy)
{
    const struct event *next = event_queue_next(&state->completions);
    if (next == NULL)
        return false;
    *ends_s = next->at;
    *copy = (uint32_t)next->about;
    return true;
}

static void note_duration(struct workflow_state *workflow, size_t level, double duration)
{
    struct level_state *of = &workflow->levels[level];
    size_t at = of->done++;
    for (; at > 0 && of->durations[at - 1] > duration; at--)
        of->durations[at] = of->durations[at - 1];
    of->durations[at] = duration;
    while (workflow->level + 1 < workflow->n_levels &&
           workflow->levels[workflow->level].done == workflow->levels[workflow->level].tasks)
        workflow->level++;
}

static bool open_children(struct sim_state *state, uint32_t task)
{
    const struct workflow_state *workflow = &state->workflows[state->tasks[task].workflow];
    size_t t = task - workflow->first;
    bool ok = true;
    for (uint32_t i = workflow->child_from[t]; ok && i < workflow->child_from[t + 1]; i++) {
        size_t child = workflow->first + workflow->children[i];
        if (--state->tasks[child].pending == 0)
            ok = open_task(state, (uint32_t)child);
    }
    return ok;
}

bool sim_state_complete(struct sim_state *state, uint32_t place, bool *last)
{
    const struct copy_state won = state->copies.items[place];
    struct task_state *task = &state->tasks[won.task];
    struct workflow_state *workflow = &state->workflows[task->workflow];
    double duration = won.ends_s - won.began_s;
    end_copy(state, place);
    state->useful_s += duration;
    while (task->copies != SIM_STATE_NONE) {
        end_copy(state, task->copies);
        state->counts.losers++;
    }
    task->phase = TASK_DONE;
    task->where = won.cluster;
    unlist_open(workflow, won.task);
    note_duration(workflow, task->level, duration);
    *last = --workflow->left == 0;
    if (!*last)
        return open_children(state, won.task);
    sim_state_leave(state, task->workflow);
    state->counts.finished++;
    return true;
}

/* --- outages and stops --- */

void sim_state_begin_outage(struct sim_state *state, size_t cluster)
{
    struct cluster_state *here = &state->clusters[cluster];
    here->down = true;
    here->outages++;
    state->counts.outages++;
    while (here->copies != SIM_STATE_NONE) {
        uint32_t task = state->copies.items[here->copies].task;
        end_copy(state, here->copies);
        state->counts.lost++;
        fall_back(state, task);
    }
}

void sim_state_end_outage(struct sim_state *state, size_t cluster)
{
    state->clusters[cluster].down = false;
}

void sim_state_preempt_copy(struct sim_state *state, uint32_t task, size_t cluster)
{
    uint32_t at = state->tasks[task].copies;
    while (at != SIM_STATE_NONE && state->copies.items[at].cluster != cluster)
        at = state->copies.items[at].sibling;
    if (at == SIM_STATE_NONE)
        return;
    end_copy(state, at);
    state->counts.stopped++;
    fall_back(state, task);
}
