/* What is normal on a level, and which nodes are slower (section 5.2.2 of the dissertation). */
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/rounding.h"
#include "base/vector.h"
#include "core/scheduling/speculation/esplash_internal.h"

/* Tasks of one type on the level in hand. */
struct entry {
    bool known; /* something is */
    double tasks;
    double duration_s; /* of all of them */
    double mean_s;     /* NAN: none has finished */
    double squares;    /* of the tasks' distances from the mean */
    double deviation_s;
    double rates_per_s; /* sum of those known */
    double n_rates;
    double rate_per_s; /* mean of those known; NAN: there is none */
};

struct comparison {
    const struct speculation_cluster *cluster;
    const struct esplash_terms *terms;
    struct arena *arena;
    const size_t *nodes; /* of the level in hand */
    size_t n_nodes;
    struct entry *entries; /* by type */
    size_t *known;         /* types of which something is known */
    size_t n_known;
    VECTOR(struct esplash_statistics) table;
};

/* --- the table --- */

static struct entry *entry_for(struct comparison *comparison, size_t type)
{
    struct entry *entry = &comparison->entries[type];
    if (!entry->known) {
        *entry = (struct entry){.known = true};
        comparison->known[comparison->n_known++] = type;
    }
    return entry;
}

static void add_node(struct comparison *comparison, const struct speculation_node *node)
{
    for (size_t f = 0; f < node->n_finished; f++) {
        struct entry *entry = entry_for(comparison, node->finished[f].type);
        entry->tasks += (double)node->finished[f].tasks;
        entry->duration_s += (double)node->finished[f].tasks * node->finished[f].mean_s;
    }
    for (size_t t = 0; t < node->n_running; t++) {
        if (isnan(node->running[t].progress_rate_per_s))
            continue;
        struct entry *entry = entry_for(comparison, node->running[t].type);
        entry->rates_per_s += node->running[t].progress_rate_per_s;
        entry->n_rates++;
    }
}

/* Once means are known: sums of squares would lose the digits of a small deviation. */
static void add_squares(const struct comparison *comparison, const struct speculation_node *node)
{
    for (size_t f = 0; f < node->n_finished; f++) {
        const struct speculation_finished *finished = &node->finished[f];
        struct entry *entry = &comparison->entries[finished->type];
        double off_s = finished->mean_s - entry->mean_s;
        entry->squares += (double)finished->tasks *
                          (finished->deviation_s * finished->deviation_s + off_s * off_s);
    }
}

static void find_statistics(struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->n_nodes; i++)
        add_node(comparison, &comparison->cluster->nodes[comparison->nodes[i]]);
    for (size_t k = 0; k < comparison->n_known; k++) {
        struct entry *entry = &comparison->entries[comparison->known[k]];
        entry->mean_s = entry->tasks > 0 ? entry->duration_s / entry->tasks : (double)NAN;
        entry->rate_per_s = entry->n_rates > 0 ? entry->rates_per_s / entry->n_rates : (double)NAN;
    }
    for (size_t i = 0; i < comparison->n_nodes; i++)
        add_squares(comparison, &comparison->cluster->nodes[comparison->nodes[i]]);
    for (size_t k = 0; k < comparison->n_known; k++) {
        struct entry *entry = &comparison->entries[comparison->known[k]];
        entry->deviation_s = entry->tasks > 0 ? sqrt(entry->squares / entry->tasks) : (double)NAN;
    }
}

static bool add_rows(struct comparison *comparison, size_t level)
{
    qsort(comparison->known, comparison->n_known, sizeof *comparison->known, order_by_size);
    for (size_t k = 0; k < comparison->n_known; k++) {
        size_t type = comparison->known[k];
        const struct entry *entry = &comparison->entries[type];
        struct esplash_statistics *row = vector_add(comparison->arena, &comparison->table);
        if (row == NULL)
            return false;
        *row = (struct esplash_statistics){level,
                                           type,
                                           (size_t)entry->tasks,
                                           entry->mean_s,
                                           entry->deviation_s,
                                           entry->rate_per_s};
    }
    return true;
}

static void forget_level(struct comparison *comparison)
{
    for (size_t k = 0; k < comparison->n_known; k++)
        comparison->entries[comparison->known[k]].known = false;
    comparison->n_known = 0;
}

