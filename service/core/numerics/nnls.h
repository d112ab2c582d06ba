#ifndef CORE_NUMERICS_NNLS_H
#define CORE_NUMERICS_NNLS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

/* Columns that nnls_solve takes. */
enum { NNLS_COLUMNS_MAX = 7 };

/*
 * Least squares with coefficients >= 0, exactly: minimises sum w_i^2 (y_i - x_i b)^2 over b >= 0 by
 * the active sets of C. L. Lawson and R. J. Hanson, "Solving Least Squares Problems", 1974, chapter
 * 23. The problem is first reduced by Householder reflections to k rows with the same solutions, so
 * that every step costs O(k^3).
 *
 * GSL has no least squares with bounds.
 *
 * x, weights as for linear_fit. A column that depends on those taken before it stays at 0.
 * passive[j] says that b[j] is free (> 0). The solution satisfies the Kuhn-Tucker conditions:
 * gradient x_j'W(y - Xb) = 0 where passive, <= 0 elsewhere, up to rounding.
 *
 * PV_E_MEMORY; PV_E_SINGULAR when n = 0 or k is out of range. O(n k^2).
 */
enum pv_code nnls_solve(const double x[],
                        size_t n,
                        size_t k,
                        const double y[],
                        const double weights[],
                        struct arena *scratch,
                        double b[],
                        bool passive[],
                        struct pv_error *err) PV_MUSTCHECK;

#endif
