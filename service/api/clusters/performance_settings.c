#include "api/clusters/performance_settings.h"

#include "threads/clock.h"

struct performance_terms performance_settings_terms(const struct config *config)
{
    return (struct performance_terms){.half_life_s = config->performance_half_life_s,
                                      .points = (size_t)config->performance_points};
}

struct performance_ask performance_settings_ask(const struct config *config)
{
    const struct reachability_prior prior = {
        .mean_time_between_outages_s = (double)config->outage_prior_mean_time_between_s,
        .mean_outage_s = (double)config->outage_prior_mean_outage_s,
        .weight_s = (double)config->outage_prior_weight_s};
    return (struct performance_ask){.terms = performance_settings_terms(config),
                                    .outage_half_life_s = config->outage_half_life_s,
                                    .prior = prior,
                                    .now_us = clock_wall_us()};
}
