#ifndef CORE_SIM_ARRIVALS_H
#define CORE_SIM_ARRIVALS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/rng.h"

/*
 * When jobs arrive, one after the other: a Poisson process, a trace, or all at once. A trace may be
 * arranged anew as a Poisson process by using that process for the same jobs in the same order.
 */
enum arrivals_kind { ARRIVALS_POISSON, ARRIVALS_TRACE, ARRIVALS_BATCH };

struct arrivals {
    enum arrivals_kind kind;
    double now_s;        /* of the latest arrival */
    double rate_per_s;   /* Poisson */
    struct rng rng;      /* Poisson: its own stream */
    const double *times; /* trace: rising, borrowed */
    size_t left;         /* arrivals to come */
};

/* n arrivals at rate_per_s > 0, from time 0 on: the first one comes after the first gap. One stream
 * of one seed gives the same gaps at every rate, up to their scale. */
struct arrivals arrivals_poisson(size_t n, double rate_per_s, struct rng stream);

/* n arrivals at given times, which rise (equal ones in their order). */
struct arrivals arrivals_trace(const double times_s[], size_t n);

/* n arrivals at one time. */
struct arrivals arrivals_batch(size_t n, double at_s);

/* The next arrival; false: all have arrived, and *at_s stays. */
bool arrivals_next(struct arrivals *arrivals, double *at_s);

#endif
