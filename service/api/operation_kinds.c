#include "api/operation_kinds.h"

/* name, what does it */
const struct operation_kind api_operation_kinds[] = {
    {NULL, NULL},
};
