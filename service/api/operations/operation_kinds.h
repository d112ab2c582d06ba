#ifndef API_OPERATIONS_OPERATION_KINDS_H
#define API_OPERATIONS_OPERATION_KINDS_H

#include "operation/operation.h"

/* Every kind of long work that this program does, ended by a NULL name; their context is the struct
 * api. A new kind is a row here (operation/operation.h says what else). */
extern const struct operation_kind api_operation_kinds[];

#endif
