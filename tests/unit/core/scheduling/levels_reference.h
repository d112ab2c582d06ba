#ifndef TESTS_LEVELS_REFERENCE_H
#define TESTS_LEVELS_REFERENCE_H

#include <stddef.h>

/*
 * Levels of nodes word by word as design and paper have them, for small clusters: what
 * core/scheduling/speculation/node_levels.h must agree with.
 */
enum { LEVELS_NODES_MAX = 12, LEVELS_TYPES_MAX = 3 };

/* Nodes that have finished all types, with these mean durations. */
struct levels_case {
    double mean_s[LEVELS_NODES_MAX][LEVELS_TYPES_MAX];
    size_t n;
    size_t types;
};

/* By node, in order of first nodes (Alg. 5.2.1, merger by merger). */
void reference_groups(const struct levels_case *given, size_t group[]);

/* Levels from k centres (Alg. 5.2.2); returns how many have nodes. */
size_t
reference_levels(const struct levels_case *given, const size_t group[], size_t k, size_t level[]);

double reference_silhouette(const struct levels_case *given, const size_t level[], size_t n_levels);

#endif
