#include "core/geosim/world.h"

#include "core/sim/variates.h"

double geosim_normal_draw(const struct geosim_normal *normal, struct rng *rng)
{
    return normal->mean * variate_normal_above(rng, 1, normal->rsd, GEOSIM_LEAST_SHARE);
}

const char *geosim_scale_name(enum geosim_scale scale)
{
    static const char *const names[GEOSIM_SCALES] = {"large", "medium", "small"};
    return names[scale];
}
