#ifndef CORE_GEOSIM_GRAPH_H
#define CORE_GEOSIM_GRAPH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/rng.h"

/*
 * Which clusters have a line of their own to each other. Preferential attachment (A.-L. Barabasi,
 * R. Albert, "Emergence of scaling in random networks", Science 286, 1999; the model behind the
 * heavy-tailed topologies of the BRITE generator, which PingAn's section 6.1 uses): the first
 * links + 1 clusters all know each other, each further one is joined to `links` that are there
 * already, chosen with chances in proportion to the lines they have. So few have very many.
 */
struct geosim_graph {
    size_t n;
    const size_t *first;      /* n + 1: the neighbours of i are neighbours[first[i]..first[i+1]) */
    const size_t *neighbours; /* by rising number */
};

/* n >= 1 nodes, numbered by falling degree (ties: the older first), connected. links >= 1. In the
 * arena; false: out of memory. */
bool geosim_graph_grow(
    size_t n, size_t links, struct rng *rng, struct arena *arena, struct geosim_graph *graph);

size_t geosim_graph_degree(const struct geosim_graph *graph, size_t node);

#endif
