#include "core/geosim/luck.h"

#include <math.h>

enum purpose { PURPOSE_POWER = 1, PURPOSE_TRANSFER, PURPOSE_CALM };

/* One step of splitmix64 (Steele, Lea and Flood, 2014): a bijection that mixes well. */
static uint64_t blend(uint64_t so_far, uint64_t next)
{
    uint64_t z = so_far + next + 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
}

static struct rng stream_of(uint64_t seed, enum purpose purpose, const struct luck_of_copy *of)
{
    uint64_t at = blend((uint64_t)purpose, of->workflow);
    at = blend(at, of->task);
    at = blend(at, of->cluster);
    return rng_make(seed, blend(at, of->turn));
}

double luck_power(uint64_t seed, const struct luck_of_copy *of, const struct geosim_normal *power)
{
    struct rng rng = stream_of(seed, PURPOSE_POWER, of);
    return geosim_normal_draw(power, &rng);
}

double luck_transfer(uint64_t seed,
                     const struct luck_of_copy *of,
                     uint64_t from,
                     const struct geosim_normal *wan)
{
    struct luck_of_copy pair = *of;
    pair.turn = blend(of->turn, from + 1);
    struct rng rng = stream_of(seed, PURPOSE_TRANSFER, &pair);
    return geosim_normal_draw(wan, &rng);
}

double luck_calm(uint64_t seed, uint64_t cluster, uint64_t n, double probability)
{
    struct rng rng = stream_of(seed, PURPOSE_CALM, &(struct luck_of_copy){0, n, cluster, 0});
    double u = 1 - rng_uniform(&rng); /* in (0, 1] */
    if (probability <= 0)
        return HUGE_VAL;
    return probability >= 1 ? 0 : floor(log(u) / log1p(-probability));
}
