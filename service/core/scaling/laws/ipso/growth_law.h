#ifndef CORE_SCALING_LAWS_IPSO_GROWTH_LAW_H
#define CORE_SCALING_LAWS_IPSO_GROWTH_LAW_H

#include "base/arena.h"
#include "core/numerics/power_regression.h"

/*
 * How something grows with the scale-out degree: y(1) = at_one, and for n > 1
 *
 *     y(n) = offset + coefficient n^exponent.
 *
 * IPSO's internal scaling is known by its order for large n only (IPSO eq. 2.14). A merge with a
 * fixed cost and a cost per task looks to a power law like one that grows more slowly than it does;
 * therefore lines compete with powers.
 */
enum growth_form {
    GROWTH_CONSTANT, /* offset 0, exponent 0 */
    GROWTH_POWER,    /* offset 0 */
    GROWTH_LINE,     /* exponent 1 */
    GROWTH_ANCHORED, /* offset 0, and at_one is what was measured there */
    GROWTH_BENT      /* all free; only where asked for */
};

enum { GROWTH_AT_ONE, GROWTH_COEFFICIENT, GROWTH_EXPONENT, GROWTH_KNOWN };

struct growth {
    enum growth_form form;
    double at_one;
    double offset;
    double coefficient;
    double exponent;
    /* Of GROWTH_AT_ONE to GROWTH_EXPONENT; NAN where freedom is 0. */
    double covariance[GROWTH_KNOWN][GROWTH_KNOWN];
    double freedom;
    double rss;
    double bic;
};

/*
 * The form is a constant unless the exponent of the power law or the slope of the line differs from
 * 0 (95 %, Student's t; with too few rows for that: an exponent beyond 0.05); of those that grow it
 * is the one of least BIC (G. Schwarz, "Estimating the dimension of a model", Ann. Statist. 6,
 * 1978). A line must start at 0 or above.
 *
 * n >= 1 ascending, y >= 0, `rows` of each, borrowed; scratch is back at its mark. PV_E_TOO_FEW:
 * fewer than two distinct n; PV_E_MEMORY. O(rows).
 */
enum pv_code growth_fit(const double n[],
                        const double y[],
                        size_t rows,
                        struct arena *scratch,
                        struct growth *growth,
                        struct pv_error *err) PV_MUSTCHECK;

/* The same with the form given (not GROWTH_BENT), started near the one given. */
enum pv_code growth_refit(const double n[],
                          const double y[],
                          size_t rows,
                          const struct growth *near,
                          struct arena *scratch,
                          struct growth *growth,
                          struct pv_error *err) PV_MUSTCHECK;

/* GROWTH_BENT: offset, coefficient and exponent (0.05 to 4) all free. PV_E_TOO_FEW: fewer than four
 * rows or three distinct n. */
enum pv_code growth_fit_bent(const double n[],
                             const double y[],
                             size_t rows,
                             struct arena *scratch,
                             struct growth *growth,
                             struct pv_error *err) PV_MUSTCHECK;

/* Of a fit with k parameters that leaves rss. What differs by a billionth does not differ. */
double growth_bic(double rss, size_t k, const double y[], size_t rows);

/* Half of the 95 % interval of an estimate; NAN without degrees of freedom. */
double growth_reach(double variance, double freedom);

#endif
