#ifndef CORE_SCALING_UNCERTAINTY_BCA_H
#define CORE_SCALING_UNCERTAINTY_BCA_H

#include <stddef.h>

/*
 * Intervals from bootstrap replications by BCa, bias corrected and accelerated (B. Efron, "Better
 * bootstrap confidence intervals", JASA 82, 1987): percentiles whose levels are shifted by how the
 * replications lie about the estimate and by how its spread changes with its value.
 *
 * Percentiles are too narrow for few observations, by what separates Student's t from the normal
 * law. The levels are therefore taken from t (T. C. Hesterberg, "What teachers should know about
 * the bootstrap", The American Statistician 69(4), 2015, expanded percentiles). An end whose level
 * lies beyond the replications there are is estimate +- t standard errors, or the outermost
 * replication if that lies further out.
 */

struct bca {
    double std_error;   /* standard deviation of the replications; NAN below two */
    double interval[2]; /* NAN: unknown */
};

/*
 * replications  n of them, sorted in place; NAN ones are passed over
 * acceleration  bca_acceleration
 * t             half the width of the interval in standard errors, > 0
 *
 * O(n log n).
 */
struct bca
bca_interval(double replications[], size_t n, double estimate, double acceleration, double t);

/* Of a draw that has no estimate to be biased, such as the time of one more run: expanded
 * percentiles. */
struct bca bca_percentiles(double draws[], size_t n, double t);

/* From the estimates without one part of the data each; 0 where fewer than 3 are numbers, or all
 * alike. */
double bca_acceleration(const double left_out[], size_t n);

#endif
