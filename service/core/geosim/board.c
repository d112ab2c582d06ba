#include "core/geosim/board.h"

#include <string.h>

#include "core/geosim/luck.h"

/* Gates are full to within this share, as those of a plan are. */
#define TIE 1e-12

const struct geosim_task *board_task(const struct board *board, uint32_t task)
{
    const struct board_task *state = &board->tasks[task];
    size_t first = board->workflows[state->workflow].first;
    return &board->workload->workflows[state->workflow].tasks[task - first];
}

static const struct geosim_cluster *cluster_of(const struct board *board, size_t cluster)
{
    return &board->world->clusters[cluster];
}

/* --- gates --- */

/* Adds (sign 1) or takes back (-1) what a copy takes of the gates. One that nobody uses any more is
 * empty, whatever rounding has left. */
static void
move_gates(struct board *board, uint32_t task, size_t cluster, double expected, double sign)
{
    const struct board_task *state = &board->tasks[task];
    struct board_cluster *here = &board->clusters[cluster];
    for (size_t i = 0; i < state->n_inputs; i++) {
        struct board_cluster *there = &board->clusters[state->inputs[i]];
        double each = sign * expected / (double)state->n_inputs;
        if (there == here)
            continue;
        here->inflows += sign > 0 ? 1 : (size_t)-1;
        there->outflows += sign > 0 ? 1 : (size_t)-1;
        here->ingress = here->inflows > 0 ? here->ingress + each : 0;
        there->egress = there->outflows > 0 ? there->egress + each : 0;
    }
}

static bool fits(double need, double left)
{
    double size = need > left ? need : left;
    return need <= left + TIE * size;
}

bool board_has_room(const struct board *board, uint32_t task, size_t cluster, double expected)
{
    const struct board_task *state = &board->tasks[task];
    const struct board_cluster *here = &board->clusters[cluster];
    double each = expected / (double)(state->n_inputs > 0 ? state->n_inputs : 1);
    double all = 0;
    if (here->down || here->busy >= cluster_of(board, cluster)->slots)
        return false;
    for (size_t i = 0; i < state->n_inputs; i++) {
        size_t from = state->inputs[i];
        if (from == cluster)
            continue;
        all += each;
        if (!fits(each, cluster_of(board, from)->egress_bytes_per_s - board->clusters[from].egress))
            return false;
    }
    return fits(all, cluster_of(board, cluster)->ingress_bytes_per_s - here->ingress);
}

/* --- open tasks of a workflow --- */

static void list_open(struct board_workflow *workflow, uint32_t task)
{
    size_t at = workflow->n_open++;
    for (; at > 0 && workflow->open[at - 1] > task; at--)
        workflow->open[at] = workflow->open[at - 1];
    workflow->open[at] = task;
}

static void unlist_open(struct board_workflow *workflow, uint32_t task)
{
    size_t at = 0;
    while (workflow->open[at] != task)
        at++;
    workflow->n_open--;
    memmove(workflow->open + at, workflow->open + at + 1,
            (workflow->n_open - at) * sizeof *workflow->open);
}

static size_t
mark_inputs(struct board *board, const struct geosim_task *task, size_t first, bool mark)
{
    size_t n = 0;
    for (size_t i = 0; i < task->n_sources + task->n_feeding; i++) {
        size_t from = i < task->n_sources
                          ? task->sources[i]
                          : board->tasks[first + task->parents[i - task->n_sources]].where;
        n += board->marked[from] != mark;
        board->marked[from] = mark;
    }
    return n;
}

/* Where its raw input lies, and what its parents left. */
static bool find_inputs(struct board *board, uint32_t task)
{
    struct board_task *state = &board->tasks[task];
    const struct geosim_task *is = board_task(board, task);
    size_t first = board->workflows[state->workflow].first;
    size_t n = mark_inputs(board, is, first, true);
    state->inputs = arena_array(board->arena, n, sizeof *state->inputs);
    if (state->inputs != NULL)
        for (size_t m = 0; state->n_inputs < n; m++)
            if (board->marked[m])
                state->inputs[state->n_inputs++] = m;
    (void)mark_inputs(board, is, first, false);
    return state->inputs != NULL;
}

