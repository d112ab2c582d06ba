#ifndef CORE_SCHEDULING_SPECULATION_NODE_LEVELS_H
#define CORE_SCHEDULING_SPECULATION_NODE_LEVELS_H

#include "base/arena.h"
#include "base/error.h"
#include "core/scheduling/speculation/speculation.h"

/*
 * Levels of nodes by how long they take for the same types of tasks (J. Wang, dissertation, UMass
 * Boston 2017, section 5.2.1): level 1 is the slowest. Nodes of which each is faster in one type of
 * tasks than the other form a group (Alg. 5.2.1), groups are assigned to levels by k-means, in which
 * they vote (Alg. 5.2.2). What the paper leaves open: docs/design.md, "Speculative copies".
 */
enum { NODE_LEVELS_AUTO = 0, NODE_LEVELS_AUTO_MAX = 8 };

struct node_levels {
    size_t *level;  /* by node, from 1 */
    size_t highest; /* HL: the greatest one */
    /* How they were found; groups NULL: they were given. */
    size_t *group; /* by node: its group, numbered from 0 in order of their first nodes */
    size_t n_groups;
    double silhouette;   /* of the best number of levels; NAN: none was computed */
    size_t common_types; /* that every node has finished: the dimensions; 0: all are on one level */
};

/*
 * Levels of all nodes. count: how many, 1 to n_nodes, of which those without nodes are left out; or
 * NODE_LEVELS_AUTO: as many, up to NODE_LEVELS_AUTO_MAX, as have the largest silhouette, one when
 * that is below 0.25. The result is of `arena`. PV_E_MEMORY.
 *
 * With D common types and k levels: O(D n (log n + D)) for the groups; each of at most 1000 rounds of
 * k-means O(D n k), as a rule O(D n); auto O(D n^2), once for all numbers of levels.
 */
enum pv_code node_levels_find(const struct speculation_cluster *cluster,
                              size_t count,
                              struct arena *arena,
                              struct node_levels *levels,
                              struct pv_error *err) PV_MUSTCHECK;

/* Levels as given, borrowed, each >= 1. O(n). */
struct node_levels node_levels_given(size_t *level, size_t n_nodes);

#endif
