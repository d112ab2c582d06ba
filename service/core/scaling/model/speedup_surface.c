#include "core/scaling/model/speedup_surface.h"
#include "base/order.h"

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

double surface_relative_speedup(const struct model *model,
                                const struct surface_base *base,
                                double problem_size,
                                const struct model_prediction *prediction)
{
    struct model_spread none = MODEL_NO_SPREAD;
    struct model_prediction there;
    struct model bare = *model;
    bare.uncertainty.observations = 0;
    model_predict(&bare, &none, base->problem_size, base->executors, &there);
    if (!(there.duration_s > 0) || !(prediction->duration_s > 0))
        return (double)NAN;
    return problem_size / base->problem_size * there.duration_s / prediction->duration_s;
}

void best_executors_at(const struct model *model,
                       const struct model_spread *spread,
                       double problem_size,
                       double most,
                       struct best_executors *crest)
{
    crest->executors = model_best_executors(model, problem_size, most, &crest->rising);
    model_predict(model, spread, problem_size, crest->executors, &crest->prediction);
}
