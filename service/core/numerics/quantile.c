#include "core/numerics/quantile.h"

#include <math.h>

double quantile_of_sorted(const double ascending[], size_t n, double q)
{
    if (n == 0)
        return (double)NAN;
    double at = q * (double)(n - 1);
    size_t below = (size_t)fmin(fmax(floor(at), 0), (double)(n - 1));
    size_t above = below + 1 < n ? below + 1 : below;
    return ascending[below] + (at - (double)below) * (ascending[above] - ascending[below]);
}
