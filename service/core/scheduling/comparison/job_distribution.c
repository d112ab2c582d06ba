#include "core/scheduling/comparison/job_distribution.h"

#include "core/sim/statistics.h"

double job_distribution_percent(size_t i)
{
    return i < 100 ? (double)i : i == 100 ? 99.9 : 100;
}

static bool take_points(const double values[],
                        size_t n,
                        struct arena *scratch,
                        double points[DISTRIBUTION_POINTS])
{
    struct arena_mark mark = arena_mark(scratch);
    struct sorted_sample sample;
    if (!sorted_sample_make(&sample, values, n, scratch))
        return false;
    for (size_t i = 0; i < DISTRIBUTION_POINTS; i++)
        points[i] = sorted_sample_quantile(&sample, job_distribution_percent(i) / 100);
    arena_rewind(scratch, mark);
    return true;
}

bool job_distribution_of(const double completion_s[],
                         const double slowdown[],
                         size_t n,
                         struct arena *scratch,
                         struct job_distribution *distribution)
{
    distribution->jobs = n;
    return n == 0 || (take_points(completion_s, n, scratch, distribution->completion_s) &&
                      take_points(slowdown, n, scratch, distribution->slowdown));
}
