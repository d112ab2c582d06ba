#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

/*
 * A pseudo-random generator is a value that is passed in: the same seed and stream give the same
 * numbers on every machine. xoshiro256** (D. Blackman, S. Vigna, "Scrambled linear pseudorandom
 * number generators", ACM TOMS 47(4), 2021), its state filled by splitmix64. Not for secrets.
 */
struct rng {
    uint64_t state[4];
};

/* Streams of one seed are independent of each other: give each replication its own. */
struct rng rng_make(uint64_t seed, uint64_t stream);

uint64_t rng_next(struct rng *rng);

/* In [0, 1), 53 bits. */
double rng_uniform(struct rng *rng);

/* Standard normal (two uniforms a call, none kept). */
double rng_normal(struct rng *rng);

/* exp(normal) with this mean (> 0) and this standard deviation of the logarithm (>= 0). */
double rng_lognormal(struct rng *rng, double mean, double sigma);

#endif
