#include "core/geosim/graph.h"
#include "base/order.h"

#include <stdlib.h>

#include "core/sim/variates.h"

size_t geosim_graph_degree(const struct geosim_graph *graph, size_t node)
{
    return graph->first[node + 1] - graph->first[node];
}

/* Lines while they grow: ends[2k] and ends[2k + 1] are joined. An end drawn from the list is a node
 * drawn with a chance in proportion to its degree. */
struct growth {
    size_t *ends;
    size_t n_ends;
    size_t *joined; /* by the node that is being added */
};

static void graph_join(struct growth *growth, size_t a, size_t b)
{
    growth->ends[growth->n_ends++] = a;
    growth->ends[growth->n_ends++] = b;
}

static bool has(const size_t list[], size_t n, size_t value)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == value)
            return true;
    return false;
}

static void add_node(struct growth *growth, size_t node, size_t links, struct rng *rng)
{
    size_t before = growth->n_ends;
    for (size_t k = 0; k < links;) {
        size_t drawn = growth->ends[variate_index(rng, before)];
        if (has(growth->joined, k, drawn))
            continue;
        growth->joined[k++] = drawn;
        graph_join(growth, node, drawn);
    }
}

static void graph_grow(struct growth *growth, size_t n, size_t links, struct rng *rng)
{
    for (size_t node = 1; node < n; node++)
        if (node <= links)
            for (size_t other = 0; other < node; other++)
                graph_join(growth, node, other);
        else
            add_node(growth, node, links, rng);
}

struct ranked_node {
    size_t degree;
    size_t node;
};

static int by_falling_degree(const void *a, const void *b)
{
    const struct ranked_node *x = a;
    const struct ranked_node *y = b;
    if (x->degree != y->degree)
        return x->degree > y->degree ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* place[node]: its number in the finished graph. */
static bool rank_nodes(const struct growth *growth, size_t n, struct arena *arena, size_t place[])
{
    struct ranked_node *ranked = arena_array(arena, n, sizeof *ranked);
    if (ranked == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        ranked[i] = (struct ranked_node){0, i};
    for (size_t i = 0; i < growth->n_ends; i++)
        ranked[growth->ends[i]].degree++;
    qsort(ranked, n, sizeof *ranked, by_falling_degree);
    for (size_t i = 0; i < n; i++)
        place[ranked[i].node] = i;
    return true;
}

static bool
list_neighbours(struct growth *growth, size_t n, struct arena *arena, struct geosim_graph *graph)
{
    size_t *place = arena_array(arena, n, sizeof *place);
    size_t *first = arena_calloc(arena, n + 1, sizeof *first);
    size_t *fill = arena_array(arena, n, sizeof *fill);
    size_t *neighbours = arena_array(arena, growth->n_ends, sizeof *neighbours);
    if (place == NULL || first == NULL || fill == NULL || neighbours == NULL ||
        !rank_nodes(growth, n, arena, place))
        return false;
    for (size_t i = 0; i < growth->n_ends; i++) {
        growth->ends[i] = place[growth->ends[i]];
        first[growth->ends[i] + 1]++;
    }
    for (size_t i = 0; i < n; i++) {
        first[i + 1] += first[i];
        fill[i] = first[i];
    }
    for (size_t i = 0; i < growth->n_ends; i++)
        neighbours[fill[growth->ends[i]]++] = growth->ends[i ^ 1];
    for (size_t i = 0; i < n; i++)
        qsort(neighbours + first[i], first[i + 1] - first[i], sizeof *neighbours, order_by_size);
    *graph = (struct geosim_graph){n, first, neighbours};
    return true;
}

bool geosim_graph_grow(
    size_t n, size_t links, struct rng *rng, struct arena *arena, struct geosim_graph *graph)
{
    struct growth growth = {0};
    size_t most = links < n ? links : n;
    size_t room;
    if (__builtin_mul_overflow(n, 2 * most, &room))
        return false;
    growth.ends = arena_array(arena, room, sizeof *growth.ends);
    growth.joined = arena_array(arena, most, sizeof *growth.joined);
    if (growth.ends == NULL || growth.joined == NULL)
        return false;
    graph_grow(&growth, n, most, rng);
    return list_neighbours(&growth, n, arena, graph);
}
