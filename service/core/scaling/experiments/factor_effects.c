#include "core/scaling/experiments/factor_effects.h"

#include <math.h>

/* Ernest's four come first; without a model they are the law. */
enum { FIXED, SHARE, LOGARITHM, EACH, SIZE, OF_ERNEST = SIZE };

static double time_of(const struct model_law *law, double problem_size, double executors)
{
    return law->kind->duration_s(law, problem_size, executors);
}

double effects_time(const struct effects_law *law, double problem_size, double executors)
{
    if (law->model != NULL) {
        const struct model_law fitted = model_law(law->model);
        return time_of(&fitted, problem_size, executors);
    }
    return (isnan(law->unit_s) ? 1 : law->unit_s) * (law->fixed + problem_size / executors);
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

/* dT/dp by central differences; 0 where the parameter cannot be moved. */
static double slope(struct effects *effects, size_t parameter, const struct effects_point *at)
{
    double *p = &effects->probe.p[parameter];
    double estimate = *p;
    double step = 1e-6 * fmax(fabs(estimate), 1e-3);
    *p = estimate + step;
    double up = time_of(&effects->probe, at->problem_size, at->executors);
    *p = estimate - step;
    double down = time_of(&effects->probe, at->problem_size, at->executors);
    *p = estimate;
    double rise = (up - down) / (2 * step);
    return isfinite(rise) ? rise : 0;
}

/* Shares of the time: of its own where what is moved is one law of several that are combined. */
static void
raw_at(struct effects *effects, const struct effects_point *at, double time_s, double effect[])
{
    double own_s =
        effects->n_own > 0 ? time_of(&effects->probe, at->problem_size, at->executors) : time_s;
    for (size_t j = 0; j < effects->n_own; j++)
        effect[j] = own_s > 0 ? slope(effects, effects->own[j], at) / own_s : 0;
    for (size_t j = 0; j < EFFECTS_POTENTIAL; j++)
        effect[effects->n_own + j] = potential(j, at) / time_s;
}

static void find_own(struct effects *effects)
{
    if (effects->law.model == NULL)
        return;
    effects->probe = model_law(effects->law.model);
    const struct model_tables tables = effects->probe.tables;
    double most = -1;
    for (size_t i = 0; i < tables.n_components; i++) {
        const struct model_component *component = &tables.components[i];
        if (component->weight > most && component->law.kind->n_parameters > 0) {
            most = component->weight;
            effects->probe = component->law;
        }
    }
    for (size_t j = 0; j < effects->probe.kind->n_parameters; j++)
        if (!isnan(effects->probe.p[j]))
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
