/* Copies by rules that compare what runs with what has ended: LATE and eSplash. */
#include <math.h>

#include "core/scheduling/speculation/late.h"
#include "core/stragglers/copy_replay_internal.h"

/* YARN looks for slow tasks once a second (mapreduce.job.speculative.retry-after-no-speculate). */
static const double EPOCH_S = 1;

/* The replay as the rules see a cluster, of one type of tasks. */
struct view {
    struct speculation_node *nodes;
    struct speculation_finished *finished;
    struct speculation_task *tasks;
    size_t *task_of; /* which task stands at each place of `tasks` */
};

static bool view_allocate(const struct replay *replay, struct arena *scratch, struct view *view)
{
    size_t nodes = replay->stage->n_nodes;
    size_t tasks = replay->n_running;
    view->nodes = arena_calloc(scratch, nodes, sizeof *view->nodes);
    view->finished = arena_calloc(scratch, nodes, sizeof *view->finished);
    view->tasks = arena_array(scratch, tasks, sizeof *view->tasks);
    view->task_of = arena_array(scratch, tasks, sizeof *view->task_of);
    return view->nodes != NULL && view->finished != NULL && view->tasks != NULL &&
           view->task_of != NULL;
}

static struct speculation_task view_task(const struct replay *replay, size_t task)
{
    const struct replay_task *state = &replay->tasks[task];
    double elapsed = replay->now_s - state->began_s;
    double takes = replay->stage->duration_s[task];
    return (struct speculation_task){
        .elapsed_s = elapsed,
        .progress = takes > 0 ? fmin(elapsed / takes, 1) : 1,
        .progress_rate_per_s = elapsed >= EPOCH_S ? 1 / takes : (double)NAN,
        .copy = isnan(state->copy_began_s) ? SPECULATION_NO_COPY : SPECULATION_COPY_RUNS};
}

/* Running tasks, node by node. */
static void view_running(const struct replay *replay, struct view *view)
{
    size_t at = 0;
    for (size_t i = 0; i < replay->n_running; i++)
        view->nodes[replay->stage->node[replay->running[i]]].n_running++;
    for (size_t k = 0; k < replay->stage->n_nodes; k++) {
        view->nodes[k].running = view->tasks + at;
        at += view->nodes[k].n_running;
        view->nodes[k].n_running = 0;
    }
    for (size_t i = 0; i < replay->n_running; i++) {
        size_t task = replay->running[i];
        struct speculation_node *node = &view->nodes[replay->stage->node[task]];
        size_t place = (size_t)(node->running - view->tasks) + node->n_running++;
        view->tasks[place] = view_task(replay, task);
        view->task_of[place] = task;
    }
}

static void view_nodes(const struct replay *replay, struct view *view)
{
    for (size_t k = 0; k < replay->stage->n_nodes; k++) {
        const struct replay_node *from = &replay->nodes[k];
        struct speculation_node *to = &view->nodes[k];
        to->containers = replay->stage->slots[k];
        to->free_containers = from->idle;
        to->finished = &view->finished[k];
        to->n_finished = from->finished > 0 && from->mean_s > 0;
        view->finished[k] = (struct speculation_finished){
            .tasks = from->finished,
            .mean_s = from->mean_s,
            .deviation_s = from->finished > 0 ? sqrt(from->squares / (double)from->finished) : 0};
    }
}

/* The place of the task that is to have a copy, and its host where the rule names one. */
static enum pv_code choose(const struct replay *replay,
                           enum copy_rule rule,
                           const struct speculation_cluster *cluster,
                           struct arena *scratch,
                           struct speculation_place *place,
                           size_t *host,
                           struct pv_error *err)
{
    struct late_decision late;
    struct esplash_decision esplash;
    *place = (struct speculation_place){SPECULATION_NONE, SPECULATION_NONE};
    *host = SPECULATION_NONE;
    if (rule == COPY_LATE) {
        PV_TRY(late_decide(cluster, scratch, &late, err));
        if (late.action != SPECULATION_NONE)
            *place = late.candidates[late.action].place;
        return PV_OK;
    }
    PV_TRY(esplash_decide(cluster, replay->terms->levels, &replay->terms->esplash, scratch,
                          &esplash, err));
    if (esplash.action.candidate != SPECULATION_NONE && esplash.action.host != SPECULATION_NONE) {
        *place = esplash.candidates[esplash.action.candidate].place;
        *host = esplash.action.host;
    }
    return PV_OK;
}

/* One copy, where the rule wants one and a slot for it is idle. */
static enum pv_code decide_once(struct replay *replay,
                                enum copy_rule rule,
                                struct arena *scratch,
                                bool *copied,
                                struct pv_error *err)
{
    struct view view;
    struct speculation_place place;
    size_t host;
    *copied = false;
    replay->outcome.looks += (double)replay->stage->n_nodes + (double)replay->n_running;
    if (!view_allocate(replay, scratch, &view))
        return pv_no_memory(err);
    view_running(replay, &view);
    view_nodes(replay, &view);
    const struct speculation_cluster cluster = {view.nodes, replay->stage->n_nodes, 1};
    PV_TRY(choose(replay, rule, &cluster, scratch, &place, &host, err));
    if (place.node == SPECULATION_NONE)
        return PV_OK;
    size_t task = view.task_of[(size_t)(view.nodes[place.node].running - view.tasks) + place.task];
    if (rule == COPY_LATE)
        host = replay_find_host(replay, task);
    *copied = host != SPECULATION_NONE;
    if (*copied)
        replay_start_copy(replay, task, host);
    return PV_OK;
}

enum pv_code replay_decide(struct replay *replay,
                           enum copy_rule rule,
                           struct arena *scratch,
                           struct pv_error *err)
{
    bool copied = replay->now_s >= replay->decided_s + EPOCH_S;
    if (copied)
        replay->decided_s = replay->now_s;
    while (copied && replay->idle > 0 && replay->n_running > 0) {
        struct arena_mark mark = arena_mark(scratch);
        PV_TRY(decide_once(replay, rule, scratch, &copied, err));
        arena_rewind(scratch, mark);
    }
    return PV_OK;
}
