#ifndef CORE_CONTROL_BASELINE_H
#define CORE_CONTROL_BASELINE_H

#include "core/control/simulation.h"

/*
 * What the control loop is compared with: the same jobs and tasks without it, each on whole cores.
 *
 *   clairvoyance_edf  every task known beforehand, the earliest deadline first (core/deadline)
 *   spark_fifo        standalone Spark by default: the first application that arrives takes all
 *                     cores until it ends, then the next one does
 *   spark_static      standalone Spark with spark.cores.max: each application has the same share of
 *                     every worker's cores while it runs. Shares are whole cores, so with more
 *                     applications than there are cores, some wait for the first to end.
 */
struct control_baseline {
    const char *name;
    enum pv_code (*run)(const struct control_model *model,
                        const struct edf_observer *observer,
                        struct arena *scratch,
                        struct control_result *result,
                        struct pv_error *err);
};

enum { CONTROL_BASELINES = 3 };
extern const struct control_baseline control_baselines[CONTROL_BASELINES];

/* The cores that spark_static gives each of n jobs. */
size_t control_static_cores(const struct control_cluster *cluster, size_t n);

/* As control_simulate. core_s is of the cores that each job held: those of its partition while it
 * ran, with clairvoyance_edf those that its tasks used. longest_wait_s is how long it waited for
 * its partition; with clairvoyance_edf it is NULL, share_deviation always is. Without progress,
 * equal tasks of a stage are scheduled together, which is several times as fast; the result is the
 * same. PV_E_MEMORY, PV_E_CANCELLED (progress said so). */
enum pv_code control_baseline_run(const struct control_baseline *baseline,
                                  const struct control_model *model,
                                  const struct control_progress *progress,
                                  struct arena *arena,
                                  struct arena *scratch,
                                  struct control_result *result,
                                  struct pv_error *err) PV_MUSTCHECK;

#endif
