#include "core/numerics/quantile.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"

static double at_position(const double ascending[], size_t n, double position)
{
    if (n == 0)
        return (double)NAN;
    if (!(position > 0))
        return ascending[0];
    size_t below = (size_t)position;
    if (below + 1 >= n)
        return ascending[n - 1];
    return ascending[below] +
           (position - (double)below) * (ascending[below + 1] - ascending[below]);
}

double quantile_of_sorted(const double ascending[], size_t n, double p)
{
    return at_position(ascending, n, p * ((double)n - 1));
}

double quantile_midpoint(const double ascending[], size_t n, double p)
{
    return at_position(ascending, n, p * (double)n - 0.5);
}

double quantile_median(double values[], size_t n)
{
    qsort(values, n, sizeof *values, order_by_double);
    return quantile_of_sorted(values, n, 0.5);
}
