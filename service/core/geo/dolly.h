#ifndef CORE_GEO_DOLLY_H
#define CORE_GEO_DOLLY_H

#include <stddef.h>
#include <stdint.h>

#include "base/code.h"

struct desk;

/*
 * Dolly on top of Flutter: small jobs are cloned whole as they start (G. Ananthanarayanan, A.
 * Ghodsi, S. Shenker, I. Stoica, "Effective straggler mitigation: attack of the clones", NSDI 2013,
 * section 4).
 *
 * Sees what Flutter sees, the number of tasks of a job, and how many slots are busy and how many of
 * them by clones. How a task fares while it runs it does not look at.
 *
 * Decides job by job in the order of the request: Flutter places the job's tasks, then all tasks
 * that start now get c - 1 clones, each in another cluster, the one that Flutter takes to be the
 * fastest of those free. c is the fewest copies of each of n tasks with which some task has all its
 * copies straggle with a chance of no more than `risk`: 1 - (1 - p^c)^n <= risk. The job is cloned
 * whole or not at all: not when it has more than `tasks_max` tasks or one that waits, when all
 * clones that run would be more than `budget` of all slots, the slots in use more than
 * `utilization_max` of them, or when there is no cluster for one of the clones.
 */
struct dolly_terms {
    double straggler_probability; /* p, of one copy; the usual 0.1 is ours */
    double risk;                  /* epsilon of the paper: 0.05 */
    double budget;                /* beta: 0.05 */
    double utilization_max;       /* tau: 0.8 */
    int64_t tasks_max;            /* a job with more is not small: 150 */
};

/* c, at least 1 and at most `most`. */
size_t dolly_copies(const struct dolly_terms *terms, size_t n_tasks, size_t most);

/* PV_E_MEMORY or PV_OK. */
enum pv_code dolly_run(struct desk *desk) PV_MUSTCHECK;

#endif
