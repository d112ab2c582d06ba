#include "api/operation_kinds.h"

#include "api/refit_run.h"
#include "api/simulation_run.h"

/* name, what does it */
const struct operation_kind api_operation_kinds[] = {
    {"refit", refit_run},
    {"simulation", simulation_run},
    {"import", NULL}, /* provisord import, which reads its own disk */
    {NULL, NULL},
};
