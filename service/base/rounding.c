#include "base/rounding.h"

#include <math.h>

static bool is_nearly(double x, double whole)
{
    return fabs(x - whole) <= 1e-9 * fmax(1, fabs(x));
}

double rounding_ceil(double x)
{
    double nearest = round(x);
    return is_nearly(x, nearest) ? nearest : ceil(x);
}

double rounding_floor(double x)
{
    double nearest = round(x);
    return is_nearly(x, nearest) ? nearest : floor(x);
}

bool rounding_equal(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(1, fmax(fabs(a), fabs(b)));
}
