#include "core/geosim/stores.h"

#include <math.h>

#include "core/sim/variates.h"

size_t geosim_stores_pick(const struct geosim_stores *stores, struct rng *rng)
{
    return stores->clusters[variate_index(rng, stores->n)];
}

static size_t list_scale(const struct geosim_world *world, enum geosim_scale scale, size_t list[])
{
    size_t n = 0;
    for (size_t i = 0; i < world->n_clusters; i++)
        if (world->clusters[i].scale == scale)
            list[n++] = i;
    return n;
}

bool geosim_stores_draw(const struct geosim_world *world,
                        double medium_share,
                        struct rng *rng,
                        struct arena *arena,
                        struct geosim_stores *stores)
{
    size_t *list = arena_array(arena, world->n_clusters, sizeof *list);
    if (list == NULL)
        return false;
    size_t n = list_scale(world, GEOSIM_SMALL, list);
    size_t medium = list_scale(world, GEOSIM_MEDIUM, list + n);
    size_t chosen = (size_t)floor(medium_share * (double)medium + 0.5);
    variate_sample(rng, list + n, medium, chosen < medium ? chosen : medium);
    n += chosen < medium ? chosen : medium;
    if (n == 0)
        for (n = 0; n < world->n_clusters; n++)
            list[n] = n;
    *stores = (struct geosim_stores){list, n};
    return true;
}
