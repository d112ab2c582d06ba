#include "core/advice/curve.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "core/history/problem_size.h"

/* --- which counts --- */

size_t curve_grid(size_t room, int64_t most, const int64_t extra[], size_t n_extra, int64_t out[])
{
    /* Room for the extras and for `most` itself; steps widen until the rest fits. */
    room = room < 8 ? 8 : room;
    room = (room < CURVE_POINTS_MAX ? room : CURVE_POINTS_MAX) - 1;
    room = room > n_extra + 4 ? room - n_extra : 4;
    int64_t dense = (int64_t)room / 2;
    double steps = (double)room / 2.0 - 1.0;
    double ratio = most > dense ? exp(log((double)most / (double)dense) / steps) : 1.0;
    size_t n = 0;
    for (int64_t m = 1; m <= most && n < room;) {
        out[n++] = m;
        int64_t wider = (int64_t)((double)m * ratio);
        m = m < dense || wider <= m ? m + 1 : wider;
    }
    out[n++] = most;
    for (size_t i = 0; i < n_extra; i++)
        if (extra[i] >= 1)
            out[n++] = extra[i];
    qsort(out, n, sizeof *out, order_by_int64);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || out[kept - 1] != out[i])
            out[kept++] = out[i];
    return kept;
}

bool curve_beyond_sizes(double size, double least, double most)
{
    return (size < least && !problem_size_is_same(size, least)) ||
           (size > most && !problem_size_is_same(size, most));
}

/* --- the distribution --- */

struct predictive curve_predictive(const struct curve *curve, const struct curve_point *point)
{
    struct predictive predictive = {.predicted_s = point->duration_s};
    if (point->own != NULL)
        return *point->own;
    /* Cached data that does not fit makes the run longer, never shorter. */
    double doubt = log(1.0 + point->cache_doubt_s / point->duration_s);
    predictive.shorter = doubt > 0.0 ? point->spread / (point->spread + doubt) : 1.0;
    predictive_add(&predictive, (struct predictive_part){.shape = PREDICTIVE_LOG_STUDENT,
                                                         .scale = point->spread + fmax(0.0, doubt),
                                                         .freedom = curve->freedom});
    predictive_mix(&predictive, point->centres, point->n_centres);
    return predictive;
}

/* The point at the other level; NULL: there is none. */
static const struct curve_point *other_level(const struct curve *curve,
                                             const struct curve_point *point)
{
    return curve->other == NULL ? NULL : curve_find(curve->other, point->executors);
}

/* The distributions at both levels. */
static struct predictive_mixture mix_levels(const struct curve *curve,
                                            const struct curve_point *point)
{
    return (struct predictive_mixture){
        {curve_predictive(curve, point), curve_predictive(curve->other, other_level(curve, point))},
        {1.0 - curve->other_weight, curve->other_weight},
        2};
}

static double
mixed_probability(const struct curve *curve, const struct curve_point *point, double deadline_s)
{
    struct predictive_mixture levels = mix_levels(curve, point);
    return predictive_mixture_probability(&levels, deadline_s);
}

static double mixed_quantile(const struct curve *curve, const struct curve_point *point, double p)
{
    struct predictive_mixture levels = mix_levels(curve, point);
    return predictive_mixture_quantile(&levels, p);
}

double
curve_probability(const struct curve *curve, const struct curve_point *point, double deadline_s)
{
    struct predictive own = curve_predictive(curve, point);
    double predicted = other_level(curve, point) != NULL
                           ? mixed_probability(curve, point, deadline_s)
                           : predictive_probability(&own, deadline_s);
    double bound = same_runs_probability(point->ran, deadline_s);
    return predicted > bound ? bound : predicted;
}

double curve_quantile(const struct curve *curve, const struct curve_point *point, double p)
{
    struct predictive own = curve_predictive(curve, point);
    double predicted_s = other_level(curve, point) != NULL ? mixed_quantile(curve, point, p)
                                                           : predictive_quantile(&own, p);
    double bound_s = same_runs_quantile(point->ran, p);
    return predicted_s < bound_s ? bound_s : predicted_s;
}

void curve_interval(const struct curve *curve,
                    const struct curve_point *point,
                    double confidence,
                    double ends_s[2])
{
    struct predictive own = curve_predictive(curve, point);
    bool is_mixed = other_level(curve, point) != NULL;
    if (!is_mixed)
        predictive_interval(&own, confidence, ends_s);
    for (size_t k = 0; k < 2; k++) {
        double p = k == 0 ? (1.0 - confidence) / 2.0 : (1.0 + confidence) / 2.0;
        double bound_s = same_runs_quantile(point->ran, p);
        if (is_mixed)
            ends_s[k] = mixed_quantile(curve, point, p);
        if (ends_s[k] < bound_s)
            ends_s[k] = bound_s;
    }
}

double curve_speedup(const struct curve *curve, const struct curve_point *point)
{
    return curve->single_s / point->duration_s;
}

const struct curve_point *curve_find(const struct curve *curve, int64_t executors)
{
    for (size_t i = 0; i < curve->n_points; i++)
        if (curve->points[i].executors == executors)
            return &curve->points[i];
    return NULL;
}

enum pv_code curve_predicted_times(const struct curve *curve,
                                   double confidence,
                                   int64_t interval_of,
                                   struct arena *arena,
                                   struct predicted_times *times,
                                   struct pv_error *err)
{
    struct predicted_times made = {.problem_size = curve->problem_size};
    double *executors = arena_array(arena, curve->n_points, sizeof *executors);
    double *duration_s = arena_array(arena, curve->n_points, sizeof *duration_s);
    double(*intervals_s)[2] = arena_array(arena, curve->n_points, sizeof *intervals_s);
    if (executors == NULL || duration_s == NULL || intervals_s == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < curve->n_points; i++) {
        const struct curve_point *point = &curve->points[i];
        if (!(point->duration_s > 0))
            continue;
        executors[made.n] = (double)point->executors;
        duration_s[made.n] = point->duration_s;
        double *interval_s = intervals_s[made.n++];
        interval_s[0] = interval_s[1] = (double)NAN;
        if (interval_of == RUN_UNKNOWN || interval_of == point->executors)
            curve_interval(curve, point, confidence, interval_s);
    }
    made.executors = executors;
    made.duration_s = duration_s;
    made.intervals_s = (const double(*)[2])intervals_s;
    *times = made;
    return PV_OK;
}
