#include "core/advice/interruption.h"

#include <math.h>

static const double HOUR_S = 3600.0;

/* lambda T */
static double exposure(double duration_s, double interruptions_per_hour)
{
    return duration_s / HOUR_S * interruptions_per_hour;
}

/* (exp(a) - 1) / a, which is 1 at 0. */
static double stretch(double a)
{
    return a > 0 ? expm1(a) / a : 1.0;
}

double interruption_expected_s(double duration_s, double interruptions_per_hour)
{
    return duration_s * stretch(exposure(duration_s, interruptions_per_hour));
}

/* (sinh(a) - a) / a^2: by its series where the difference would cancel. */
static double excess(double a)
{
    if (a > 0.1)
        return (sinh(a) - a) / (a * a);
    double square = a * a;
    return a / 6.0 * (1.0 + square / 20.0 * (1.0 + square / 42.0 * (1.0 + square / 72.0)));
}

double interruption_deviation_s(double duration_s, double interruptions_per_hour, double executors)
{
    double a = exposure(duration_s, interruptions_per_hour);
    return duration_s * sqrt(2.0 * exp(a) * excess(a) / executors);
}

static struct curve_point interrupt(const struct curve_point *point, double interruptions_per_hour)
{
    struct curve_point now = *point;
    double a = exposure(point->duration_s, interruptions_per_hour);
    double deviation = interruption_deviation_s(point->duration_s, interruptions_per_hour,
                                                (double)point->executors);
    now.duration_s = interruption_expected_s(point->duration_s, interruptions_per_hour);
    double sensitivity = exp(a) / stretch(a); /* d ln E X / d ln T */
    now.spread = hypot(sensitivity * point->spread, deviation / now.duration_s);
    return now;
}

enum pv_code interruption_curve(const struct curve *curve,
                                double interruptions_per_hour,
                                struct arena *arena,
                                struct curve *out,
                                struct pv_error *err)
{
    struct curve made = *curve;
    made.points = arena_array(arena, curve->n_points, sizeof *made.points);
    made.n_points = 0;
    if (made.points == NULL)
        return pv_fail(err, PV_E_MEMORY, "not enough memory for the curve under interruptions");
    for (size_t i = 0; i < curve->n_points; i++)
        if (exposure(curve->points[i].duration_s, interruptions_per_hour) <= INTERRUPTION_MOST)
            made.points[made.n_points++] = interrupt(&curve->points[i], interruptions_per_hour);
    *out = made;
    return PV_OK;
}
