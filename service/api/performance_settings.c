#include "api/performance_settings.h"

#include "work/clock.h"

struct performance_terms performance_settings_terms(const struct config *config)
{
    return (struct performance_terms){.half_life_s = config->performance_half_life_s,
                                      .points = (size_t)config->performance_points};
}

struct performance_ask performance_settings_ask(const struct config *config)
{
    const struct reachability_prior prior = {.every_s = (double)config->outage_prior_every_s,
                                             .duration_s = (double)config->outage_prior_duration_s,
                                             .strength_s = (double)config->outage_prior_strength_s};
    return (struct performance_ask){.terms = performance_settings_terms(config),
                                    .outage_half_life_s = config->outage_half_life_s,
                                    .prior = prior,
                                    .now_us = clock_wall_us()};
}
