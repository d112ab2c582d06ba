#ifndef CORE_NUMERICS_PERMUTATION_H
#define CORE_NUMERICS_PERMUTATION_H

#include <stddef.h>

/*
 * A step coprime to n near the golden section of it: going round 0..n-1 by this step comes by
 * everywhere once, with small and large well mixed. The order in which durations drawn from a
 * distribution are handed to a scheduler. n >= 1.
 */
size_t permutation_step(size_t n);

#endif
