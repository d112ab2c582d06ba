#ifndef STORE_OPERATIONS_OPERATION_INTERNAL_H
#define STORE_OPERATIONS_OPERATION_INTERNAL_H

#include "store/operations/operation.h"
#include "store/sql/columns.h"

/* Of the relation o: all of an operation but its request and its result. */
extern const struct columns operation_columns;   /* {operation} */
extern const struct columns operation_documents; /* {documents}: these */

/* Words of enum operation_status, ended by NULL. */
extern const char *const operation_status_words[];

#endif
