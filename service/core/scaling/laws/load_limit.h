#ifndef CORE_SCALING_LAWS_LOAD_LIMIT_H
#define CORE_SCALING_LAWS_LOAD_LIMIT_H

#include "core/scaling/laws/load_cells.h"

/*
 * The load (N / workers) that the memory of a worker holds: beyond it the law of
 * core/scaling/laws/worker_load.h has a term more. *limit is INFINITY where the runs that are not
 * absent show none.
 *
 * Tried are the middles between neighbouring loads with two executor counts or more wholly below,
 * so that a limit is never read from the exception of one count. Of one problem size the least
 * squares decide, as a count beyond the limit says nothing of what limits it. Of several, the law
 * with the limit has to beat the one without by Schwarz's criterion for two coefficients ("Estimating
 * the dimension of a model", Ann. Statist. 6, 1978) and a margin of 14, "very strong" for every one
 * of the places tried; and since neighbouring places often do about as well, the limit is taken
 * from all that do, towards their upper end: too low a limit makes larger problems look dear.
 * PV_E_MEMORY.
 */
enum pv_code load_limit_find(const struct load_cells *cells,
                             double idle,
                             struct load_absence absence,
                             double *limit,
                             struct pv_error *err) PV_MUSTCHECK;

#endif
