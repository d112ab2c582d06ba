#ifndef STORE_MAINTENANCE_MAINTENANCE_INTERNAL_H
#define STORE_MAINTENANCE_MAINTENANCE_INTERNAL_H

#include "store/maintenance/maintenance.h"
#include "store/sql/columns.h"

/* One id, of whatever it is, as a struct team_id. */
extern const struct columns id_columns;

#endif
