#ifndef API_SIMULATIONS_TASKS_SIMULATION_SEARCH_H
#define API_SIMULATIONS_TASKS_SIMULATION_SEARCH_H

#include "codec/scheduling/tasks_simulation.h"
#include "operation/operation.h"

/* Search for the policy and terms that a request asks for, at each load, and add them to the
 * comparison, whose plan counts them already. *done: tasks of the operation so far; after: those of
 * the comparison. *found: of each load; NULL where no search is asked for. As operation_parts_run,
 * and PV_E_MEMORY. */
enum pv_code tasks_simulation_search(struct operation_run *run,
                                     struct codec_tasks_simulation *asked,
                                     struct tasks_comparison *comparison,
                                     int64_t *done,
                                     int64_t after,
                                     const struct policy_search_found **found,
                                     struct pv_error *err) PV_MUSTCHECK;

#endif
