#include "core/stragglers/copy_replay.h"

#include <math.h>

#include "core/stragglers/copy_replay_internal.h"
#include "core/stragglers/slow_tasks.h"

/* --- attempts --- */

static void start_task(struct replay *replay, size_t task)
{
    struct replay_task *state = &replay->tasks[task];
    state->began_s = replay->now_s;
    state->at = replay->n_running;
    replay->running[replay->n_running++] = task;
    heap_push(&replay->ends, replay->now_s + replay->stage->duration_s[task], 2 * task);
}

static void stop_running(struct replay *replay, size_t task)
{
    size_t at = replay->tasks[task].at;
    size_t last = replay->running[--replay->n_running];
    replay->running[at] = last;
    replay->tasks[last].at = at;
    replay->tasks[task].at = SPECULATION_NONE;
}

/* A slot of a node has come free: its own tasks go first. */
static void free_slot(struct replay *replay, size_t node)
{
    struct replay_node *of = &replay->nodes[node];
    if (of->next < of->n_queue) {
        start_task(replay, of->queue[of->next++]);
        return;
    }
    of->idle++;
    replay->idle++;
}

size_t replay_find_host(const struct replay *replay, size_t task)
{
    size_t host = SPECULATION_NONE;
    for (size_t k = 0; k < replay->stage->n_nodes; k++) {
        size_t idle = replay->nodes[k].idle;
        if (k != replay->stage->node[task] && idle > 0 &&
            (host == SPECULATION_NONE || idle > replay->nodes[host].idle))
            host = k;
    }
    return host;
}

void replay_start_copy(struct replay *replay, size_t task, size_t host)
{
    struct replay_task *state = &replay->tasks[task];
    state->host = host;
    state->copy_began_s = replay->now_s;
    state->copy_takes_s = replay->stage->copy_s[task] * replay->stage->factors[host];
    replay->nodes[host].idle--;
    replay->idle--;
    replay->outcome.copies++;
    heap_push(&replay->ends, replay->now_s + state->copy_takes_s, 2 * task + 1);
}

/* --- the median of what is done --- */

static void note_duration(struct replay *replay, double duration_s)
{
    struct heap *lower = &replay->lower;
    struct heap *upper = &replay->upper;
    if (lower->n == 0 || duration_s <= -heap_top(lower).key)
        heap_push(lower, -duration_s, 0);
    else
        heap_push(upper, duration_s, 0);
    if (lower->n > upper->n + 1)
        heap_push(upper, -heap_pop(lower).key, 0);
    else if (upper->n > lower->n)
        heap_push(lower, -heap_pop(upper).key, 0);
}

static double median_done(const struct replay *replay)
{
    double low = -heap_top(&replay->lower).key;
    return replay->upper.n < replay->lower.n ? low : 0.5 * (low + heap_top(&replay->upper).key);
}

/* --- Spark's rule --- */

/* The task without a copy that has run longest, other than those for which no host is left. */
static size_t longest_running(struct replay *replay, double before_s)
{
    size_t longest = SPECULATION_NONE;
    replay->outcome.looks += (double)replay->n_running;
    for (size_t i = 0; i < replay->n_running; i++) {
        size_t task = replay->running[i];
        const struct replay_task *state = &replay->tasks[task];
        bool has_host = replay->idle > replay->nodes[replay->stage->node[task]].idle;
        if (!isnan(state->copy_began_s) || state->began_s > before_s || !has_host)
            continue;
        if (longest == SPECULATION_NONE || state->began_s < replay->tasks[longest].began_s ||
            (state->began_s == replay->tasks[longest].began_s && task < longest))
            longest = task;
    }
    return longest;
}

double replay_decide_spark(struct replay *replay)
{
    double needed = fmax(ceil(replay->terms->quantile * (double)replay->stage->n_tasks), 1);
    if ((double)replay->done < needed || replay->idle == 0)
        return (double)INFINITY;
    double threshold = fmax(replay->terms->multiplier * median_done(replay), SLOW_TASK_LEAST_S);
    for (;;) {
        size_t task = longest_running(replay, replay->now_s - threshold);
        if (task == SPECULATION_NONE)
            break;
        replay_start_copy(replay, task, replay_find_host(replay, task));
    }
    double next = (double)INFINITY;
    for (size_t i = 0; replay->idle > 0 && i < replay->n_running; i++) {
        const struct replay_task *state = &replay->tasks[replay->running[i]];
        /* A sum that rounds down to now would be decided on again and again. */
        if (isnan(state->copy_began_s) && state->began_s > replay->now_s - threshold)
            next = fmin(
                next, fmax(state->began_s + threshold, nextafter(replay->now_s, (double)INFINITY)));
    }
    return next;
}

/* --- the replay --- */

