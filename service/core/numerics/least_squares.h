#ifndef CORE_NUMERICS_LEAST_SQUARES_H
#define CORE_NUMERICS_LEAST_SQUARES_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

/* Columns that any fit here may have. */
enum { LINEAR_COLUMNS_MAX = 8 };

/* What least squares leaves behind: n rows, k columns. The arrays of n live in the arena given. */
struct linear_fit {
    size_t n;
    size_t k;
    double coefficients[LINEAR_COLUMNS_MAX];
    double inverse[LINEAR_COLUMNS_MAX][LINEAR_COLUMNS_MAX]; /* of X'W X: covariance / variance */
    double *leverage;                                       /* diagonal of the hat matrix, 0 to 1 */
    double *residuals;                                      /* y - X b, not weighted */
    double rss;                                             /* weighted sum of squared residuals */
    double variance; /* rss / (n - k), not below what rounding alone leaves; NAN when n = k */
};

/*
 * Weighted least squares by singular values of the scaled columns (GSL, one-sided Jacobi):
 * minimises sum w_i^2 (y_i - x_i b)^2.
 *
 * x        n x k, row after row; k <= LINEAR_COLUMNS_MAX <= any n >= k
 * weights  n factors of the rows (w, not w^2); NULL: all 1. A row of weight 0 takes no part.
 *
 * PV_E_SINGULAR when n < k or the columns are dependent (smallest over largest singular value below
 * 1e-9 once each column has length 1), or the singular values do not converge; PV_E_MEMORY. *fit is
 * written only on PV_OK. GSL's error handler must be off. O(n k^2).
 */
enum pv_code linear_fit(const double x[],
                        size_t n,
                        size_t k,
                        const double y[],
                        const double weights[],
                        struct arena *arena,
                        struct linear_fit *fit,
                        struct pv_error *err) PV_MUSTCHECK;

/* y_i as predicted by a fit to the other rows: y_i - e_i / (1 - h_i), exact for least squares. NAN
 * where row i alone determines a coefficient. */
double linear_left_out(const struct linear_fit *fit, const double y[], size_t i);

/* Two-sided p-value of estimate / std_error by Student's t; NAN when it is unknown. */
double linear_p_value(double estimate, double std_error, double freedom);

#endif
