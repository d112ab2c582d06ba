#ifndef CORE_SCHEDULING_SLOTS_OMO_WATCH_H
#define CORE_SCHEDULING_SLOTS_OMO_WATCH_H

#include "core/scheduling/slots/omo_candidates.h"

/*
 * To whom it matters how often slots come free. To most jobs it does not: one without reduces, or
 * with all maps given out, is the same at any rate; and one of whose reduces none has begun may not
 * start before F/K is what eq. 4.3 asks for where all slots are the job's own, (pending maps -
 * 1/2)/(T_s - T_m). Such jobs are asleep, in a heap by that rate; awake are the others, and those that
 * were woken.
 */
struct omo_watch {
    struct omo_terms terms; /* rules that do not apply make no difference */
    double rate_per_s;      /* F/K */
    struct slots_candidates asleep;
    size_t *awake; /* in no order */
    size_t n_awake;
    size_t *place_of; /* by job: its place there; SIZE_MAX: none */
};

/* Nobody is there, at a rate of 0. false: out of memory. n_jobs < 2^32 - 1. */
bool omo_watch_init(struct omo_watch *watch,
                    const struct omo_terms *terms,
                    size_t n_jobs,
                    struct arena *arena);

/* Awake, whatever its figures, until it is put again. */
void omo_watch_wake(struct omo_watch *watch, size_t index);

/* A job as it is now: asleep, awake, or neither. */
void omo_watch_put(struct omo_watch *watch, size_t index, const struct omo_job *job);

/* Wakes those that the rate matters to now. O(log n) each, amortized. */
void omo_watch_set_rates(struct omo_watch *watch,
                         const struct omo_rates *rates,
                         size_t active_jobs);

#endif
