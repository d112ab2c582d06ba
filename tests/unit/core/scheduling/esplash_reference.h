#ifndef TESTS_ESPLASH_REFERENCE_H
#define TESTS_ESPLASH_REFERENCE_H

#include "base/arena.h"
#include "core/scheduling/speculation/esplash.h"

/*
 * eSplash word by word as the design has it, for small clusters: what core/scheduling/speculation/esplash.h must
 * agree with.
 */
enum { ESPLASH_NODES_MAX = 6, ESPLASH_TYPES_MAX = 3, ESPLASH_TASKS_MAX = 4 };

struct esplash_case_node {
    size_t containers;
    size_t free_containers;
    struct speculation_finished finished[ESPLASH_TYPES_MAX];
    size_t n_finished;
    struct speculation_task running[ESPLASH_TASKS_MAX];
    size_t n_running;
};

struct esplash_case {
    struct esplash_case_node nodes[ESPLASH_NODES_MAX];
    size_t level[ESPLASH_NODES_MAX];
    size_t n;
};

/* Decide both ways; fails the test where they differ. */
void esplash_reference_compare(const struct esplash_case *given,
                               const struct esplash_terms *terms,
                               struct arena *arena);

#endif
