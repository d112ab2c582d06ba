#include "core/sim/variates.h"

#include <math.h>

/* One step of splitmix64 (Steele, Lea and Flood, 2014), a bijection that mixes well, over both
 * keys. The first one is multiplied by an odd number, so that the order of keys matters: streams
 * (1, 2) and (2, 1) are different ones. */
static uint64_t mix_key(uint64_t so_far, uint64_t next)
{
    uint64_t z = so_far * 0xd1342543de82ef95U + next + 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
}

struct rng variate_stream(uint64_t seed, const uint64_t keys[], size_t n_keys)
{
    uint64_t name = keys[0];
    for (size_t i = 1; i < n_keys; i++)
        name = mix_key(name, keys[i]);
    return rng_make(seed, name);
}

uint64_t variate_subkey(uint64_t key, uint64_t part)
{
    return mix_key(key, part + 1);
}

double variate_uniform(struct rng *rng, double low, double high)
{
    return low + (high - low) * rng_uniform(rng);
}

size_t variate_index(struct rng *rng, size_t n)
{
    return (size_t)(rng_uniform(rng) * (double)n);
}

size_t variate_choice(struct rng *rng, const double weights[], size_t n)
{
    double left = rng_uniform(rng);
    size_t i = 0;
    while (i + 1 < n && left >= weights[i])
        left -= weights[i++];
    return i;
}

void variate_sample(struct rng *rng, size_t items[], size_t n, size_t k)
{
    for (size_t i = 0; i < k; i++) {
        size_t other = i + variate_index(rng, n - i);
        size_t item = items[i];
        items[i] = items[other];
        items[other] = item;
    }
}

double variate_exponential(struct rng *rng, double rate)
{
    return -log1p(-rng_uniform(rng)) / rate;
}

double variate_geometric(struct rng *rng, double p)
{
    double u = 1 - rng_uniform(rng); /* in (0, 1] */
    if (p <= 0)
        return HUGE_VAL;
    return p >= 1 ? 0 : floor(log(u) / log1p(-p));
}

double variate_normal_above(struct rng *rng, double mean, double deviation, double least)
{
    double value;
    do
        value = mean + deviation * rng_normal(rng);
    while (value < least);
    return value;
}

double variate_bounded_pareto(struct rng *rng, double low, double high, double alpha)
{
    double u = rng_uniform(rng);
    double cut = pow(low / high, alpha);
    return low * pow(1 - u * (1 - cut), -1 / alpha);
}
