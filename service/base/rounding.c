#include "base/rounding.h"

#include <float.h>
#include <math.h>

/* Units in the last place that a few additions may take off. */
#define ADDITIONS_ULPS 8

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

double rounding_elapsed(double from, double to, double least)
{
    double elapsed = to - from;
    double lost = least - elapsed;
    return lost > 0 && lost <= ADDITIONS_ULPS * DBL_EPSILON * fabs(to) ? least : elapsed;
}
