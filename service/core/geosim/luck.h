#ifndef CORE_GEOSIM_LUCK_H
#define CORE_GEOSIM_LUCK_H

#include <stdint.h>

#include "core/geosim/world.h"

/*
 * What happens by chance. Each draw has a stream of random numbers of its own, numbered by what it
 * is for, so that it does not depend on what else was drawn before: planners are compared under
 * common random numbers.
 */
struct luck_of_copy {
    uint64_t workflow;
    uint64_t task;
    uint64_t cluster;
    uint64_t turn; /* how often the task was in that cluster before */
};

/* Power that the copy finds there. */
double luck_power(uint64_t seed, const struct luck_of_copy *of, const struct geosim_normal *power);

/* Bytes per second that it gets from one of its inputs. */
double luck_transfer(uint64_t seed,
                     const struct luck_of_copy *of,
                     uint64_t from,
                     const struct geosim_normal *wan);

/* Slots of time that pass before the n-th outage of a cluster begins, counted from the first slot
 * in which it could: geometric, 0 at probability 1. HUGE_VAL: it never does. */
double luck_calm(uint64_t seed, uint64_t cluster, uint64_t n, double probability);

#endif
