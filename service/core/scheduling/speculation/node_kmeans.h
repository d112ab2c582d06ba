#ifndef CORE_SCHEDULING_SPECULATION_NODE_KMEANS_H
#define CORE_SCHEDULING_SPECULATION_NODE_KMEANS_H

#include "base/arena.h"
#include "base/error.h"
#include "core/scheduling/speculation/performance_vectors.h"

/*
 * Levels of nodes by k-means, in which groups go to the centre that most of their nodes are nearest
 * to (J. Wang, dissertation, UMass Boston 2017, Alg. 5.2.2). Where the centres begin, and how ties
 * are decided: docs/design.md, "Speculative copies".
 */
struct node_kmeans;

/* vectors: each dimension divided by its mean over the nodes; group: by node, numbered from 0. Both
 * are copied. PV_E_MEMORY. O(n (D + log n)). */
enum pv_code node_kmeans_open(const struct performance_vectors *vectors,
                              const size_t group[],
                              size_t n_groups,
                              struct arena *arena,
                              struct node_kmeans **kmeans,
                              struct pv_error *err) PV_MUSTCHECK;

/*
 * Levels from k centres, 1 <= k <= n: by node, level 1 has the longest durations. *n_levels: those
 * that have nodes. Scratch memory is given back. PV_E_MEMORY. At most 1000 rounds of O(k log k +
 * n D c), where c, at most k, is the number of centres that are about as slow as a node.
 */
enum pv_code node_kmeans_run(const struct node_kmeans *kmeans,
                             size_t k,
                             struct arena *scratch,
                             size_t level[],
                             size_t *n_levels,
                             struct pv_error *err) PV_MUSTCHECK;

#endif
