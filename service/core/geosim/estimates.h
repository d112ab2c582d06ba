#ifndef CORE_GEOSIM_ESTIMATES_H
#define CORE_GEOSIM_ESTIMATES_H

#include <stdbool.h>

#include "base/arena.h"
#include "core/geo/problem.h"
#include "core/geosim/world.h"

/* The speeds that planners know: the distributions that draws come from, never a draw. */

/*
 * A normal figure truncated below (GEOSIM_LEAST_SHARE) as a discrete distribution: what is left of
 * the line is cut into n parts of equal probability, each of which becomes its own mean, so that
 * the mean of what is drawn is exact.
 */
void geosim_estimate_normal(const struct geosim_normal *normal, size_t n, struct speeds *speeds);

/* Clusters and links as planners see them, all slots idle and gates empty. */
struct geosim_estimates {
    struct geo_cluster *clusters;
    struct geo_link *links;
    size_t n_links;
};

/* From world and workload; lives in the arena. false: memory. */
bool geosim_estimates_make(const struct geosim_world *world,
                           const struct geosim_workload *workload,
                           size_t points,
                           struct arena *arena,
                           struct geosim_estimates *estimates);

#endif
