#include "core/scaling/effects.h"

#include <math.h>

/* Ernest's four come first; without a model they are the law. */
enum { FIXED, SHARE, LOGARITHM, EACH, SIZE, OF_ERNEST = SIZE };

double effects_time(const struct effects_law *law, double problem_size, double executors)
{
    struct model_spread none = {(double)NAN, (double)NAN};
    struct model_prediction there;
    if (law->model == NULL)
        return (isnan(law->unit_s) ? 1 : law->unit_s) * (law->fixed + problem_size / executors);
    model_predict(law->model, &none, problem_size, executors, &there);
    return there.duration_s;
}

static double potential(size_t which, const struct effects_point *at)
{
    switch (which) {
    case SHARE:
        return at->problem_size / at->executors;
    case LOGARITHM:
        return log(at->executors);
    case EACH:
        return at->executors;
    case SIZE:
        return at->problem_size;
    default:
        return 1;
    }
}

static double probe_time(const struct effects *effects, const struct effects_point *at)
{
    const struct effects_law moved = {&effects->probe, 0, 0};
    return effects_time(&moved, at->problem_size, at->executors);
}

/* dT/dp by central differences; 0 where the parameter cannot be moved. */
static double slope(struct effects *effects, size_t parameter, const struct effects_point *at)
{
    double *p = &effects->probe.parameters[parameter].estimate;
    double estimate = *p;
    double step = 1e-6 * fmax(fabs(estimate), 1e-3);
    *p = estimate + step;
    double up = probe_time(effects, at);
    *p = estimate - step;
    double down = probe_time(effects, at);
    *p = estimate;
    double rise = (up - down) / (2 * step);
    return isfinite(rise) ? rise : 0;
}

static void
raw_at(struct effects *effects, const struct effects_point *at, double time_s, double effect[])
{
    for (size_t j = 0; j < effects->n_own; j++)
        effect[j] = slope(effects, effects->own[j], at) / time_s;
    for (size_t j = 0; j < EFFECTS_POTENTIAL; j++)
        effect[effects->n_own + j] = potential(j, at) / time_s;
}

static void find_own(struct effects *effects)
{
    const struct model *model = effects->law.model;
    if (model == NULL)
        return;
    effects->probe = *model;
    effects->probe.uncertainty.observations = 0; /* nobody asks for intervals */
    for (size_t j = 0; j < model->kind->n_parameters; j++)
        if (!isnan(model->parameters[j].estimate))
            effects->own[effects->n_own++] = j;
}

struct effects effects_of(const struct effects_law *law,
                          const struct effects_point region[],
                          size_t n,
                          double doubt)
{
    struct effects effects = {.law = *law};
    double most[EFFECTS_MAX] = {0};
    double raw[EFFECTS_MAX];
    find_own(&effects);
    effects.k = effects.n_own + EFFECTS_POTENTIAL;
    for (size_t i = 0; i < n; i++) {
        double time_s = effects_time(law, region[i].problem_size, region[i].executors);
        if (!(time_s > 0) || !isfinite(time_s))
            continue;
        raw_at(&effects, &region[i], time_s, raw);
        for (size_t j = 0; j < effects.k; j++)
            most[j] = fmax(most[j], fabs(raw[j]));
    }
    for (size_t j = 0; j < effects.k; j++) {
        size_t which = j - effects.n_own;
        bool own = j < effects.n_own || (law->model == NULL && which < OF_ERNEST);
        effects.scale[j] = most[j] > 1e-12 ? (own ? 1 : doubt) / most[j] : 0;
    }
    return effects;
}

void effects_slopes(struct effects *effects, const struct effects_point *point, double slopes[])
{
    for (size_t j = 0; j < MODEL_PARAMETERS_MAX; j++)
        slopes[j] = 0;
    for (size_t j = 0; j < effects->n_own; j++)
        slopes[effects->own[j]] = slope(effects, effects->own[j], point);
}

bool effects_at(struct effects *effects, const struct effects_point *point, double effect[])
{
    double time_s = effects_time(&effects->law, point->problem_size, point->executors);
    if (!(time_s > 0) || !isfinite(time_s))
        return false;
    raw_at(effects, point, time_s, effect);
    for (size_t j = 0; j < effects->k; j++)
        effect[j] *= effects->scale[j];
    return true;
}
