#include "core/numerics/student.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <math.h>

/* From there on Hill's expansion has no digits left to give. */
static const double normal_freedom = 1e10;
/* Halley's steps leave about the cube of a relative one. */
static const double last_step = 1e-4;
enum { STEPS_MAX = 8 };

/* Of the density at t, over that of its power part: Gamma((n + 1) / 2) / (sqrt(n pi) Gamma(n / 2)).
 */
static double density_factor(double n)
{
    return exp(lgamma((n + 1) / 2) - lgamma(n / 2)) / sqrt(n * M_PI);
}

/* Hill's: where both tails together hold `outside`. Four digits from 2 degrees of freedom on. */
static double hill_start(double outside, double n)
{
    double a = 1 / (n - 0.5);
    double b = 48 / (a * a);
    double c = ((20700 * a / b - 98) * a - 16) * a + 96.36;
    double d = ((94.5 / (b + c) - 3) / b + 1) * sqrt(a * M_PI_2) * n;
    double y = pow(d * outside, 2 / n);
    if (y > 0.05 + a) {
        double x = gsl_cdf_ugaussian_Pinv(outside / 2);
        y = x * x;
        if (n < 5)
            c += 0.3 * (n - 4.5) * (x + 0.6);
        c += (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b;
        y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x;
        y = expm1(a * y * y);
    } else {
        y = ((1 / (((n + 6) / (n * y) - 0.089 * d - 0.822) * (n + 2) * 3) + 0.5 / (n + 4)) * y -
             1) *
                (n + 1) / (n + 2) +
            1 / y;
    }
    return sqrt(n * y);
}

double student_quantile(double level, double freedom)
{
    double outside = 1 - level;
    if (!(freedom >= 2))
        return gsl_cdf_tdist_Qinv(outside / 2, freedom);
    if (freedom > normal_freedom)
        return gsl_cdf_ugaussian_Qinv(outside / 2);
    double t = hill_start(outside, freedom);
    double factor = density_factor(freedom);
    for (int i = 0; i < STEPS_MAX; i++) {
        double density = factor * pow(1 + t * t / freedom, -(freedom + 1) / 2);
        double step = (gsl_cdf_tdist_Q(t, freedom) - outside / 2) / density;
        /* The logarithm of the density falls by this per unit of t. */
        double slope = (freedom + 1) * t / (freedom + t * t);
        step /= 1 - step * slope / 2;
        t += step;
        if (fabs(step) <= last_step * t)
            break;
    }
    return t;
}
