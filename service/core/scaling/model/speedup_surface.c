#include "core/scaling/model/speedup_surface.h"
#include "base/order.h"
#include "core/scaling/model/physical_bounds.h"

#include <math.h>
#include <stdlib.h>

size_t surface_ticks(double values[], size_t n, size_t most, double ticks[])
{
    size_t distinct = n > 0;
    qsort(values, n, sizeof *values, order_by_double);
    for (size_t i = 1; i < n; i++)
        if (values[i] > values[distinct - 1])
            values[distinct++] = values[i];
    size_t kept = distinct < most ? distinct : most;
    for (size_t i = 0; i < kept; i++)
        ticks[i] = values[kept < 2 ? 0 : i * (distinct - 1) / (kept - 1)];
    return kept;
}

struct surface_base surface_smallest(const struct observation rows[], size_t n)
{
    struct surface_base base = {rows[0].problem_size, rows[0].executors};
    for (size_t i = 1; i < n; i++) {
        bool less = rows[i].problem_size < base.problem_size;
        bool same = rows[i].problem_size == base.problem_size;
        if (less || (same && rows[i].executors < base.executors))
            base = (struct surface_base){rows[i].problem_size, rows[i].executors};
    }
    return base;
}

/* --- times --- */

static double time_by_model(const void *model, double problem_size, double executors)
{
    return model_duration(model, problem_size, executors);
}

struct speedup_surface speedup_surface_make(const struct model *model,
                                            const struct predicted_times predicted[],
                                            size_t n_predicted)
{
    return (struct speedup_surface){.model = model,
                                    .spread = model_spread(model, model->uncertainty.confidence),
                                    .predicted = predicted,
                                    .n_predicted = n_predicted};
}

/* Without times where none are predicted of the size. */
static const struct predicted_times *times_of(const struct speedup_surface *surface,
                                              double problem_size)
{
    static const struct predicted_times none = {.n = 0};
    for (size_t i = 0; i < surface->n_predicted; i++)
        if (surface->predicted[i].problem_size == problem_size)
            return &surface->predicted[i];
    return &none;
}

static double time_at(const struct speedup_surface *surface, double problem_size, double executors)
{
    return time_by_model(surface->model, problem_size, executors) *
           predicted_times_factor(times_of(surface, problem_size), time_by_model, surface->model,
                                  executors);
}

void surface_predict(const struct speedup_surface *surface,
                     double problem_size,
                     double executors,
                     struct model_prediction *out)
{
    const struct predicted_times *times = times_of(surface, problem_size);
    model_predict(surface->model, &surface->spread, problem_size, executors, out);
    if (times->n == 0)
        return;
    double factor = predicted_times_factor(times, time_by_model, surface->model, executors);
    const double *interval_s = predicted_times_interval(times, problem_size, executors);
    bool known = interval_s != NULL && out->duration_s > 0;
    out->duration_s *= factor;
    for (size_t end = 0; end < 2; end++)
        out->interval_s[end] = known ? interval_s[end] : out->interval_s[end] * factor;
    out->speedup = time_at(surface, problem_size, 1) / out->duration_s;
    if (!(out->duration_s > 0) || !(out->speedup > 0))
        out->speedup = (double)NAN;
}

double surface_relative_speedup(const struct speedup_surface *surface,
                                const struct surface_base *base,
                                double problem_size,
                                const struct model_prediction *prediction)
{
    double there_s = time_at(surface, base->problem_size, base->executors);
    if (!(there_s > 0) || !(prediction->duration_s > 0))
        return (double)NAN;
    return problem_size / base->problem_size * there_s / prediction->duration_s;
}

/* --- the ridge --- */

/* Between the counts predicted the factor is a power of m: the best may be one of them, or where
 * the law turns. */
void surface_best(const struct speedup_surface *surface,
                  double problem_size,
                  double most,
                  struct best_executors *crest)
{
    const struct predicted_times *predicted = times_of(surface, problem_size);
    double best = model_best_executors(surface->model, problem_size, most, &crest->rising);
    double least_s = time_at(surface, problem_size, best);
    for (size_t i = 0; i < predicted->n; i++) {
        double m = predicted->executors[i];
        double time_s = m <= most ? time_at(surface, problem_size, m) : (double)NAN;
        if (!(time_s > 0) || !(time_s < least_s || (time_s == least_s && m < best)))
            continue;
        best = m;
        least_s = time_s;
    }
    if (predicted->n > 0)
        crest->rising = best == most && time_at(surface, problem_size, most + 1) < least_s;
    crest->executors = best;
    surface_predict(surface, problem_size, best, &crest->prediction);
}
