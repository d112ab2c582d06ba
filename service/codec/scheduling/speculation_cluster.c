#include <stdlib.h>

#include "base/order.h"
#include "base/plural.h"
#include "codec/json/text_index.h"
#include "codec/scheduling/speculation_internal.h"

/* --- across nodes --- */

struct identified {
    struct strview id;
    size_t node;
    size_t task;
};

static int compare_identified(const void *a, const void *b)
{
    const struct identified *x = a;
    const struct identified *y = b;
    int order = compare_strview(x->id, y->id);
    if (order == 0)
        order = compare_size(x->node, y->node);
    return order != 0 ? order : compare_size(x->task, y->task);
}

static void refuse_id(const struct codec_node *nodes, const struct identified *second)
{
    struct codec_node node = codec_item(nodes, second->node);
    struct codec_node running = codec_member(&node, "running");
    struct codec_node task = codec_item(&running, second->task);
    codec_fault_member(&task, "id", "duplicate", "another task has this id");
}

/* A task's id is unique over all nodes. */
static void refuse_same_ids(const struct codec_node *nodes,
                            const struct codec_speculation *asked,
                            size_t n_running)
{
    struct identified *all = codec_allocate(nodes, n_running, sizeof *all);
    size_t n = 0;
    for (size_t i = 0; all != NULL && i < asked->n_nodes; i++) {
        for (size_t t = 0; t < asked->nodes[i].n_running; t++) {
            if (asked->nodes[i].running[t].id.n > 0)
                all[n++] = (struct identified){asked->nodes[i].running[t].id, i, t};
        }
    }
    if (all == NULL)
        return;
    qsort(all, n, sizeof *all, compare_identified);
    for (size_t i = 1; i < n; i++) {
        if (strview_equal(all[i].id, all[i - 1].id))
            refuse_id(nodes, &all[i]);
    }
}

/* How many run. */
static size_t check_tasks(const struct codec_node *nodes,
                          const struct codec_speculation_limits *limits,
                          const struct codec_speculation *asked)
{
    size_t n = 0;
    for (size_t i = 0; i < asked->n_nodes; i++) {
        size_t before = n;
        n += asked->nodes[i].n_running;
        if (n > limits->tasks && before <= limits->tasks) {
            struct codec_node node = codec_item(nodes, i);
            codec_fault_member(&node, "running", "too_many_items",
                               "may hold at most %zu item%s with those of the nodes before "
                               "(speculation_tasks_max), they are %zu",
                               limits->tasks, PLURAL(limits->tasks), n);
        }
    }
    return n;
}

/* --- types by number --- */

struct types {
    struct text_index index;
    struct strview *names;
    size_t most;
};

/* The most there can be, and one more that is refused. */
static bool open_types(const struct codec_node *nodes,
                       const struct codec_speculation *asked,
                       size_t most,
                       struct types *types)
{
    size_t rows = 0;
    for (size_t i = 0; i < asked->n_nodes; i++)
        rows += asked->nodes[i].n_finished + asked->nodes[i].n_running;
    size_t room = rows <= most ? rows : most + 1;
    *types = (struct types){
        .index = {.entries = codec_allocate(nodes, room, sizeof *types->index.entries)},
        .names = codec_allocate(nodes, room, sizeof *types->names),
        .most = most,
    };
    return types->index.entries != NULL && types->names != NULL;
}

/* false: there are too many. */
static bool number_type(struct types *types, struct strview name, size_t *number)
{
    *number = text_index_place(&types->index, name);
    types->names[*number] = name;
    return types->index.n <= types->most;
}

static bool take_finished(const struct codec_speculation_node *sent,
                          struct types *types,
                          struct speculation_finished finished[])
{
    for (size_t f = 0; f < sent->n_finished; f++) {
        const struct codec_speculation_finished *row = &sent->finished[f];
        finished[f] = (struct speculation_finished){
            .tasks = row->tasks, .mean_s = row->mean_s, .deviation_s = row->deviation_s};
        if (!number_type(types, row->type, &finished[f].type))
            return false;
    }
    return true;
}

static bool take_running(const struct codec_speculation_node *sent,
                         struct types *types,
                         struct speculation_task running[])
{
    for (size_t t = 0; t < sent->n_running; t++) {
        const struct codec_speculation_task *task = &sent->running[t];
        running[t] = (struct speculation_task){
            .elapsed_s = task->elapsed_s,
            .progress = task->progress,
            .progress_rate_per_s = task->progress_rate_per_s,
            .copy = (enum speculation_copy)task->copy,
            .is_copy = task->is_copy,
        };
        if (!number_type(types, task->type, &running[t].type))
            return false;
    }
    return true;
}

/* false: no memory, or too many types. */
static bool take_node(const struct codec_node *node,
                      const struct codec_speculation_node *sent,
                      struct types *types,
                      struct speculation_node *taken)
{
    struct speculation_finished *finished =
        codec_allocate(node, sent->n_finished, sizeof *finished);
    struct speculation_task *running = codec_allocate(node, sent->n_running, sizeof *running);
    if (finished == NULL || running == NULL)
        return false;
    *taken = (struct speculation_node){
        .containers = sent->containers,
        .free_containers = sent->free_containers == SIZE_MAX ? 0 : sent->free_containers,
        .finished = finished,
        .n_finished = sent->n_finished,
        .running = running,
        .n_running = sent->n_running,
    };
    if (take_finished(sent, types, finished) && take_running(sent, types, running))
        return true;
    codec_fault(node, "too_many_items",
                "with this node there are more than %zu type%s of tasks (speculation_types_max)",
                types->most, PLURAL(types->most));
    return false;
}

static bool take_levels(const struct codec_node *nodes, struct codec_speculation *asked)
{
    asked->level = codec_allocate(nodes, asked->n_nodes, sizeof *asked->level);
    for (size_t i = 0; asked->level != NULL && i < asked->n_nodes; i++)
        asked->level[i] = asked->nodes[i].level;
    return asked->level != NULL;
}

void codec_speculation_take(const struct codec_node *top,
                            const struct codec_speculation_limits *limits,
                            bool levels_given,
                            struct codec_speculation *asked)
{
    const struct codec_node nodes = codec_member(top, "nodes");
    const struct pv_error *err = top->reader->err;
    struct types types;
    refuse_same_ids(&nodes, asked, check_tasks(&nodes, limits, asked));
    if (err->n_faults > 0 || err->code != PV_OK)
        return;
    struct speculation_node *taken = codec_allocate(&nodes, asked->n_nodes, sizeof *taken);
    if (taken == NULL || !open_types(&nodes, asked, limits->types, &types) ||
        (levels_given && !take_levels(&nodes, asked)))
        return;
    for (size_t i = 0; i < asked->n_nodes; i++) {
        struct codec_node node = codec_item(&nodes, i);
        if (!take_node(&node, &asked->nodes[i], &types, &taken[i]))
            return;
    }
    asked->types = types.names;
    asked->cluster = (struct speculation_cluster){taken, asked->n_nodes, types.index.n};
}
