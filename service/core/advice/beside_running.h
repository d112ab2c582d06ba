#ifndef CORE_ADVICE_BESIDE_RUNNING_H
#define CORE_ADVICE_BESIDE_RUNNING_H

#include "core/advice/advice_cluster.h"
#include "core/advice/history_prediction.h"
#include "core/advice/joint_feasibility.h"

/* The part of an answer that looks at the jobs which run on the cluster (docs/design.md, "Advice beside
 * other jobs"). */

/* Cores that the job shares with the running ones: the cluster's, or those of the most executors. */
int64_t beside_running_cores(const struct advice_question *question, int64_t cores_per_executor);

/* What is known of the question and of the jobs. */
struct beside_known {
    const struct advice_question *question; /* bounded by the cluster */
    const struct advise_goal *goal;         /* its own, as far as it is followed */
    const struct advice_cluster *cluster;
    const struct history_prediction *prediction;
    const struct run *runs; /* that the prediction is from, nearest first */
    size_t n_runs;
    const struct joint_running
        *running; /* one for each running job, in the order of the question */
};

/* The counts of executors that the choice is made among. */
struct beside_counts {
    struct curve curve; /* with the points that make nobody late, or all of them */
    size_t allowed;     /* points that were tried; 0: none, as no job runs that was advised for */
    size_t fitting;
    bool cut; /* by the budget: all points are there */
};

/* Where running jobs were advised: leave out the points of the prediction's curve that would make some
 * job late, unless there is no other. PV_E_MEMORY. */
enum pv_code beside_running_choose(const struct beside_known *known,
                                   const struct advice_limits *limits,
                                   struct arena *arena,
                                   struct arena *scratch,
                                   struct beside_counts **counts,
                                   struct pv_error *err) PV_MUSTCHECK;

/* The same in words: the reason beside_advised_jobs, or the warning nobody_in_time_beside_advised,
 * and the warnings search_cut and advised_jobs_cut. */
void beside_running_explain(const struct beside_known *known,
                            const struct beside_counts *counts,
                            struct advice *advice);

/*
 * Schedule the recommended configuration with the running jobs, and what that means for the advice.
 * curve: that it was chosen from. *bytes: what its executors hold, where memory counts; else 0.
 * PV_E_INVALID: the recommended executors need more memory than the cluster has, where it counts.
 * PV_E_TOO_FEW, PV_E_MEMORY.
 */
enum pv_code beside_running_check(const struct beside_known *known,
                                  const struct curve *curve,
                                  uint64_t task_budget,
                                  struct arena *arena,
                                  struct arena *scratch,
                                  struct advice *advice,
                                  struct joint_outcome *joint,
                                  int64_t *bytes,
                                  struct pv_error *err) PV_MUSTCHECK;

#endif
