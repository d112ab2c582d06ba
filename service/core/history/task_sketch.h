#ifndef CORE_HISTORY_TASK_SKETCH_H
#define CORE_HISTORY_TASK_SKETCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

/*
 * A sketch of how the durations of a stage's tasks are spread, for runs whose tasks are no longer
 * kept one by one: ascending groups of tasks, how many and their mean.
 *
 * Groups end at the ranks n (1 - cos(pi i / K)) / 2, i = 0..K, so that they are small at both ends
 * and widest in the middle, as the scale of a t-digest makes them (Dunning and Ertl, "Computing
 * extremely accurate quantiles using t-digests", 2019, section 2.2, the arcsine scale); the fastest
 * and the slowest task are a group each. What follows from that:
 *
 *   - number, sum, mean, minimum and maximum are exact (the sum as task_time_sum adds it up);
 *   - a value stands at most n sin(pi / 2K) + 1 ranks from where it stood: 2.5 % of the tasks in
 * the middle, half a percent at the slowest and the fastest hundredth;
 *   - the sum of the tasks up to any end of a group is exact as well, to rounding.
 */
struct task_group {
    int64_t tasks; /* >= 1 */
    double mean_s;
};

enum {
    TASK_SKETCH_RESOLUTION = 64, /* K */
    TASK_SKETCH_GROUPS_MAX = TASK_SKETCH_RESOLUTION + 2,
    /* A list of no more than that is as short as its sketch and stays as it is. */
    TASK_SKETCH_LEAST = 2 * TASK_SKETCH_GROUPS_MAX
};

/* Compensated sum (Neumaier), so that the order of many tasks does not matter. */
double task_time_sum(const double durations_s[], size_t n);

/*
 * The sketch of n >= 1 durations, any order, each finite and >= 0. groups has room for
 * TASK_SKETCH_GROUPS_MAX; *n_groups is set on PV_OK. scratch is back at its mark. PV_E_MEMORY.
 */
enum pv_code task_sketch_make(const double durations_s[],
                              size_t n,
                              struct arena *scratch,
                              struct task_group groups[],
                              size_t *n_groups,
                              struct pv_error *err) PV_MUSTCHECK;

/*
 * Durations that have this sketch: as many as the groups hold, in `arena`, long and short mixed,
 * always the same. Groups as a client sent them are fine. PV_E_MEMORY.
 */
enum pv_code task_sketch_spread(const struct task_group groups[],
                                size_t n_groups,
                                struct arena *arena,
                                double **durations_s,
                                size_t *n,
                                struct pv_error *err) PV_MUSTCHECK;

#endif
