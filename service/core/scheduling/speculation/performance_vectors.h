#ifndef CORE_SCHEDULING_SPECULATION_PERFORMANCE_VECTORS_H
#define CORE_SCHEDULING_SPECULATION_PERFORMANCE_VECTORS_H

#include <stddef.h>

/*
 * The performance vector PV of each node (J. Wang, dissertation, UMass Boston 2017, section 5.2.1):
 * the mean durations of the types of tasks that all nodes have finished.
 */
struct performance_vectors {
    const double *values; /* dimension after dimension: [d x n + node] */
    size_t n;             /* nodes, >= 1 */
    size_t dimensions;    /* >= 1 */
};

#endif
