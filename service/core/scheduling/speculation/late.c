#include "core/scheduling/speculation/late.h"

#include <math.h>

#include "base/rounding.h"

struct total {
    double tasks;
    double duration_s;
};

/* By type, over all nodes: tasks that have finished. */
static void add_finished(const struct speculation_cluster *cluster, struct total totals[])
{
    for (size_t i = 0; i < cluster->n_nodes; i++) {
        const struct speculation_node *node = &cluster->nodes[i];
        for (size_t f = 0; f < node->n_finished; f++) {
            const struct speculation_finished *finished = &node->finished[f];
            totals[finished->type].tasks += (double)finished->tasks;
            totals[finished->type].duration_s += (double)finished->tasks * finished->mean_s;
        }
    }
}

static size_t count_running(const struct speculation_cluster *cluster)
{
    size_t n = 0;
    for (size_t i = 0; i < cluster->n_nodes; i++)
        n += cluster->nodes[i].n_running;
    return n;
}

static struct late_candidate assess(const struct speculation_task *task, const struct total *total)
{
    struct late_candidate candidate = {
        .remaining_s = speculation_remaining_s(task),
        .copy_s = total->tasks > 0 ? total->duration_s / total->tasks : (double)NAN,
    };
    candidate.value_s = candidate.remaining_s - candidate.copy_s;
    return candidate;
}

/* Whether the value, which may be NAN, is above the best one so far. */
static bool is_better(double value_s, double best_s)
{
    return value_s > best_s && !rounding_equal(value_s, best_s);
}

enum pv_code late_decide(const struct speculation_cluster *cluster,
                         struct arena *arena,
                         struct late_decision *decision,
                         struct pv_error *err)
{
    struct late_decision made = {.action = SPECULATION_NONE};
    double best_s = 0;
    made.candidates = arena_array(arena, count_running(cluster), sizeof *made.candidates);
    struct total *totals = arena_calloc(arena, cluster->n_types, sizeof *totals);
    if (made.candidates == NULL || totals == NULL)
        return pv_no_memory(err);
    add_finished(cluster, totals);
    for (size_t i = 0; i < cluster->n_nodes; i++) {
        for (size_t t = 0; t < cluster->nodes[i].n_running; t++) {
            const struct speculation_task *task = &cluster->nodes[i].running[t];
            struct late_candidate candidate = assess(task, &totals[task->type]);
            candidate.place = (struct speculation_place){i, t};
            if (task->copy == SPECULATION_NO_COPY && !task->is_copy &&
                is_better(candidate.value_s, best_s)) {
                made.action = made.n_candidates;
                best_s = candidate.value_s;
            }
            made.candidates[made.n_candidates++] = candidate;
        }
    }
    *decision = made;
    return PV_OK;
}