static bool open_task(struct board *board, uint32_t task)
{
    struct board_task *state = &board->tasks[task];
    if (!find_inputs(board, task))
        return false;
    state->stage = BOARD_OPEN;
    state->ready_s = board->now_s;
    board->ready++;
    list_open(&board->workflows[state->workflow], task);
    return true;
}

/* --- workflows --- */

/* Children of each task, and how many parents each waits for. */
static bool link_tasks(struct board *board, size_t index)
{
    const struct geosim_workflow *is = &board->workload->workflows[index];
    struct board_workflow *workflow = &board->workflows[index];
    uint32_t *from = arena_calloc(board->arena, is->n_tasks + 2, sizeof *from);
    size_t edges = 0;
    if (from == NULL)
        return false;
    for (size_t t = 0; t < is->n_tasks; t++) {
        edges += is->tasks[t].n_parents;
        for (size_t i = 0; i < is->tasks[t].n_parents; i++)
            from[is->tasks[t].parents[i] + 2]++;
    }
    workflow->child_from = from;
    workflow->children = arena_array(board->arena, edges, sizeof *workflow->children);
    if (workflow->children == NULL)
        return false;
    for (size_t t = 2; t <= is->n_tasks; t++)
        from[t] += from[t - 1];
    for (size_t t = 0; t < is->n_tasks; t++)
        for (size_t i = 0; i < is->tasks[t].n_parents; i++)
            workflow->children[from[is->tasks[t].parents[i] + 1]++] = (uint32_t)t;
    return true;
}

static bool make_levels(struct board *board, size_t index)
{
    const struct geosim_workflow *is = &board->workload->workflows[index];
    struct board_workflow *workflow = &board->workflows[index];
    double *durations = arena_array(board->arena, is->n_tasks, sizeof *durations);
    for (size_t t = 0; t < is->n_tasks; t++) {
        struct board_task *task = &board->tasks[workflow->first + t];
        for (size_t i = 0; i < is->tasks[t].n_parents; i++) {
            uint32_t parent = board->tasks[workflow->first + is->tasks[t].parents[i]].level;
            task->level = parent + 1 > task->level ? parent + 1 : task->level;
        }
        workflow->n_levels =
            task->level + 1U > workflow->n_levels ? task->level + 1U : workflow->n_levels;
    }
    workflow->levels = arena_calloc(board->arena, workflow->n_levels, sizeof *workflow->levels);
    if (durations == NULL || workflow->levels == NULL)
        return false;
    for (size_t t = 0; t < is->n_tasks; t++)
        workflow->levels[board->tasks[workflow->first + t].level].tasks++;
    for (size_t k = 0; k < workflow->n_levels; k++) {
        workflow->levels[k].durations = durations;
        durations += workflow->levels[k].tasks;
    }
    return true;
}

bool board_arrive(struct board *board, size_t index)
{
    const struct geosim_workflow *is = &board->workload->workflows[index];
    struct board_workflow *workflow = &board->workflows[index];
    bool ok = link_tasks(board, index);
    workflow->left = is->n_tasks;
    workflow->open = arena_array(board->arena, is->n_tasks, sizeof *workflow->open);
    ok = ok && workflow->open != NULL;
    for (size_t t = 0; ok && t < is->n_tasks; t++)
        board->tasks[workflow->first + t] =
            (struct board_task){.workflow = (uint32_t)index,
                                .pending = (uint32_t)is->tasks[t].n_parents,
                                .copies = BOARD_NONE,
                                .turns = BOARD_NONE};
    ok = ok && make_levels(board, index);
    board->alive[board->n_alive++] = (uint32_t)index;
    for (size_t t = 0; ok && t < is->n_tasks; t++)
        if (is->tasks[t].n_parents == 0)
            ok = open_task(board, (uint32_t)(workflow->first + t));
    return ok;
}

