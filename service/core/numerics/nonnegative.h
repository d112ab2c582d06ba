#ifndef CORE_NUMERICS_NONNEGATIVE_H
#define CORE_NUMERICS_NONNEGATIVE_H

#include <stdbool.h>

#include "core/numerics/least_squares.h"

/* Least squares with coefficients >= 0, and what is known of them. */
struct nonnegative_fit {
    double b[LINEAR_COLUMNS_MAX];
    bool free[LINEAR_COLUMNS_MAX];                             /* not at the bound */
    double covariance[LINEAR_COLUMNS_MAX][LINEAR_COLUMNS_MAX]; /* 0 for those at the bound */
    double freedom;
};

/*
 * Exact, by linear_fit where the free solution is >= 0 already, else by nnls_solve. left_out[i] is
 * the value of row i predicted by a fit to the others (NULL: not asked for): in closed form as long
 * as the same coefficients are free then (the Kuhn-Tucker conditions are checked), else by solving
 * again. k <= NNLS_COLUMNS_MAX. PV_E_SINGULAR: dependent columns, or nothing fits but 0;
 * PV_E_MEMORY.
 */
enum pv_code nonnegative_fit(const double x[],
                             size_t n,
                             size_t k,
                             const double y[],
                             const double weights[],
                             struct arena *scratch,
                             double left_out[],
                             struct nonnegative_fit *fit,
                             struct pv_error *err) PV_MUSTCHECK;

#endif
