#ifndef CORE_SCHEDULING_SPECULATION_SPECULATION_GAPS_H
#define CORE_SCHEDULING_SPECULATION_SPECULATION_GAPS_H

#include "base/arena.h"
#include "base/error.h"
#include "core/scheduling/speculation/speculation.h"

/* What a decision on copies could not be based on, and what contradicts itself: how often, and the
 * first node or type. SPECULATION_NONE: there is none. */
struct speculation_gaps {
    size_t unproven_nodes; /* that have finished no task */
    size_t unproven_node;
    size_t lone_types; /* that one node alone has finished, and others have not */
    size_t lone_type;
    size_t lone_node;     /* that has finished lone_type */
    size_t unknown_types; /* of running tasks, that no node has finished */
    size_t unknown_type;
    size_t crowded_nodes; /* with more running tasks and free containers than containers */
    size_t crowded_node;
};

/* Scratch memory is given back. PV_E_MEMORY. O(types + finished + running). */
enum pv_code speculation_find_gaps(const struct speculation_cluster *cluster,
                                   struct arena *scratch,
                                   struct speculation_gaps *gaps,
                                   struct pv_error *err) PV_MUSTCHECK;

#endif
