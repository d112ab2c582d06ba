#include "api/operations/operation_kinds.h"

#include "api/deadlines/control_run.h"
#include "api/models/refit_run.h"
#include "api/simulations/simulation_run.h"

/* name, what does it */
const struct operation_kind api_operation_kinds[] = {
    {"refit", refit_run},
    {"simulation", simulation_run},
    {"control_simulation", control_simulation_run},
    {"import", NULL}, /* provisord import, which reads its own disk */
    {NULL, NULL},
};
