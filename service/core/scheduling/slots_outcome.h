#ifndef CORE_SCHEDULING_SLOTS_OUTCOME_H
#define CORE_SCHEDULING_SLOTS_OUTCOME_H

#include "core/scheduling/percentiles.h"
#include "core/scheduling/slots_engine.h"

/* What a simulation of jobs on slots comes to. */
struct slots_outcome {
    double makespan_s;               /* from the first arrival to the last finish */
    double utilization;              /* all task durations / (all slots x makespan) */
    double fairness;                 /* Jain's index of size / (finish - arrival) */
    struct percentiles completion_s; /* finish - arrival */
    struct percentiles slowdown;
    double slowdown_variability_95; /* p95 / p50 of the slowdowns (V_F of the paper) */
};

/*
 * runtime_s of each job: its finish when it alone arrives at 0 under fifo. It depends on no policy.
 * progress may be NULL; it gets the tasks that have ended. scratch is back at its mark.
 * PV_E_MEMORY, PV_E_CANCELLED, PV_E_INVALID as slots_simulate.
 */
enum pv_code slots_runtimes_alone(const struct slots_cluster *cluster,
                                  const struct slots_job jobs[],
                                  size_t n,
                                  const struct slots_progress *progress,
                                  struct arena *scratch,
                                  double runtime_s[],
                                  struct pv_error *err) PV_MUSTCHECK;

/* slowdown[i] = (finish - arrival) / runtime of each of n >= 1 jobs, and the outcome of all of them.
 * scratch is back at its mark. PV_E_MEMORY. O(n log n). */
enum pv_code slots_summarize(const struct slots_cluster *cluster,
                             const struct slots_job jobs[],
                             size_t n,
                             const struct slots_job_times times[],
                             const double runtime_s[],
                             struct arena *scratch,
                             double slowdown[],
                             struct slots_outcome *outcome,
                             struct pv_error *err) PV_MUSTCHECK;

#endif
