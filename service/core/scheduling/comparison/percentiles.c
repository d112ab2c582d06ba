#include "core/scheduling/comparison/percentiles.h"

#include "core/sim/statistics.h"

bool percentiles_of(const double values[],
                    size_t n,
                    struct arena *scratch,
                    struct percentiles *percentiles)
{
    struct arena_mark mark = arena_mark(scratch);
    struct sorted_sample sample;
    if (!sorted_sample_make(&sample, values, n, scratch))
        return false;
    *percentiles = (struct percentiles){.mean = sample.mean,
                                        .p50 = sorted_sample_quantile(&sample, 0.50),
                                        .p90 = sorted_sample_quantile(&sample, 0.90),
                                        .p95 = sorted_sample_quantile(&sample, 0.95),
                                        .p99 = sorted_sample_quantile(&sample, 0.99)};
    arena_rewind(scratch, mark);
    return true;
}

void percentiles_add(struct percentiles *sum, const struct percentiles *terms, double weight)
{
    sum->mean += weight * terms->mean;
    sum->p50 += weight * terms->p50;
    sum->p90 += weight * terms->p90;
    sum->p95 += weight * terms->p95;
    sum->p99 += weight * terms->p99;
}
