#include "core/geo/planner.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define GEO_PLANNER_ADDRESS(name) &geo_planner_##name,
const struct geo_planner *const geo_planners[] = {GEO_PLANNERS(GEO_PLANNER_ADDRESS)};
const size_t geo_planners_n = sizeof geo_planners / sizeof *geo_planners;

struct geo_parameters geo_parameters_default(const struct geo_planner *planner)
{
    struct geo_parameters parameters = {.planner = planner};
    assert(planner->n_parameters <= GEO_PARAMETERS_MAX);
    for (size_t i = 0; i < planner->n_parameters; i++)
        parameters.value[i] = planner->parameters[i].standard;
    return parameters;
}

/* n_parameters: there is none of that name. */
static size_t find_parameter(const struct geo_planner *planner, const char *name)
{
    size_t i = 0;
    while (i < planner->n_parameters && strcmp(planner->parameters[i].name, name) != 0)
        i++;
    return i;
}

double geo_parameters_get(const struct geo_parameters *parameters, const char *name)
{
    size_t i = find_parameter(parameters->planner, name);
    return i < parameters->planner->n_parameters ? parameters->value[i] : (double)NAN;
}

bool geo_parameters_set(struct geo_parameters *parameters, const char *name, double value)
{
    size_t i = find_parameter(parameters->planner, name);
    if (i == parameters->planner->n_parameters)
        return false;
    parameters->value[i] = value;
    return true;
}

bool geo_parameters_are_automatic(const struct geo_parameters *parameters)
{
    for (size_t i = 0; i < parameters->planner->n_parameters; i++)
        if (isnan(parameters->value[i]))
            return true;
    return false;
}

void geo_parameters_resolve(struct geo_parameters *parameters, const struct geo_problem *problem)
{
    const struct geo_planner *planner = parameters->planner;
    for (size_t i = 0; i < planner->n_parameters; i++)
        if (isnan(parameters->value[i]))
            parameters->value[i] = planner->parameters[i].automatic(problem);
}
