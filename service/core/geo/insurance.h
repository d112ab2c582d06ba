#ifndef CORE_GEO_INSURANCE_H
#define CORE_GEO_INSURANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/code.h"

struct desk;

/*
 * PingAn: copies so that jobs finish sooner and survive the loss of a cluster (docs/design.md,
 * "PingAn"; section 4 of the paper).
 *
 * Of n jobs in ascending unprocessed bytes the first max(1, ceil(epsilon n)) are admitted, each
 * with an equal share of all slots. Then rounds: in the first every task is to get the copy that is
 * fastest, in the second a copy that makes it likeliest to outlive its clusters, in further ones
 * copies that save slots as well as time. A copy takes an idle slot and room in the gates it
 * passes, and is never slower than 1/(1 + epsilon) of the best rate the task could have anywhere.
 */
enum insurance_aim { INSURANCE_EFFICIENCY, INSURANCE_RELIABILITY };

struct insurance_terms {
    double epsilon;            /* inside (0, 1] */
    int64_t max_rounds;        /* >= 1 */
    enum insurance_aim first;  /* what round 1 looks for; the paper: efficiency */
    enum insurance_aim second; /* what round 2 looks for; the paper: reliability */
    bool job_by_job;           /* all rounds of a job before the next job (JGA); else EFA */
};

/*
 * Deal the copies. PV_E_MEMORY or PV_OK.
 *
 * Time: means that bound the rates rule out most (task, cluster) pairs, so a round costs a few
 * operations for each of them, and as many expectations of minima or maxima as there are clusters
 * that could be the best.
 */
enum pv_code insurance_run(struct desk *desk) PV_MUSTCHECK;

#endif
