#ifndef CORE_ADVICE_SAME_RUNS_H
#define CORE_ADVICE_SAME_RUNS_H

#include "base/arena.h"
#include "base/error.h"
#include "core/scaling/history/run_observations.h"

/*
 * Runs of the very configuration of a point: the same problem size, executors and cores. What they
 * showed bounds what a prediction may promise. If k of n runs took no longer than a deadline and
 * n - k took longer, the probability to meet the deadline is at most
 *
 *     (k + 1/2) / (n + 1)
 *
 * the mean of a Beta distribution with Jeffreys' prior, Beta(1/2, 1/2) (A. Gelman and others,
 * "Bayesian Data Analysis", section 2.8): 25 % after 0 of 1 runs, 17 % after 0 of 2, 50 % after 1
 * of 2. Runs that count less than in full, such as those from before a drift, count so here. A
 * deadline that every such run met is not bounded.
 */
struct same_runs {
    double *durations_s; /* ascending */
    double *weights;     /* of each */
    size_t n;            /* 1 or more */
};

/* Number of runs that took no longer. */
size_t same_runs_in_time(const struct same_runs *runs, double deadline_s);

/* The bound of the probability; 1 if runs is NULL. */
double same_runs_probability(const struct same_runs *runs, double deadline_s);

/* The least duration whose probability may be p, inside (0, 1); 0: any. */
double same_runs_quantile(const struct same_runs *runs, double p);

#define SAME_RUNS_SHARE 0.75

struct same_runs_of {
    double problem_size;
    int64_t executors;
    int64_t cores_per_executor;
};

/*
 * The runs of that configuration; *found is NULL if there is none.
 *
 * seen   rows of other label groups are passed over. A run with dynamic allocation counts if it reached
 *        the executors and had SAME_RUNS_SHARE of them on average: with that maximum it would have run
 *        as it did. Sizes may differ as problem_size_is_same allows.
 * arena  holds what *found refers to. PV_E_MEMORY. O(rows).
 */
enum pv_code same_runs_find(const struct run_observations *seen,
                            const struct same_runs_of *configuration,
                            struct arena *arena,
                            const struct same_runs **found,
                            struct pv_error *err) PV_MUSTCHECK;

#endif
