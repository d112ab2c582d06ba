#ifndef CORE_SCHEDULING_SPECULATION_NODE_SILHOUETTE_H
#define CORE_SCHEDULING_SPECULATION_NODE_SILHOUETTE_H

#include "base/arena.h"
#include "base/error.h"
#include "core/scheduling/speculation/performance_vectors.h"

/* Nodes divided into levels, one of several ways. */
struct node_division {
    const size_t *level; /* by node, 1 to n_levels, none without nodes */
    size_t n_levels;
};

/*
 * How well levels are separated (P. J. Rousseeuw, Silhouettes, J. Comput. Appl. Math. 20, 1987): the
 * mean over nodes of (b - a)/max(a, b), where a is the mean distance to the others of the node's
 * level, b the least mean distance to another level; 0 for a node alone in its level, or when both
 * are 0. Of one level: 0.
 *
 * silhouette: by division. Scratch memory is given back. PV_E_MEMORY. O(D n^2) for all divisions
 * together, and O(n) for each and each set of nodes that no division separates.
 */
enum pv_code node_silhouettes(const struct performance_vectors *vectors,
                              const struct node_division divisions[],
                              size_t n_divisions,
                              struct arena *scratch,
                              double silhouette[],
                              struct pv_error *err) PV_MUSTCHECK;

#endif
