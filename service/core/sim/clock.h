#ifndef CORE_SIM_CLOCK_H
#define CORE_SIM_CLOCK_H

#include <assert.h>

#include "base/rounding.h"

/* Simulated time, in seconds since the simulation began. */
struct sim_clock {
    double now_s;
};

/* Move to an instant that is not in the past (asserted). */
static inline void sim_clock_advance(struct sim_clock *clock, double at_s)
{
    assert(at_s >= clock->now_s);
    clock->now_s = at_s;
}

/* The number of the first slot of time, of slot_s > 0 seconds each, that begins at at_s or later:
 * in simulations that act at the beginning of slots, the slot in which what happens at at_s is
 * seen. Quotients within rounding of a whole number are that number. */
static inline double sim_clock_slot(double at_s, double slot_s)
{
    return rounding_ceil(at_s / slot_s);
}

#endif
