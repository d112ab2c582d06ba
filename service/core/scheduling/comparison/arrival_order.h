#ifndef CORE_SCHEDULING_COMPARISON_ARRIVAL_ORDER_H
#define CORE_SCHEDULING_COMPARISON_ARRIVAL_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* The order of arrival: by arrival_s, equal ones as given. first: the arrival_s of the first of n
 * structs, each `size` bytes behind the one before. order[i]: the index of the i-th that arrives.
 * What is worked with lives in scratch, which is back at its mark. false: out of memory.
 * O(n log n); O(n), without memory, where they are in order. */
bool arrival_order(
    const double *first, size_t size, uint32_t n, uint32_t order[], struct arena *scratch);

#endif
