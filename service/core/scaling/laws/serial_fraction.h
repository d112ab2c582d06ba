#ifndef CORE_SCALING_LAWS_SERIAL_FRACTION_H
#define CORE_SCALING_LAWS_SERIAL_FRACTION_H

#include "core/scaling/laws/configurations.h"

/* A speedup law of one parameter, the share eta in [0, 1] that runs in parallel; *slope is dS/deta.
 */
typedef double (*serial_fraction_law)(double eta, double executors, double *slope);

/* First two parameters of every kind that is such a law. */
enum { SHARE_ETA, SHARE_SEQUENTIAL, SHARE_PARAMETERS };

/*
 * eta of least squared relative error over the speedups of `data`, inside [0, 1], from the best
 * of a grid (core/numerics/levenberg_marquardt.h); each row left out by descending anew. Variance 0
 * where it lies on a bound or is not determined. O(n^2).
 */
void serial_fraction_fit(serial_fraction_law law,
                         const struct model_data *data,
                         struct model_fit *fit);

/*
 * Durations as the line T = a + b x with a, b >= 0: time at x = 1 (parameter SHARE_SEQUENTIAL) is
 * a + b, and eta its parallel share b / (a + b); estimates, covariance, degrees of freedom and
 * left_out are filled in as a kind's fit must. x: one regressor a row. PV_E_SINGULAR names what the
 * design lacks; PV_E_MEMORY.
 */
enum pv_code serial_fraction_fit_durations(const double x[],
                                           const struct configurations *design,
                                           struct model_fit *fit,
                                           struct pv_error *err) PV_MUSTCHECK;

#endif