static void leave(struct board *board, uint32_t workflow)
{
    size_t at = 0;
    while (board->alive[at] != workflow)
        at++;
    board->n_alive--;
    memmove(board->alive + at, board->alive + at + 1, (board->n_alive - at) * sizeof *board->alive);
}

bool board_open(struct board *board)
{
    size_t tasks = 0;
    size_t n = board->workload->n_workflows;
    size_t clusters = board->world->n_clusters;
    board->workflows = arena_calloc(board->arena, n, sizeof *board->workflows);
    board->alive = arena_array(board->arena, n, sizeof *board->alive);
    board->clusters = arena_calloc(board->arena, clusters, sizeof *board->clusters);
    board->marked = arena_calloc(board->arena, clusters, sizeof *board->marked);
    if (!board->workflows || !board->alive || !board->clusters || !board->marked)
        return false;
    for (size_t w = 0; w < n; w++) {
        board->workflows[w].first = tasks;
        tasks += board->workload->workflows[w].n_tasks;
    }
    for (size_t m = 0; m < clusters; m++)
        board->clusters[m].copies = BOARD_NONE;
    board->free = BOARD_NONE;
    board->tasks = arena_array(board->arena, tasks, sizeof *board->tasks);
    return board->tasks != NULL && n < BOARD_NONE && clusters < BOARD_NONE && tasks < BOARD_NONE &&
           heap_init(&board->ends, board->arena, 1024);
}

/* --- copies --- */

static uint64_t ticket_of(const struct board *board, uint32_t copy)
{
    return (uint64_t)copy << 32 | board->copies[copy].serial;
}

/* Does what a ticket was written for still run? */
static bool is_valid(const struct board *board, uint64_t ticket)
{
    return board->copies[ticket >> 32].serial == (uint32_t)ticket;
}

/* Drops what is void; where that does not help, there is twice the room. */
static bool make_room_for_end(struct board *board)
{
    struct heap *ends = &board->ends;
    struct heap kept;
    size_t valid = 0;
    if (ends->n < ends->capacity)
        return true;
    for (size_t i = 0; i < ends->n; i++)
        valid += is_valid(board, ends->items[i].value);
    if (!heap_init(&kept, board->arena,
                   2 * valid > ends->capacity ? 2 * ends->capacity : ends->capacity))
        return false;
    for (size_t i = 0; i < ends->n; i++)
        if (is_valid(board, ends->items[i].value))
            heap_push(&kept, ends->items[i].key, ends->items[i].value);
    *ends = kept;
    return true;
}

static uint32_t take_place(struct board *board)
{
    uint32_t place = board->free;
    if (place != BOARD_NONE) {
        board->free = board->copies[place].sibling;
        return place;
    }
    if (board->n_copies == board->copies_room) {
        size_t room = board->copies_room > 0 ? 2 * board->copies_room : 256;
        struct board_copy *grown = arena_calloc(board->arena, room, sizeof *grown);
        if (grown == NULL || room >= BOARD_NONE)
            return BOARD_NONE;
        if (board->n_copies > 0)
            memcpy(grown, board->copies, board->n_copies * sizeof *grown);
        board->copies = grown;
        board->copies_room = room;
    }
    return (uint32_t)board->n_copies++;
}

