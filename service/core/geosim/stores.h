#ifndef CORE_GEOSIM_STORES_H
#define CORE_GEOSIM_STORES_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/rng.h"
#include "core/geosim/world.h"

/* The clusters that may hold raw input. PingAn, section 6.1: the edges and some of the medium
 * ones; data comes about where it is gathered, not where the large machines are. */
struct geosim_stores {
    const size_t *clusters;
    size_t n; /* >= 1 */
};

/* All small clusters and this share of the medium ones, drawn at random; all clusters of a world
 * that has neither. false: out of memory. */
bool geosim_stores_draw(const struct geosim_world *world,
                        double medium_share,
                        struct rng *rng,
                        struct arena *arena,
                        struct geosim_stores *stores);

size_t geosim_stores_pick(const struct geosim_stores *stores, struct rng *rng);

#endif
