#ifndef CORE_SCHEDULING_SLOTS_SLOTS_OUTCOME_H
#define CORE_SCHEDULING_SLOTS_SLOTS_OUTCOME_H

#include "core/scheduling/comparison/percentiles.h"
#include "core/scheduling/slots/slots_engine.h"

/* How long jobs with reduces are in their first phases (J. Wang, dissertation, UMass Boston 2017, fig.
 * 4.18): means over these jobs; NAN where there are none. */
struct slots_breakdown {
    double map_only_s; /* from the first slot until a reduce has one, or the maps have ended */
    double overlap_s;  /* from then, while maps run */
    double
        shuffle_only_s; /* from the end of the maps, or the first reduce's slot after it, until the
                              last reduce begins to work */
};

/* Copies of tasks (struct slots_speculation), as means over repetitions. */
struct slots_mean_speculation {
    double copies;
    double useful;
    double killed_on_straggler;
    double killed_on_slower;
    double wasted_s;
};

/* What is moved over the network of the nodes (struct slots_traffic), as means over repetitions; NAN
 * where no job has bytes to shuffle. Utilization: bytes over bandwidth x makespan. */
struct slots_mean_network {
    double link_bytes;
    double local_bytes;
    double link_utilization; /* the mean over all links, two of each node */
    double busiest_link_utilization;
};

/* What a simulation of jobs on slots comes to. */
struct slots_outcome {
    double makespan_s;               /* from the first arrival to the last finish */
    double utilization;              /* all task durations / (all slots x makespan), where slots
                                        count by the speed of their nodes; of containers: durations
                                        x requests / (what there is x makespan), the larger one of
                                        both resources */
    double fairness;                 /* Jain's index of size / (finish - arrival) */
    struct percentiles completion_s; /* finish - arrival */
    struct percentiles slowdown;
    double slowdown_variability_95; /* p95 / p50 of the slowdowns (V_F of the paper) */
    struct slots_breakdown breakdown;
    struct slots_mean_speculation speculation; /* not of slots_summarize */
    struct slots_mean_network network;         /* likewise */
    /* The part of the resource that containers held, on average from the first arrival to the last
     * finish; 0 where there are slots. Not of slots_summarize. */
    double vcores_allocated;
    double memory_allocated;
};

/*
 * runtime_s of each job: its finish when it alone arrives at 0 under fifo, at the speeds of the nodes
 * and without incidents. It depends on no policy. All n together take the cluster's network_steps_max
 * at most.
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

/* Of one simulation. */
struct slots_mean_network slots_network_once(const struct slots_traffic *traffic,
                                             double makespan_s);

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
