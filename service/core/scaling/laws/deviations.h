#ifndef CORE_SCALING_LAWS_DEVIATIONS_H
#define CORE_SCALING_LAWS_DEVIATIONS_H

#include "core/scaling/laws/load_cells.h"

/*
 * What the times seen leave a law unexplained, carried over to places nearby: simple kriging of
 * ln(T / law) (N. Cressie, "Statistics for Spatial Data", 1993, section 3.2), with
 *
 *     covariance of two places = ratio exp(-(|ln N - ln N'| + |ln m - ln m'|) / reach)
 *
 * in units of the variance of a cell's own error. `ratio` is 1, and 3 from 8 executor counts on:
 * few counts cannot show whether a deviation is the place's or the cell's. Deviations beyond three
 * standard deviations (of the median kind) count as three.
 *
 * Of more than DEVIATIONS_MAX cells so many are used, evenly spread.
 */
enum { DEVIATIONS_MAX = 64 };

/*
 * The table for a law, into tables->deviations (ascending by N, then m), and what at each cell the
 * deviations of all others add to ln T (nearby, an array of cells->n). A law that gives no time
 * above 0 for some cell gets no table, and nothing is nearby. PV_E_MEMORY.
 */
enum pv_code deviations_find(const struct load_cells *cells,
                             const struct model_law *law,
                             struct model_tables *tables,
                             double nearby[],
                             struct pv_error *err) PV_MUSTCHECK;

/* What they add to ln T there. Below a microsecond. */
double deviation_at(const struct model_tables *tables, double problem_size, double executors);

#endif
