#include "base/rng.h"

#include <math.h>

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

struct rng rng_make(uint64_t seed, uint64_t stream)
{
    struct rng rng;
    uint64_t mixed_stream = stream;
    uint64_t state = seed ^ splitmix(&mixed_stream);
    for (int i = 0; i < 4; i++)
        rng.state[i] = splitmix(&state);
    return rng;
}

static uint64_t rotate_left(uint64_t x, int by)
{
    return (x << by) | (x >> (64 - by));
}

uint64_t rng_next(struct rng *rng)
{
    uint64_t *s = rng->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

double rng_uniform(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

double rng_normal(struct rng *rng)
{
    double radius = sqrt(-2.0 * log(1.0 - rng_uniform(rng)));
    return radius * cos(2.0 * 3.14159265358979323846 * rng_uniform(rng));
}

double rng_lognormal(struct rng *rng, double mean, double sigma)
{
    return mean * exp(sigma * rng_normal(rng) - 0.5 * sigma * sigma);
}
