#ifndef CORE_SCALING_DRIFT_PLACES_H
#define CORE_SCALING_DRIFT_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

/*
 * Runs by place. The watch compares each run with the others at its place and with a law of its
 * group; sorted once, neither takes a pass over all runs.
 */
struct place {
    uint64_t group;
    double problem_size;
    double executors;
};

/* The runs order[from] to order[from + n - 1]. */
struct place_span {
    size_t from;
    size_t n;
};

struct places {
    const size_t *order; /* the runs by group, size and executors; within a place in their order */
    const struct place_span *places;
    const size_t *place_of; /* of each run */
    size_t n_places;
    const struct place_span *groups;
    const size_t *group_of; /* of each run, counted from 0 */
    size_t n_groups;
};

/* Sort n runs by their places, of which no member is NAN. What *found points at is in `arena`.
 * PV_E_MEMORY. O(n log n). */
enum pv_code places_find(const struct place of[],
                         size_t n,
                         struct arena *arena,
                         struct places *found,
                         struct pv_error *err) PV_MUSTCHECK;

#endif
