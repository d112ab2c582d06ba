#ifndef CORE_NUMERICS_QUANTILE_H
#define CORE_NUMERICS_QUANTILE_H

#include <stddef.h>

/* The quantile of share q of n values in ascending order, type 7 (R. J. Hyndman, Y. Fan, "Sample
 * quantiles in statistical packages", 1996): linear between order statistics, position q (n - 1).
 * NAN for n 0. */
double quantile_of_sorted(const double ascending[], size_t n, double q);

#endif
