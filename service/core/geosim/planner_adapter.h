#ifndef CORE_GEOSIM_PLANNER_ADAPTER_H
#define CORE_GEOSIM_PLANNER_ADAPTER_H

#include "base/error.h"
#include "core/geo/rates.h"
#include "core/geosim/estimates.h"
#include "core/geosim/sim_state.h"

/* Between the simulation and a planner: the state as a problem of core/geo, and the plan carried
 * out. */
struct planner_adapter {
    const struct geosim_parameters *parameters;
    struct sim_state *state;
    const struct geosim_progress *progress; /* NULL: nobody asks */
    struct geosim_estimates estimates;
    struct geo_rates *rates; /* cached between plans */
    struct arena kept;       /* that they live in */
    struct arena work;       /* of one plan */
    bool what_if_up;         /* plans as if all clusters were up and all tasks had waited forever */
};

/* The state is initialised. false: out of memory; it is to be closed all the same. */
bool planner_adapter_open(struct planner_adapter *adapter);
void planner_adapter_close(struct planner_adapter *adapter);

/* May the planner decide otherwise although nothing has happened, since time has passed? */
bool planner_adapter_observes_time(const struct planner_adapter *adapter);

/* May a plan made right after one that started or ended copies do more? */
bool planner_adapter_repeats(const struct planner_adapter *adapter);

/* Could a plan do anything at all? */
bool planner_adapter_is_due(const struct planner_adapter *adapter);

/* Make a plan and carry it out; *moves: how many copies were started or ended. Errors are those of
 * geo_plan_make. */
enum pv_code planner_adapter_plan(struct planner_adapter *adapter,
                                  size_t *moves,
                                  struct pv_error *err) PV_MUSTCHECK;

/* While nothing runs: would a copy be started if all clusters were up, however long it took?
 * Changes nothing. */
enum pv_code planner_adapter_what_if_up(struct planner_adapter *adapter,
                                        bool *starts,
                                        struct pv_error *err) PV_MUSTCHECK;

#endif
