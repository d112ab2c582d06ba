#ifndef CORE_NUMERICS_LEVENBERG_MARQUARDT_H
#define CORE_NUMERICS_LEVENBERG_MARQUARDT_H

#include <stdbool.h>
#include <stddef.h>

/* Parameters that a descent may have. */
enum { DESCENT_MAX = 8 };

/*
 * Nonlinear least squares in a box: minimise the sum over rows of residual^2, low <= p <= high, for
 * few parameters and up to many rows, without allocating anything.
 *
 * The method is Levenberg and Marquardt's (D. W. Marquardt, "An algorithm for least-squares
 * estimation of nonlinear parameters", SIAM 11, 1963) on the normal equations scaled to a unit
 * diagonal, undamped as long as that works. Parameters whose gradient pushes out of the box stand
 * still for a step; steps are cut off at its walls (D. P. Bertsekas, "Projected Newton methods for
 * optimization problems with simple constraints", SIAM J. Control 20, 1982).
 *
 * Why not gsl_multifit_nlinear: it has no bounds, which the laws' parameters need (shares in
 * [0, 1]), and no way to take one row out of a finished fit, on which leave-one-out errors rely.
 * Where neither matters the two find the same minimum (3 parameters, 20 rows: the sums of squares
 * agree in 12 digits) in 45 us here and 53 us there, of which 5 are its workspace.
 */
struct descent {
    size_t n; /* rows */
    size_t k; /* parameters, <= DESCENT_MAX */
    double low[DESCENT_MAX];
    double high[DESCENT_MAX];
    void *context;
    /* Residual of a row at p, times the row's factor; its derivatives into slope[k] unless NULL. */
    double (*row)(void *context, const double p[], size_t i, double slope[]);
};

/* Sums over the rows at p: of squares, J'r and J'J. */
struct descent_sums {
    double squares;
    double gradient[DESCENT_MAX];
    double curvature[DESCENT_MAX][DESCENT_MAX];
};

/* skip: a row that takes no part, or n. */
void descent_sum(const struct descent *d, const double p[], size_t skip, struct descent_sums *sums);
double descent_squares(const struct descent *d, const double p[], size_t skip);

/*
 * From p, inside the box, to the minimum near it, in place; returns the sum of squares there. Ends
 * when a step moves no parameter by more than `tolerance` (of the larger of it and 1e-3 of the
 * box, where that is finite), when no step lowers the sum, or after `steps`. O(n k^2) a step.
 */
double
descent_find(const struct descent *d, size_t skip, size_t steps, double tolerance, double p[]);

/*
 * The exact second derivatives at p into sums->curvature, by differences of the gradient, in place
 * of J'J: far from the data the two differ, and a step by J'J arrives slowly. O(n k^2).
 */
void descent_sharpen(const struct descent *d, const double p[], struct descent_sums *sums);

/*
 * From p, near the minimum, to it: Newton's steps with the exact second derivatives of where they
 * begin, which are made anew a few times; descent_find where these do not lead down. Returns the
 * sum of squares.
 */
double descent_polish(const struct descent *d, double tolerance, double p[]);

/*
 * The minimum without row `skip`, from the one of all rows (p, with its sharpened sums). Without
 * the row it is near, and so are the second derivatives once the row's are taken off: Newton's
 * steps with them held fixed arrive after one without any pass over the rows and one or two with
 * (O(n k) each). Where they do not, descent_find does the rest. Of thousands of rows the first step
 * is all.
 */
void descent_find_without(const struct descent *d,
                          const struct descent_sums *sums,
                          size_t skip,
                          double tolerance,
                          double p[]);

/*
 * Inverse of J'J over the parameters that are inside the box and have an effect, 0 elsewhere: times
 * the variance it is their covariance. *freed: how many they are. False, inverse untouched: the
 * rows do not separate them.
 */
bool descent_inverse(const struct descent *d,
                     const struct descent_sums *sums,
                     const double p[],
                     double inverse[DESCENT_MAX][DESCENT_MAX],
                     size_t *freed);

#endif
