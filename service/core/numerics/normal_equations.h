#ifndef CORE_NUMERICS_NORMAL_EQUATIONS_H
#define CORE_NUMERICS_NORMAL_EQUATIONS_H

#include <stddef.h>

/*
 * Least squares with few coefficients >= 0 from sums of products, so that rows can be taken out
 * again and a fit to the others costs the same however many they are. Meant for laws that are tried
 * many times (shapes of them, with rows left out); the numbers of a fit itself are better taken
 * from nonnegative.h, which does not lose half of the digits to the products.
 *
 * The Cholesky factors are not gsl_linalg_cholesky_decomp1's: that calls the error handler where
 * columns depend on each other, which is an everyday case here and means "try fewer columns", and
 * one factorisation of 4 columns with it takes 0.9 us, where the whole search over sets of columns
 * takes 1.5 us.
 */
enum { GRAM_COLUMNS_MAX = 5 };

struct gram {
    size_t k;
    double xx[GRAM_COLUMNS_MAX][GRAM_COLUMNS_MAX];
    double xy[GRAM_COLUMNS_MAX];
    double yy;
    /* Diagonal of all rows ever added: what rounding is recognised by. */
    double scale[GRAM_COLUMNS_MAX];
};

/* No rows; k <= GRAM_COLUMNS_MAX. */
void gram_init(struct gram *gram, size_t k);

/* Add a row, x of k values; weight as for linear_fit. */
void gram_add(struct gram *gram, const double x[], double y, double weight);

/* Take a row out that was added before. */
void gram_drop(struct gram *gram, const double x[], double y, double weight);

/*
 * The b >= 0 of least squares, and its sum of squares (returned, >= 0). Sets of columns are tried,
 * the largest first, until one satisfies the Kuhn-Tucker conditions. Columns that no row is left
 * of, and such that depend on others (1 part in 10^10), stay 0.
 */
double gram_solve(const struct gram *gram, double b[]);

#endif
