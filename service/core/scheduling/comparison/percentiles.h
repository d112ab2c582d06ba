#ifndef CORE_SCHEDULING_COMPARISON_PERCENTILES_H
#define CORE_SCHEDULING_COMPARISON_PERCENTILES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/* What simulations report of a figure of many jobs: mean and quantiles of type 7. */
struct percentiles {
    double mean;
    double p50;
    double p90;
    double p95;
    double p99;
};

/* Of n values; NAN where there are none. scratch, 8 bytes a value, is back at its mark. false: out
 * of memory. O(n log n). */
bool percentiles_of(const double values[],
                    size_t n,
                    struct arena *scratch,
                    struct percentiles *percentiles);

/* Add `weight` times the terms, one by one: sums with weights that add up to 1 are means. */
void percentiles_add(struct percentiles *sum, const struct percentiles *terms, double weight);

#endif
