#ifndef CORE_NUMERICS_POWER_REGRESSION_H
#define CORE_NUMERICS_POWER_REGRESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* y = coefficient * n^exponent, and how well it is known. */
struct power_law {
    double coefficient;
    double exponent;
    double covariance[2][2]; /* of coefficient and exponent; NAN where freedom is 0 */
    double freedom;          /* rows - 2; 0: too few for an interval */
    double rss;              /* sum of squared residuals */
};

/*
 * Fit to the values as they are, not to their logarithms, by least squares: given the exponent the
 * coefficient follows, which leaves one unknown. That one is looked for between -8 and 8 on a grid
 * and by golden section, then by Gauss-Newton steps on both (G. H. Golub, V. Pereyra, "The
 * differentiation of pseudo-inverses and nonlinear least squares problems whose variables
 * separate", SIAM J. Numer. Anal. 10, 1973: the same minimum).
 *
 * The golden section is ten lines here and not gsl_min_fminimizer_goldensection, which allocates
 * and takes a bracket with a middle below both ends, as the end of a flat grid need not give one.
 *
 * n      >= 1, rows of them; y finite, borrowed
 * start  an exponent to start at instead of looking everywhere; NAN: look
 *
 * All y 0: coefficient and exponent 0. PV_E_TOO_FEW: fewer than two distinct n. *law is written
 * only on PV_OK. O(rows). No global state.
 */
enum pv_code power_law_fit(const double n[],
                           const double y[],
                           size_t rows,
                           double start,
                           struct power_law *law,
                           struct pv_error *err) PV_MUSTCHECK;

/* Sum of squared values: what residuals are judged against. */
double power_law_squares(const double y[], size_t rows);

#endif
