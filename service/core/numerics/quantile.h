#ifndef CORE_NUMERICS_QUANTILE_H
#define CORE_NUMERICS_QUANTILE_H

#include <stddef.h>

/*
 * Quantiles of n ascending values, linear between two neighbours; NAN when n is 0. Two conventions
 * (R. J. Hyndman, Y. Fan, "Sample quantiles in statistical packages", The American Statistician 50,
 * 1996) on one interpolation; GSL's gsl_stats_quantile_from_sorted_data has the first only.
 */

/* Type 7, that of percentiles everywhere in the service: the least value at p = 0, the largest at
 * p = 1. */
double quantile_of_sorted(const double ascending[], size_t n, double p);

/* Type 5: value k of n (from 0) stands at (k + 1/2) / n. As many values drawn from it at evenly
 * spread p are the n values again. */
double quantile_midpoint(const double ascending[], size_t n, double p);

/* The median of values in any order, which are sorted in place. */
double quantile_median(double values[], size_t n);

#endif
