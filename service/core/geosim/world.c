#include "core/geosim/world.h"

double geosim_normal_draw(const struct geosim_normal *normal, struct rng *rng)
{
    double value = normal->mean * (1 + normal->rsd * rng_normal(rng));
    double least = GEOSIM_LEAST_SHARE * normal->mean;
    return value > least ? value : least;
}

const char *geosim_scale_name(enum geosim_scale scale)
{
    static const char *const names[GEOSIM_SCALES] = {"large", "medium", "small"};
    return names[scale];
}
