#ifndef CORE_SIM_VARIATES_H
#define CORE_SIM_VARIATES_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"

/*
 * Random numbers of a simulation: streams, each for one purpose, and the distributions drawn from
 * them.
 *
 * A stream is named by the seed and a list of keys: first the purpose (a number of the caller's own
 * enum), then the things that the draw is about, such as a job and a machine. Streams of different
 * names are independent; the same name gives the same numbers, on every machine, whatever else was
 * drawn before. A simulator that draws so compares policies under common random numbers, and its
 * results do not depend on the number of threads.
 */

/* n_keys >= 1. */
struct rng variate_stream(uint64_t seed, const uint64_t keys[], size_t n_keys);

/* One key that stands for a key and a part of what it names: the second input of copy 7, say. */
uint64_t variate_subkey(uint64_t key, uint64_t part);

/* Uniform in [low, high). */
double variate_uniform(struct rng *rng, double low, double high);

/* One of 0 .. n - 1, each as likely; n >= 1 and at most 2^53. */
size_t variate_index(struct rng *rng, size_t n);

/* Index of a weight, each with the probability of its share; weights >= 0 that add up to 1, n >= 1.
 * What rounding leaves goes to the last one. */
size_t variate_choice(struct rng *rng, const double weights[], size_t n);

/* The first k <= n items become a random sample of all n, without replacement and in random order.
 */
void variate_sample(struct rng *rng, size_t items[], size_t n, size_t k);

/* Exponential, of mean 1/rate; rate > 0. By inversion: one uniform. */
double variate_exponential(struct rng *rng, double rate);

/* Geometric: failures before the first success of trials that succeed with probability p. HUGE_VAL
 * for p <= 0, 0 for p >= 1. By inversion: one uniform in each case. */
double variate_geometric(struct rng *rng, double p);

/* Normal, drawn again until it is at least `least`, which must lie below the mean. */
double variate_normal_above(struct rng *rng, double mean, double deviation, double least);

/* Pareto on [low, high], 0 < low < high, of tail index alpha > 0: heavy-tailed sizes of jobs that
 * yet have all moments. By inversion: one uniform. */
double variate_bounded_pareto(struct rng *rng, double low, double high, double alpha);

#endif
