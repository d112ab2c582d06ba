#ifndef CORE_GEO_SEARCH_H
#define CORE_GEO_SEARCH_H

#include "core/geo/allocation.h"

/*
 * Which cluster is to get a task's next copy. Feasible is one with an idle slot, room in the gates
 * for the copy's own rate, and that rate no lower than `floor`. All answer PV_E_MEMORY or PV_OK.
 */

/* The feasible cluster that gives the task the highest rate, if that is above `least`. */
enum pv_code search_fastest(struct allocation *allocation,
                            const struct geo_task *task,
                            const struct task_allocation *state,
                            double floor,
                            double least,
                            struct candidate *best) PV_MUSTCHECK;

/* The one that gives it the highest exemption, if that is above `least` (< 0: any). */
enum pv_code search_most_reliable(struct allocation *allocation,
                                  const struct geo_task *task,
                                  const struct task_allocation *state,
                                  double floor,
                                  double least,
                                  struct candidate *best) PV_MUSTCHECK;

/* Why nothing was found for a first copy: the first filter that leaves no cluster. */
enum pv_code search_reason(struct allocation *allocation,
                           const struct geo_task *task,
                           const struct task_allocation *state,
                           enum geo_reason *reason) PV_MUSTCHECK;

#endif
