#include "core/advice/interruption.h"

#include <math.h>

static const double HOUR_S = 3600.0;

/* lambda T */
static double exposure(double duration_s, double interruptions_per_hour)
{
    return duration_s / HOUR_S * interruptions_per_hour;
}

/* (exp(a) - 1) / a, which is 1 at 0. */
static double interruption_stretch(double a)
{
    return a > 0 ? expm1(a) / a : 1.0;
}

double interruption_expected_s(double duration_s, const struct interruptions *terms)
{
    double a = exposure(duration_s, terms->per_hour);
    return duration_s * interruption_stretch(a) + expm1(a) * terms->startup_s;
}

double interruption_count(double duration_s, const struct interruptions *terms)
{
    return expm1(exposure(duration_s, terms->per_hour));
}

/* (sinh(a) - a) / a^2: by its series where the difference would cancel. */
static double excess(double a)
{
    if (a > 0.1)
        return (sinh(a) - a) / (a * a);
    double square = a * a;
    return a / 6.0 * (1.0 + square / 20.0 * (1.0 + square / 42.0 * (1.0 + square / 72.0)));
}

/* (exp(a) - 1 - a) / a, likewise. */
static double stretch_beyond_one(double a)
{
    if (a > 0.1)
        return (expm1(a) - a) / a;
    double sum = 1.0;
    for (int k = 9; k > 2; k--) /* a^9 / 10! is less than the last digit */
        sum = 1.0 + a / (double)k * sum;
    return a / 2.0 * sum;
}

double
interruption_deviation_s(double duration_s, const struct interruptions *terms, int64_t executors)
{
    double a = exposure(duration_s, terms->per_hour);
    double s = terms->startup_s / duration_s; /* all in units of T, so that nothing overflows */
    double variance = 2.0 * excess(a) + 2.0 * s * stretch_beyond_one(a) + s * s * expm1(a);
    return duration_s *
           sqrt(exp(a) * variance / billing_independent_units(&terms->billing, executors));
}

/* How a distribution widens in the logarithm of the time. */
struct widening {
    double sensitivity; /* d ln E X / d ln T */
    double deviation;   /* of the interruptions, relative to E X */
};

/* Wider by as much as keeps the proportion of a part that spreads by `spread` now. */
static double interruption_widen(const struct widening *by, double spread)
{
    return hypot(by->sensitivity * spread, by->deviation) / spread;
}

/* Interruptions spread either way: two pieces become more alike. */
static double widen_shorter(const struct widening *by, double spread, double shorter)
{
    return shorter * interruption_widen(by, shorter * spread) / interruption_widen(by, spread);
}

/* The deviation is a part of its own as well, because a part without spread cannot be widened. */
static void interrupt_predictive(const struct predictive *predictive,
                                 const struct widening *by,
                                 double expected_s,
                                 struct predictive *out)
{
    /* Degrees of freedom from which Student's t passes for normal: 2.04 against 1.96 at 95 %. */
    enum { NEARLY_NORMAL = 30 };
    *out = (struct predictive){.predicted_s = expected_s, .shorter = predictive->shorter};
    for (size_t i = 0; i < predictive->n; i++) {
        struct predictive_part part = predictive->parts[i];
        double spread = part.scale;
        if (part.shape == PREDICTIVE_LOG_SCORES)
            spread *= part.table->spread;
        if (part.shape == PREDICTIVE_STUDENT) {
            spread /= predictive->predicted_s;
            part.scale *= expected_s / predictive->predicted_s;
        }
        if (spread > 0)
            part.scale *= interruption_widen(by, spread);
        if (spread > 0 && predictive->shorter > 0)
            out->shorter = widen_shorter(by, spread, predictive->shorter);
        predictive_add(out, part);
    }
    if (out->n > 0 && out->n < PREDICTIVE_PARTS_MAX)
        predictive_add(out, (struct predictive_part){.shape = PREDICTIVE_LOG_STUDENT,
                                                     .scale = by->deviation,
                                                     .freedom = NEARLY_NORMAL});
}

static struct curve_point interrupt(const struct curve *curve,
                                    const struct curve_point *point,
                                    const struct interruptions *terms,
                                    struct predictive *own)
{
    struct curve_point now = *point;
    double T = point->duration_s;
    double a = exposure(T, terms->per_hour);
    now.duration_s = interruption_expected_s(T, terms);
    const struct widening by = {
        /* That of ln(e^a - 1): the other factor of E X does not depend on T. */
        .sensitivity = exp(a) / interruption_stretch(a),
        .deviation = interruption_deviation_s(T, terms, point->executors) / now.duration_s};
    now.spread = hypot(by.sensitivity * point->spread, by.deviation);
    now.cache_doubt_s = interruption_expected_s(T + point->cache_doubt_s, terms) - now.duration_s;
    for (size_t i = 0; i < now.n_centres; i++)
        now.centres[i].predicted_s = interruption_expected_s(point->centres[i].predicted_s, terms);
    if (now.n_centres > 0)
        now.duration_s = curve_predictive(curve, &now).predicted_s;
    if (point->own != NULL) {
        interrupt_predictive(point->own, &by, now.duration_s, own);
        now.own = own;
    }
    return now;
}

/* Does the job end, at the slower of both levels and if it misses its cached data? */
static bool can_end(const struct curve *curve, const struct curve_point *point, double per_hour)
{
    const struct curve_point *other =
        curve->other == NULL ? NULL : curve_find(curve->other, point->executors);
    double longest_s = point->duration_s + point->cache_doubt_s;
    if (other != NULL)
        longest_s = fmax(longest_s, other->duration_s + other->cache_doubt_s);
    return exposure(longest_s, per_hour) <= INTERRUPTION_MOST;
}

enum pv_code interruption_curve(const struct curve *curve,
                                const struct interruptions *terms,
                                struct arena *arena,
                                struct curve *out,
                                struct pv_error *err)
{
    struct curve made = *curve;
    made.points = arena_array(arena, curve->n_points, sizeof *made.points);
    made.n_points = 0;
    struct predictive *own = arena_array(arena, curve->n_points, sizeof *own);
    if (made.points == NULL || own == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < curve->n_points; i++)
        if (can_end(curve, &curve->points[i], terms->per_hour))
            made.points[made.n_points++] = interrupt(curve, &curve->points[i], terms, &own[i]);
    if (curve->other != NULL) {
        struct curve *other = arena_alloc(arena, sizeof *other);
        if (other == NULL)
            return pv_no_memory(err);
        PV_TRY(interruption_curve(curve->other, terms, arena, other, err)); /* it has no other */
        made.other = other;
    }
    *out = made;
    return PV_OK;
}
