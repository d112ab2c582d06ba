#ifndef CORE_GEO_SPARK_H
#define CORE_GEO_SPARK_H

#include "base/code.h"

struct desk;

/*
 * Spark: delay scheduling among fairly treated jobs (M. Zaharia et al., "Delay scheduling",
 * EuroSys 2010) with Spark's own speculation (spark.locality.wait, spark.speculation.quantile and
 * .multiplier of its configuration).
 *
 * Sees which clusters hold a task's inputs, idle slots, how long tasks have waited, and of each
 * job's stage how many tasks are done and the median of their durations. Speeds of clusters and
 * links it does not see.
 *
 * One copy at a time goes to the job that uses the fewest slots (ties: in order). Of that job first
 * the tasks that can run in a cluster of one of their inputs (a task without inputs: anywhere),
 * then those anywhere that have waited for wait_s, then speculation: a task with one running copy,
 * once `quantile` of its stage is done, gets a second one in another cluster when the first runs
 * longer than `multiplier` times the median; near an input where that is possible. Among clusters
 * the one with the most idle slots, as Spark spreads tasks.
 *
 * Spark counts the wait for each job, from the last task it launched near its input; here each task
 * tells its own.
 */
struct spark_terms {
    double wait_s;
    double quantile;
    double multiplier;
};

/* PV_E_MEMORY or PV_OK. */
enum pv_code spark_run(struct desk *desk) PV_MUSTCHECK;

#endif
