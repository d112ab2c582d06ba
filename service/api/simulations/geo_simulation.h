#ifndef API_SIMULATIONS_GEO_SIMULATION_H
#define API_SIMULATIONS_GEO_SIMULATION_H

#include "codec/geo/simulation.h"
#include "core/workload/workload.h"
#include "operation/operation.h"

/* Simulations of kind `geo`: policies that place copies of tasks in many clusters
 * (core/geosim). Rows of the table in simulation_run.c. */
enum pv_code geo_simulation_read(const struct codec_node *top,
                                 const struct config *config,
                                 const struct workload_summary *workload,
                                 struct writer *w,
                                 struct pv_error *err);
enum pv_code geo_simulation_run(struct operation_run *run,
                                const struct codec_node *top,
                                struct strview *result,
                                struct pv_error *err);

#endif
