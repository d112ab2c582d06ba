#include "core/scaling/uncertainty/bca.h"
#include "base/order.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "core/numerics/quantile.h"

double bca_acceleration(const double left_out[], size_t n)
{
    double mean = 0;
    size_t known = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(left_out[i])) {
            known++;
            mean += (left_out[i] - mean) / (double)known;
        }
    double squares = 0;
    double cubes = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(left_out[i])) {
            double off = mean - left_out[i];
            squares += off * off;
            cubes += off * off * off;
        }
    double scale = pow(squares, 1.5);
    return known >= 3 && scale > 0 && isfinite(cubes / scale) ? cubes / (6 * scale) : 0;
}

/* The numbers among them, to the front. */
static size_t drop_unknown(double values[], size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(values[i]))
            values[kept++] = values[i];
    return kept;
}

static double deviation(const double values[], size_t n)
{
    double mean = 0;
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        mean += (values[i] - mean) / (double)(i + 1);
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return n > 1 ? sqrt(squares / (double)(n - 1)) : (double)NAN;
}

/* The normal quantile of the share that lies below the estimate; what equals it counts half. */
static double bias_of(const double values[], size_t n, double estimate)
{
    size_t twice = 0;
    for (size_t i = 0; i < n; i++)
        twice += values[i] < estimate ? 2 : values[i] > estimate ? 0 : 1;
    double share = (double)twice / (2 * (double)n);
    double edge = 0.5 / (double)n;
    return gsl_cdf_ugaussian_Pinv(fmin(fmax(share, edge), 1 - edge));
}

struct shape {
    double centre;
    double bias;
    double acceleration;
};

/* steps: -t or t. */
static double bca_end_of(const double values[], size_t n, const struct shape *shape, double steps)
{
    double shifted = shape->bias + steps;
    double slope = 1 - shape->acceleration * shifted;
    double level = slope > 0 ? gsl_cdf_ugaussian_P(shape->bias + shifted / slope) : steps > 0;
    if (fmin(level, 1 - level) * (double)n >= 1)
        return quantile_of_sorted(values, n, level);
    double plain = shape->centre + steps * deviation(values, n);
    return steps < 0 ? fmin(plain, values[0]) : fmax(plain, values[n - 1]);
}

static size_t bca_prepare(double values[], size_t n)
{
    size_t known = drop_unknown(values, n);
    if (known > 1)
        qsort(values, known, sizeof *values, order_by_double);
    return known;
}

static struct bca bca_make(const double values[], size_t n, const struct shape *shape, double t)
{
    return (struct bca){deviation(values, n),
                        {bca_end_of(values, n, shape, -t), bca_end_of(values, n, shape, t)}};
}

static const struct bca unknown = {(double)NAN, {(double)NAN, (double)NAN}};

struct bca
bca_interval(double replications[], size_t n, double estimate, double acceleration, double t)
{
    size_t known = bca_prepare(replications, n);
    if (known < 2)
        return unknown;
    struct shape shape = {estimate, bias_of(replications, known, estimate), acceleration};
    return bca_make(replications, known, &shape, t);
}

struct bca bca_percentiles(double draws[], size_t n, double t)
{
    size_t known = bca_prepare(draws, n);
    if (known < 2)
        return unknown;
    struct shape shape = {quantile_of_sorted(draws, known, 0.5), 0, 0};
    return bca_make(draws, known, &shape, t);
}