/* How often the task has been in the cluster before; false: memory. */
static bool count_turn(struct board *board, struct board_task *task, size_t cluster, uint64_t *turn)
{
    uint32_t at = task->turns;
    while (at != BOARD_NONE && board->turns[at].cluster != cluster)
        at = board->turns[at].next;
    *turn = at != BOARD_NONE ? board->turns[at].times++ : 0;
    if (at != BOARD_NONE)
        return true;
    if (board->n_turns == board->turns_room) {
        size_t room = board->turns_room > 0 ? 2 * board->turns_room : 1024;
        struct board_turn *grown = arena_array(board->arena, room, sizeof *grown);
        if (grown == NULL || room >= BOARD_NONE)
            return false;
        if (board->n_turns > 0)
            memcpy(grown, board->turns, board->n_turns * sizeof *grown);
        board->turns = grown;
        board->turns_room = room;
    }
    board->turns[board->n_turns] = (struct board_turn){(uint32_t)cluster, 1, task->turns};
    task->turns = (uint32_t)board->n_turns++;
    return true;
}

/* Bytes per second that the copy comes to. */
static double draw_pace(const struct board *board, uint32_t task, size_t cluster, uint64_t turn)
{
    const struct board_task *state = &board->tasks[task];
    const struct geosim_task *is = board_task(board, task);
    const struct luck_of_copy of = {state->workflow, task - board->workflows[state->workflow].first,
                                    cluster, turn};
    double power = luck_power(board->seed, &of, &cluster_of(board, cluster)->power);
    double processing = is->input_bytes / is->work_s * power;
    double transfer = 0;
    size_t remote = 0;
    for (size_t i = 0; i < state->n_inputs; i++) {
        size_t from = state->inputs[i];
        if (from == cluster)
            continue;
        remote++;
        transfer += luck_transfer(board->seed, &of, from,
                                  &board->world->wan[from * board->world->n_clusters + cluster]);
    }
    transfer /= remote > 0 ? (double)remote : 1;
    return remote > 0 && transfer < processing ? transfer : processing;
}

static void link_copy(struct board *board, uint32_t place)
{
    struct board_copy *copy = &board->copies[place];
    struct board_cluster *here = &board->clusters[copy->cluster];
    uint32_t *end = &board->tasks[copy->task].copies;
    while (*end != BOARD_NONE)
        end = &board->copies[*end].sibling;
    *end = place;
    if (here->copies != BOARD_NONE)
        board->copies[here->copies].before = place;
    copy->after = here->copies;
    here->copies = place;
}

static void unlink_copy(struct board *board, uint32_t place)
{
    struct board_copy *copy = &board->copies[place];
    uint32_t *at = &board->tasks[copy->task].copies;
    while (*at != place)
        at = &board->copies[*at].sibling;
    *at = copy->sibling;
    if (copy->before != BOARD_NONE)
        board->copies[copy->before].after = copy->after;
    else
        board->clusters[copy->cluster].copies = copy->after;
    if (copy->after != BOARD_NONE)
        board->copies[copy->after].before = copy->before;
}

bool board_start(struct board *board, uint32_t task, size_t cluster, double expected)
{
    struct board_task *state = &board->tasks[task];
    uint64_t turn;
    uint32_t place = take_place(board);
    if (place == BOARD_NONE || !count_turn(board, state, cluster, &turn) ||
        !make_room_for_end(board))
        return false;
    struct board_copy *copy = &board->copies[place];
    double pace = draw_pace(board, task, cluster, turn);
    *copy =
        (struct board_copy){.task = task,
                            .cluster = (uint32_t)cluster,
                            .sibling = BOARD_NONE,
                            .before = BOARD_NONE,
                            .serial = copy->serial + 1,
                            .began_s = board->now_s,
                            .ends_s = board->now_s + board_task(board, task)->input_bytes / pace,
                            .pace = pace,
                            .expected = expected};
    link_copy(board, place);
    move_gates(board, task, cluster, expected, 1);
    heap_push(&board->ends, copy->ends_s, ticket_of(board, place));
    board->clusters[cluster].busy++;
    board->workflows[state->workflow].running++;
    board->running++;
    board->ready -= state->n_copies == 0;
    board->counts.extra += state->n_copies > 0;
    board->counts.copies++;
    state->n_copies++;
    return true;
}

