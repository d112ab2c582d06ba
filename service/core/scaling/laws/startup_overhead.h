#ifndef CORE_SCALING_LAWS_STARTUP_OVERHEAD_H
#define CORE_SCALING_LAWS_STARTUP_OVERHEAD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

/*
 * The time before the first stage (USBA eq. 3.16; docs/design.md, "USBA"):
 *
 *     t(m) = t0 q(m),  q(m) = 1 - epsilon + epsilon min(m, theta)
 *
 * with t0 >= 0, 0 <= epsilon <= 1 and 1 <= theta <= the largest m seen.
 *
 * For a given theta it is the line A + B min(m, theta) with A = t0 (1 - epsilon) >= 0 and
 * B = t0 epsilon >= 0. The sum of squares over theta is smooth between neighbouring executor
 * counts, where the best theta is where the line through the points left of it meets the mean of
 * the points right of it; so trying each count and each gap finds the least one exactly (D. J.
 * Hudson, "Fitting segmented curves whose join points have to be estimated", JASA 61, 1966).
 */
struct startup {
    double t0_s;
    double epsilon;
    double theta;
    bool saturates; /* theta lies below the largest m: the data show it */
    double variance;
    double freedom;
    /* Of t0_s, epsilon, theta, in that order; 0 where the data leave it open (theta that does not
     * show, epsilon on a bound). */
    double covariance[3][3];
};

double startup_factor(double epsilon, double theta, double m);

/*
 * times_s[i] was seen on executors[i]; weights as for linear_fit. left_out_s, n entries or NULL:
 * the time predicted for each row from all others, NAN where there is no other. PV_E_MEMORY. O(n D)
 * for D executor counts, O(n D^2) with left_out_s (beyond STARTUP_FULL counts, theta then moves to
 * a neighbouring gap at most).
 */
enum pv_code startup_fit(const double executors[],
                         const double times_s[],
                         const double weights[],
                         size_t n,
                         struct arena *scratch,
                         double left_out_s[],
                         struct startup *fit,
                         struct pv_error *err) PV_MUSTCHECK;

enum { STARTUP_FULL = 32 };

#endif
