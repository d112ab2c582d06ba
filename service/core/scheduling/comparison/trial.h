#ifndef CORE_SCHEDULING_COMPARISON_TRIAL_H
#define CORE_SCHEDULING_COMPARISON_TRIAL_H

#include <stddef.h>
#include <stdint.h>

#include "core/sim/variates.h"

/*
 * The random draws of simulated schedulers (docs/design.md, "Comparing schedulers"). A draw belongs
 * to the seed, the repetition, its purpose and the job, and to nothing else: neither which policies
 * are simulated, nor the load, nor jobs that come later change it.
 */
struct trial {
    uint64_t seed;
    uint64_t repetition;
};

/* The purposes of the streams (core/sim/variates.h). */
enum trial_purpose { TRIAL_ARRIVALS, TRIAL_PLACEMENT, TRIAL_PROBES, TRIAL_SENT_AGAIN };

struct rng trial_stream(const struct trial *trial, enum trial_purpose purpose, uint32_t job);

/* The time from the arrival before a job to its own in a Poisson process of rate_per_s > 0. Of one
 * trial it is the same for every rate, but for the scale. */
double trial_gap_s(const struct trial *trial, double rate_per_s, uint32_t job);

#endif
