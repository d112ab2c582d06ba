#ifndef CORE_GEOSIM_DRAWS_H
#define CORE_GEOSIM_DRAWS_H

#include <stdint.h>

#include "core/geosim/world.h"

/* Random draws of a simulation, each from a stream of its own (core/sim/variates.h), so that it
 * does not depend on the policy: planners are compared under common random numbers. */

/* What the draws of a copy are named by. */
struct draw_key {
    uint64_t workflow;
    uint64_t task;
    uint64_t cluster;
    uint64_t visit; /* how many copies of the task the cluster has had before */
};

/* The power that the copy finds. */
double draw_power(uint64_t seed, const struct draw_key *of, const struct geosim_normal *power);

/* Bytes per second that the copy gets from one of its inputs. */
double draw_transfer(uint64_t seed,
                     const struct draw_key *of,
                     uint64_t from,
                     const struct geosim_normal *wan);

/* Slots of time before the n-th outage of a cluster begins, counted from the first slot in which it
 * could: geometric, of success probability `probability` in each slot. */
double draw_slots_until_outage(uint64_t seed, uint64_t cluster, uint64_t n, double probability);

#endif