/* Frees what the copy holds; its slot was taken until now. */
static void end_copy(struct board *board, uint32_t place)
{
    struct board_copy *copy = &board->copies[place];
    struct board_task *task = &board->tasks[copy->task];
    unlink_copy(board, place);
    move_gates(board, copy->task, copy->cluster, copy->expected, -1);
    board->clusters[copy->cluster].busy_s += board->now_s - copy->began_s;
    board->clusters[copy->cluster].busy--;
    board->workflows[task->workflow].running--;
    board->running--;
    task->n_copies--;
    copy->serial++;
    copy->sibling = board->free;
    board->free = place;
}

/* The task has lost a copy: without any left it is ready again. */
static void fall_back(struct board *board, uint32_t task)
{
    struct board_task *state = &board->tasks[task];
    if (state->n_copies > 0)
        return;
    state->ready_s = board->now_s;
    board->ready++;
    board->counts.reruns++;
}

bool board_next_end(struct board *board, double *ends_s, uint32_t *copy)
{
    while (board->ends.n > 0) {
        struct heap_item top = heap_top(&board->ends);
        *ends_s = top.key;
        *copy = (uint32_t)(top.value >> 32);
        if (is_valid(board, top.value))
            return true;
        (void)heap_pop(&board->ends);
    }
    return false;
}

static void note_duration(struct board_workflow *workflow, size_t level, double duration)
{
    struct board_level *of = &workflow->levels[level];
    size_t at = of->done++;
    for (; at > 0 && of->durations[at - 1] > duration; at--)
        of->durations[at] = of->durations[at - 1];
    of->durations[at] = duration;
    while (workflow->level + 1 < workflow->n_levels &&
           workflow->levels[workflow->level].done == workflow->levels[workflow->level].tasks)
        workflow->level++;
}

static bool open_children(struct board *board, uint32_t task)
{
    const struct board_workflow *workflow = &board->workflows[board->tasks[task].workflow];
    size_t t = task - workflow->first;
    bool ok = true;
    for (uint32_t i = workflow->child_from[t]; ok && i < workflow->child_from[t + 1]; i++) {
        size_t child = workflow->first + workflow->children[i];
        if (--board->tasks[child].pending == 0)
            ok = open_task(board, (uint32_t)child);
    }
    return ok;
}

bool board_finish(struct board *board, uint32_t place, bool *last)
{
    const struct board_copy won = board->copies[place];
    struct board_task *task = &board->tasks[won.task];
    struct board_workflow *workflow = &board->workflows[task->workflow];
    double duration = won.ends_s - won.began_s;
    end_copy(board, place);
    board->useful_s += duration;
    while (task->copies != BOARD_NONE) {
        end_copy(board, task->copies);
        board->counts.losers++;
    }
    task->stage = BOARD_DONE;
    task->where = won.cluster;
    unlist_open(workflow, won.task);
    note_duration(workflow, task->level, duration);
    *last = --workflow->left == 0;
    if (!*last)
        return open_children(board, won.task);
    leave(board, task->workflow);
    board->counts.finished++;
    return true;
}

/* --- outages and stops --- */

void board_lose(struct board *board, size_t cluster)
{
    struct board_cluster *here = &board->clusters[cluster];
    here->down = true;
    here->outages++;
    board->counts.outages++;
    while (here->copies != BOARD_NONE) {
        uint32_t task = board->copies[here->copies].task;
        end_copy(board, here->copies);
        board->counts.lost++;
        fall_back(board, task);
    }
}

void board_regain(struct board *board, size_t cluster)
{
    board->clusters[cluster].down = false;
}

void board_stop(struct board *board, uint32_t task, size_t cluster)
{
    uint32_t at = board->tasks[task].copies;
    while (at != BOARD_NONE && board->copies[at].cluster != cluster)
        at = board->copies[at].sibling;
    if (at == BOARD_NONE)
        return;
    end_copy(board, at);
    board->counts.stopped++;
    fall_back(board, task);
}
