#ifndef CORE_SCHEDULING_SPECULATION_NODE_GROUPS_H
#define CORE_SCHEDULING_SPECULATION_NODE_GROUPS_H

#include "base/arena.h"
#include "base/error.h"
#include "core/scheduling/speculation/performance_vectors.h"

/*
 * Groups of nodes that can only be on one level (J. Wang, dissertation, UMass Boston 2017, Alg.
 * 5.2.1): two groups that cross, each being slower in one dimension than the other, become one, and
 * whatever group that one then overlaps in some dimension becomes part of it.
 *
 * group: by node, numbered from 0 in order of their first nodes. Scratch memory is given back.
 * PV_E_MEMORY. O(D n (log n + D)).
 */
enum pv_code node_groups_find(const struct performance_vectors *vectors,
                              struct arena *scratch,
                              size_t group[],
                              size_t *n_groups,
                              struct pv_error *err) PV_MUSTCHECK;

#endif
