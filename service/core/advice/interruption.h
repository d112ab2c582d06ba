#ifndef CORE_ADVICE_INTERRUPTION_H
#define CORE_ADVICE_INTERRUPTION_H

#include "base/arena.h"
#include "base/error.h"
#include "core/advice/curve.h"

/*
 * What interruptions of executors from the spot market do to a duration.
 *
 * Each of m executors is taken away by a Poisson process of rate lambda, independently of the
 * others; another takes its place at once, and all that it had done for this job is done again.
 * The work of one executor, T without interruptions, is then the classical job that starts over
 * when a failure occurs (RESTART in S. Asmussen and others, "Asymptotic behavior of total times for
 * jobs that must start over if a failure occurs", Mathematics of Operations Research 33, 2008). Its
 * total time X has, with a = lambda T,
 *
 *     E X   = (exp(a) - 1) / lambda                  = T (1 + a/2 + ...)
 *     Var X = 2 exp(a) (sinh(a) - a) / lambda^2      = T^2 a/3 + ...
 *
 * (E X solves x = int_0^T lambda e^(-lambda t) (t + x) dt + e^(-a) T; Var X likewise.) A job deals
 * the work of all its executors among them, so its duration is the mean of m such times: E X with
 * variance Var X / m. That is what a job loses whose lost output is all needed again; one that had
 * handed some of it on loses less. Starting the replacement is not counted.
 */

/* E X; duration_s > 0, interruptions_per_hour >= 0. Infinite rather than overflowing. */
double interruption_expected_s(double duration_s, double interruptions_per_hour);

/* Standard deviation of the mean of m such times, in seconds. */
double interruption_deviation_s(double duration_s, double interruptions_per_hour, double executors);

/*
 * The curve under interruptions. Medians become the expected times. In the logarithm of the time
 * the spread grows with d ln E X / d ln T, and the deviation is added as independent of it; where a
 * point has a distribution of its own, that is done in each part of it. Points at which an executor
 * would have to be replaced more than INTERRUPTION_MOST times are left out: such a job never ends.
 * single_s stays that of an executor that is not interrupted. Points in `arena`; PV_E_MEMORY.
 */
#define INTERRUPTION_MOST 20.0
enum pv_code interruption_curve(const struct curve *curve,
                                double interruptions_per_hour,
                                struct arena *arena,
                                struct curve *out,
                                struct pv_error *err) PV_MUSTCHECK;

#endif
