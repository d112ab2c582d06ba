#ifndef CORE_SCHEDULING_SLOTS_SLOT_CENSUS_H
#define CORE_SCHEDULING_SLOTS_SLOT_CENSUS_H

#include "base/finding.h"
#include "core/scheduling/slots/fresh.h"
#include "core/scheduling/slots/omo.h"

/*
 * What a reported state of jobs contradicts itself in. A decision is made all the same, by the
 * figures as they were sent; these warnings say which of them cannot be right. Jobs are counted one
 * by one; {0} has none yet.
 */
struct fresh_census {
    size_t running[SLOTS_KINDS];       /* tasks */
    size_t in_phase[FRESH_REDUCE + 1]; /* jobs, by phase */
    double consumption;                /* the largest of a job, in slots */
};

void fresh_census_add(struct fresh_census *census, const struct fresh_job *job, double now_s);

/* Warnings: more tasks run than slots serve them; a job has used more slots than there are; more
 * jobs are in a phase than may be. reduce_slots: that serve reduces. */
void fresh_census_warn(const struct fresh_census *census,
                       const struct fresh_terms *terms,
                       const struct fresh_slots *slots,
                       size_t reduce_slots,
                       struct findings *warnings);

struct omo_census {
    size_t reduced_early; /* jobs with a reduce that has finished before all maps have */
};

void omo_census_add(struct omo_census *census, const struct omo_job *job);

/* Warnings: reduces that finished before the maps that they read; no slot came free in the windows,
 * so that nothing follows from how often they do. */
void omo_census_warn(const struct omo_census *census,
                     const struct omo_rates *rates,
                     struct findings *warnings);

#endif