/* --- straggler values --- */

/* What a ratio counts: how far it is above 1, at most up to the cap. */
static double excess(const struct esplash_terms *terms, double ratio)
{
    return fmax(0, fmin(terms->ratio_cap, ratio) - 1);
}

/* By how many deviations the task will take longer than others, at its speed so far. */
static double duration_ratio(const struct esplash_terms *terms,
                             const struct entry *entry,
                             const struct speculation_task *task)
{
    double expected_s =
        speculation_has_progress(task) ? task->elapsed_s / task->progress : task->elapsed_s;
    double deviation_s = fmax(entry->deviation_s, terms->deviation_floor * entry->mean_s);
    return (expected_s - entry->mean_s) / deviation_s;
}

/* Of what is known only. */
static double straggler_value(const struct comparison *comparison,
                              const struct speculation_node *node)
{
    const struct esplash_terms *terms = comparison->terms;
    double value = 0;
    for (size_t t = 0; t < node->n_running; t++) {
        const struct speculation_task *task = &node->running[t];
        const struct entry *entry = &comparison->entries[task->type];
        if (!entry->known)
            continue;
        if (!isnan(entry->mean_s))
            value += terms->duration_weight * excess(terms, duration_ratio(terms, entry, task));
        /* A rate of 0 divides to infinity, which is capped. */
        if (!isnan(task->progress_rate_per_s) && entry->rate_per_s > 0)
            value +=
                terms->rate_weight * excess(terms, entry->rate_per_s / task->progress_rate_per_s);
    }
    return value;
}

static void judge_nodes(const struct comparison *comparison, struct esplash_node nodes[])
{
    double threshold = comparison->terms->threshold;
    for (size_t i = 0; i < comparison->n_nodes; i++) {
        size_t node = comparison->nodes[i];
        double value = straggler_value(comparison, &comparison->cluster->nodes[node]);
        nodes[node] = (struct esplash_node){
            .straggler_value = value,
            .straggler = value > threshold && !rounding_equal(value, threshold),
        };
    }
}

/* --- all levels --- */

/* Nodes level after level; first: the place of a level's first one; it is cleared, and has
 * levels->highest + 2 places. */
static void order_nodes(const struct node_levels *levels, size_t n, size_t nodes[], size_t first[])
{
    for (size_t i = 0; i < n; i++)
        first[levels->level[i]]++;
    for (size_t l = 0, end = 0; l < levels->highest + 2; l++) {
        end += first[l];
        first[l] = end;
    }
    for (size_t i = n; i-- > 0;)
        nodes[--first[levels->level[i]]] = i;
}

enum pv_code esplash_compare(const struct speculation_cluster *cluster,
                             const struct node_levels *levels,
                             const struct esplash_terms *terms,
                             struct arena *arena,
                             struct esplash_decision *decision,
                             struct pv_error *err)
{
    struct comparison comparison = {
        .cluster = cluster,
        .terms = terms,
        .arena = arena,
        .entries = arena_calloc(arena, cluster->n_types, sizeof *comparison.entries),
        .known = arena_array(arena, cluster->n_types, sizeof *comparison.known),
    };
    size_t *nodes = arena_array(arena, cluster->n_nodes, sizeof *nodes);
    size_t *first = arena_calloc(arena, levels->highest + 2, sizeof *first);
    decision->nodes = arena_array(arena, cluster->n_nodes, sizeof *decision->nodes);
    if (comparison.entries == NULL || comparison.known == NULL || nodes == NULL || first == NULL ||
        decision->nodes == NULL)
        return pv_no_memory(err);
    order_nodes(levels, cluster->n_nodes, nodes, first);
    for (size_t l = 1; l <= levels->highest; l++) {
        comparison.nodes = &nodes[first[l]];
        comparison.n_nodes = first[l + 1] - first[l];
        find_statistics(&comparison);
        if (!add_rows(&comparison, l))
            return pv_no_memory(err);
        judge_nodes(&comparison, decision->nodes);
        forget_level(&comparison);
    }
    decision->table = comparison.table.items;
    decision->n_table = comparison.table.n;
    return PV_OK;
}
