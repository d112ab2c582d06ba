#ifndef API_SIMULATIONS_SLOTS_SIMULATION_H
#define API_SIMULATIONS_SLOTS_SIMULATION_H

#include "codec/scheduling/slots_simulation.h"
#include "operation/operation.h"

/* Simulations of kind `slots`: schedulers of jobs on map and reduce slots (core/scheduling). Rows of
 * the table in simulation_run.c. */
enum pv_code slots_simulation_read(const struct codec_node *top,
                                   const struct config *config,
                                   const struct workload_summary *workload,
                                   struct writer *w,
                                   struct pv_error *err);
enum pv_code slots_simulation_run(struct operation_run *run,
                                  const struct codec_node *top,
                                  struct strview *result,
                                  struct pv_error *err);

#endif
