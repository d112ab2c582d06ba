#include "core/scheduling/speculation/speculation_gaps.h"

struct seen {
    size_t nodes; /* that have finished tasks of the type */
    size_t node;  /* the last of them */
    bool runs;
};

/* One more; the first one is named. */
static void count(size_t *n, size_t *first, size_t which)
{
    if ((*n)++ == 0)
        *first = which;
}

static void look_at(const struct speculation_node *node, size_t index, struct seen seen[])
{
    for (size_t f = 0; f < node->n_finished; f++) {
        seen[node->finished[f].type].nodes++;
        seen[node->finished[f].type].node = index;
    }
    for (size_t t = 0; t < node->n_running; t++)
        seen[node->running[t].type].runs = true;
}

enum pv_code speculation_find_gaps(const struct speculation_cluster *cluster,
                                   struct arena *scratch,
                                   struct speculation_gaps *gaps,
                                   struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct seen *seen = arena_calloc(scratch, cluster->n_types, sizeof *seen);
    if (seen == NULL)
        return pv_no_memory(err);
    *gaps = (struct speculation_gaps){.unproven_node = SPECULATION_NONE,
                                      .lone_type = SPECULATION_NONE,
                                      .lone_node = SPECULATION_NONE,
                                      .unknown_type = SPECULATION_NONE,
                                      .crowded_node = SPECULATION_NONE};
    for (size_t i = 0; i < cluster->n_nodes; i++) {
        const struct speculation_node *node = &cluster->nodes[i];
        look_at(node, i, seen);
        if (node->n_finished == 0)
            count(&gaps->unproven_nodes, &gaps->unproven_node, i);
        if (node->n_running + node->free_containers > node->containers)
            count(&gaps->crowded_nodes, &gaps->crowded_node, i);
    }
    for (size_t t = 0; t < cluster->n_types; t++) {
        if (seen[t].nodes == 1 && cluster->n_nodes > 1)
            count(&gaps->lone_types, &gaps->lone_type, t);
        if (seen[t].nodes == 0 && seen[t].runs)
            count(&gaps->unknown_types, &gaps->unknown_type, t);
    }
    if (gaps->lone_types > 0)
        gaps->lone_node = seen[gaps->lone_type].node;
    arena_rewind(scratch, mark);
    return PV_OK;
}
