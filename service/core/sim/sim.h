#ifndef CORE_SIM_SIM_H
#define CORE_SIM_SIM_H

#include "core/sim/arrivals.h"
#include "core/sim/clock.h"
#include "core/sim/event_queue.h"
#include "core/sim/statistics.h"
#include "core/sim/variates.h"

/*
 * The common ground of discrete-event simulators: a clock, events to come, arrivals, random
 * variates and statistics of what happened. It knows neither clusters nor schedulers; core/geosim
 * shows how a simulator stands on it.
 *
 * A simulator is a loop that takes the next event, moves the clock to it and changes its state:
 *
 *     while (event_queue_pop(&queue, &event)) {
 *         sim_clock_advance(&clock, event.at);
 *         switch (event.kind) {
 *         case ARRIVAL:    schedule the next one: arrivals_next(&arrivals, &at) ...
 *         case COMPLETION: running_moments_add(&sojourn, clock.now_s - job->arrived); ...
 *         }
 *     }
 *
 * Five rules make its results reproducible and comparable:
 *
 *   1. Time only moves forward, and only by the clock (clock.h).
 *   2. Events at the same instant happen by rising kind, then in the order in which they were
 *      scheduled (event_queue.h). So number the kinds in the order that the model prescribes:
 *      completions before arrivals before decisions, say.
 *   3. An event that shall no longer happen is cancelled by the id that scheduling returned: no
 *      void events, no flags to check when it comes.
 *   4. Every draw has a stream of its own, named by the seed, its purpose and the things it is
 *      about (variates.h). Then neither the policy, nor the order of events, nor the number of
 *      threads changes a draw, and policies are compared under common random numbers.
 *   5. Percentiles are exact (type 7, statistics.h): samples are kept, and sorted once at the end.
 *
 * Memory is the caller's arena; what grows may fail, everything else cannot.
 */

#endif
