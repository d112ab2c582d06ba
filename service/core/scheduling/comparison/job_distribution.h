#ifndef CORE_SCHEDULING_COMPARISON_JOB_DISTRIBUTION_H
#define CORE_SCHEDULING_COMPARISON_JOB_DISTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/* The distribution of completion times and slowdowns over jobs, fit for a plot: the quantiles of
 * type 7 of 0, 1, .. 99, 99.9 and 100 percent. */
enum { DISTRIBUTION_POINTS = 102 };

struct job_distribution {
    size_t jobs; /* 0: there are no points */
    double completion_s[DISTRIBUTION_POINTS];
    double slowdown[DISTRIBUTION_POINTS];
};

/* Of which percentage point i is, from 0 on. */
double job_distribution_percent(size_t i);

/* Of n jobs, given both figures of each. scratch is back at its mark. false: out of memory.
 * O(n log n). */
bool job_distribution_of(const double completion_s[],
                         const double slowdown[],
                         size_t n,
                         struct arena *scratch,
                         struct job_distribution *distribution);

/* V_F(q): the slowdown at a whole percentage below 100 over the median. */
static inline double job_distribution_variability(const struct job_distribution *distribution,
                                                  size_t percent)
{
    return distribution->slowdown[percent] / distribution->slowdown[50];
}

#endif
