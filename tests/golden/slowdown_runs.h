#ifndef TESTS_GOLDEN_SLOWDOWN_RUNS_H
#define TESTS_GOLDEN_SLOWDOWN_RUNS_H

#include "core/scheduling/slots/slots_policy.h"
#include "slowdown_workloads.h"

/* Simulations of the workloads of slowdown_workloads.h. */

enum { SLOWDOWN_LOADS = 3 };
extern const double slowdown_loads[SLOWDOWN_LOADS]; /* 0.7, 0.8 and 0.9 */

/* Of slowdowns, over seeds; V is the variability at a percentile, over the median. */
struct slowdown_found {
    struct running_moments p50;
    struct running_moments p95;
    struct running_moments v90;
    struct running_moments v95;
    struct running_moments v99;
};

/*
 * The jobs in random order, as a Poisson process at the first n_loads loads, under policies: orders
 * and gaps are those of the seeds 1 to `seeds`, the same for all policies, and of one seed the same
 * up to scale for all loads. found: [n_loads][n_policies], added to. Aborts where it fails.
 */
void slowdown_simulate(const struct slowdown_workload *workload,
                       size_t n_loads,
                       const struct slots_terms policies[],
                       size_t n_policies,
                       uint64_t seeds,
                       struct slowdown_found found[]);

/* Limits and partitions of two queues with the least 95th percentile at the first load, as the paper
 * looks for its own: prints every one that is better than those before. */
void slowdown_tune(const struct slowdown_workload *workload, const struct slots_policy *policy);

#endif
