#include "core/geosim/world.h"

double geosim_normal_draw(const struct geosim_normal *normal, struct rng *rng)
{
    double least = GEOSIM_LEAST_SHARE * normal->mean;
    double value;
    do
        value = normal->mean * (1 + normal->rsd * rng_normal(rng));
    while (value < least); /* more than half of the line lies above */
    return value;
}

const char *geosim_scale_name(enum geosim_scale scale)
{
    static const char *const names[GEOSIM_SCALES] = {"large", "medium", "small"};
    return names[scale];
}