static void end_attempt(struct replay *replay, size_t task, bool copy)
{
    struct replay_task *state = &replay->tasks[task];
    bool both = !isnan(state->copy_began_s);
    double began = copy ? state->copy_began_s : state->began_s;
    size_t node = copy ? state->host : replay->stage->node[task];
    struct replay_node *of = &replay->nodes[node];
    double took = replay->now_s - began;
    double off = took - of->mean_s;
    state->done = true;
    replay->done++;
    of->mean_s += off / (double)++of->finished;
    of->squares += off * (took - of->mean_s);
    note_duration(replay, took);
    replay->outcome.useful += copy;
    if (both)
        replay->outcome.wasted_s += replay->now_s - (copy ? state->began_s : state->copy_began_s);
    stop_running(replay, task);
    free_slot(replay, replay->stage->node[task]);
    if (both)
        free_slot(replay, state->host);
}

/* The next attempt to end; those of tasks that are done are passed over. */
static struct heap_item next_end(struct replay *replay)
{
    while (replay->tasks[heap_top(&replay->ends).value / 2].done)
        (void)heap_pop(&replay->ends);
    return heap_top(&replay->ends);
}

static bool replay_gives_up(struct replay *replay)
{
    double most = replay->terms->looks_max;
    replay->outcome.given_up = most > 0 && replay->outcome.looks > most;
    return replay->outcome.given_up;
}

static enum pv_code
run_replay(struct replay *replay, enum copy_rule rule, struct arena *scratch, struct pv_error *err)
{
    while (replay->done < replay->stage->n_tasks && !replay_gives_up(replay)) {
        struct heap_item end = next_end(replay);
        double slow_s = rule == COPY_SPARK ? replay_decide_spark(replay) : (double)INFINITY;
        if (rule == COPY_SPARK)
            end = next_end(replay);
        if (slow_s < end.key) {
            replay->now_s = slow_s;
            continue;
        }
        (void)heap_pop(&replay->ends);
        replay->now_s = end.key;
        end_attempt(replay, end.value / 2, end.value % 2 == 1);
        if (rule == COPY_LATE || rule == COPY_ESPLASH)
            PV_TRY(replay_decide(replay, rule, scratch, err));
    }
    return PV_OK;
}

static bool fill_queues(struct replay *replay, struct arena *scratch)
{
    const struct copy_stage *stage = replay->stage;
    size_t *all = arena_array(scratch, stage->n_tasks, sizeof *all);
    if (all == NULL)
        return false;
    for (size_t i = 0; i < stage->n_tasks; i++)
        replay->nodes[stage->node[i]].n_queue++;
    size_t *at = all;
    for (size_t k = 0; k < stage->n_nodes; k++) {
        replay->nodes[k].queue = at;
        at += replay->nodes[k].n_queue;
        replay->nodes[k].n_queue = 0;
    }
    for (size_t i = 0; i < stage->n_tasks; i++) {
        struct replay_node *node = &replay->nodes[stage->node[i]];
        node->queue[node->n_queue++] = i;
    }
    return true;
}

/* The first tasks of a node; slots may be many more than there are. */
static void fill_node(struct replay *replay, size_t node)
{
    struct replay_node *of = &replay->nodes[node];
    size_t slots = replay->stage->slots[node];
    while (of->next < of->n_queue && of->next < slots)
        start_task(replay, of->queue[of->next++]);
    of->idle = slots - of->next;
    replay->idle += of->idle;
}

static bool begin_replay(struct replay *replay, struct arena *scratch)
{
    const struct copy_stage *stage = replay->stage;
    size_t n = stage->n_tasks;
    replay->tasks = arena_array(scratch, n, sizeof *replay->tasks);
    replay->nodes = arena_calloc(scratch, stage->n_nodes, sizeof *replay->nodes);
    replay->running = arena_array(scratch, n, sizeof *replay->running);
    if (replay->tasks == NULL || replay->nodes == NULL || replay->running == NULL ||
        !heap_init(&replay->ends, scratch, 2 * n) || !heap_init(&replay->lower, scratch, n + 1) ||
        !heap_init(&replay->upper, scratch, n + 1) || !fill_queues(replay, scratch))
        return false;
    for (size_t i = 0; i < n; i++)
        replay->tasks[i] = (struct replay_task){
            .copy_began_s = (double)NAN, .host = SPECULATION_NONE, .at = SPECULATION_NONE};
    for (size_t k = 0; k < stage->n_nodes; k++)
        fill_node(replay, k);
    return true;
}

enum pv_code copy_replay(const struct copy_stage *stage,
                         enum copy_rule rule,
                         const struct copy_terms *terms,
                         struct arena *scratch,
                         struct copy_outcome *outcome,
                         struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct replay replay = {.stage = stage, .terms = terms, .decided_s = -(double)INFINITY};
    if (!begin_replay(&replay, scratch))
        return pv_no_memory(err);
    PV_TRY(run_replay(&replay, rule, scratch, err));
    arena_rewind(scratch, mark);
    replay.outcome.makespan_s = replay.now_s;
    *outcome = replay.outcome;
    return PV_OK;
}
