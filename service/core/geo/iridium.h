#ifndef CORE_GEO_IRIDIUM_H
#define CORE_GEO_IRIDIUM_H

#include "core/geo/desk.h"

/*
 * Iridium: how many tasks of a stage each site gets, so that the slowest of all transfers is as
 * fast as it can be (Q. Pu et al., "Low latency geo-distributed data analytics", SIGCOMM 2015,
 * section 3).
 *
 * Sees how much input each cluster holds, what it can send and take in (its gate, and no more than
 * its links together on the average), and idle slots. Processing speeds, how speeds vary and losses
 * of clusters it does not see, nor which link of a cluster is the slow one.
 *
 * Decides job by job in the order of the request. With a part r_x of n tasks in cluster x, which
 * holds S_x of S bytes, x sends (1 - r_x) S_x at U_x and takes in r_x (S - S_x) at D_x; the paper's
 * linear program makes the longest of these times least. Each time bounds r_x on one side only, so
 * the least is found by bisection, over whole tasks at once and within idle slots: nothing is
 * rounded afterwards. Tasks beyond the lower bounds go where most input is. Which tasks make up a
 * cluster's number is left open by the paper: the assignment whose greatest remote reads are least.
 * One copy a task. Iridium's moving of data sets between jobs has no place in a plan of copies.
 */
enum pv_code iridium_run(struct desk *desk) PV_MUSTCHECK;

/* What it knows of a cluster. */
struct iridium_site {
    double bytes;          /* it holds */
    double up_bytes_per_s; /* > 0 */
    double down_bytes_per_s;
    int64_t slots; /* idle */
    int64_t tasks; /* the result */
};

/* Number of tasks of each site, n in all, which the slots allow; answers the longest transfer. */
double iridium_divide(struct iridium_site sites[], size_t n_sites, int64_t n);

#endif
