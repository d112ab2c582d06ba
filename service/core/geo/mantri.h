#ifndef CORE_GEO_MANTRI_H
#define CORE_GEO_MANTRI_H

#include <stdint.h>

#include "base/code.h"

struct desk;

/*
 * Mantri on top of Flutter: outliers are seen while they run, and restarted or doubled where that
 * pays (G. Ananthanarayanan et al., "Reining in the outliers in map-reduce clusters using Mantri",
 * OSDI 2010, section 5.1).
 *
 * Sees what Flutter sees, how long running copies have run and how much of their task they have
 * processed, and how processing speeds spread over all clusters together: that tasks may be slow it
 * knows, where they will be it does not.
 *
 * t_rem of a task is the least of what its copies still need at the pace they had so far; of a copy
 * that has processed nothing yet, Flutter's estimate less what has passed. t_new is the time of a
 * copy in the cluster that Flutter takes to be the fastest of those free: transfers at their mean,
 * execution at a speed drawn from those of all clusters. The worst t_rem goes first.
 *
 * While more tasks wait than slots are idle:
 *   - the only copy of a task ends and starts elsewhere when t_rem > E[t_new] + period;
 *   - a copy joins the c of a task when P(t_rem > t_new (c + 1)/c) > duplicate_probability: it
 *     saves slots as well as time;
 *   - then waiting tasks start as Flutter has it.
 * Once all tasks have a slot, a copy joins when E[t_rem - t_new] > gain x period.
 *
 * Tasks of which nothing is told of their copies are left alone. The paper's limit on restarts of
 * one task is not kept: a request does not tell how often a task was restarted.
 */
struct mantri_terms {
    double duplicate_probability; /* delta of the paper: 0.25 */
    int64_t copies_max;           /* of a task: 3 */
    double period_s; /* Delta: between two reports of progress; the 10 s taken usually are ours */
    double gain;     /* rho; the usual 3 is ours */
};

/* PV_E_MEMORY or PV_OK. */
enum pv_code mantri_run(struct desk *desk) PV_MUSTCHECK;

#endif
