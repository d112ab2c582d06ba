#ifndef CORE_ADVICE_INTERRUPTION_H
#define CORE_ADVICE_INTERRUPTION_H

#include "base/arena.h"
#include "base/error.h"
#include "core/advice/curve.h"
#include "core/cluster/billing.h"

/*
 * What interruptions of executors from the spot market do to a duration.
 *
 * Each of m executors is taken away by a Poisson process of rate lambda, independently of the
 * others; another takes its place, which needs s seconds to start, and all that the first had done
 * for this job is done again. The work of one executor, T without interruptions, is then the
 * classical job that starts over when a failure occurs (RESTART in S. Asmussen and others,
 * "Asymptotic behavior of total times for jobs that must start over if a failure occurs",
 * Mathematics of Operations Research 33, 2008), with a pause of s after each failure. It fails N
 * times, P(N = n) = (1 - p)^n p with p = e^(-a) and a = lambda T, each time after U_i, exponential
 * and less than T:
 *
 *     X     = T + sum over i <= N of (U_i + s)
 *     E X   = (e^a - 1) (1/lambda + s)                 = T + (e^a - 1) s + T a/2 + ...
 *     Var X = 2 e^a (sinh(a) - a) / lambda^2
 *             + 2 s e^a (e^a - 1 - a) / lambda
 *             + s^2 e^a (e^a - 1)                      = T^2 a/3 + s T a + s^2 a + ...
 *
 * (Var X = E N Var U + Var N (E U + s)^2, where E N = e^a - 1, Var N = e^a (e^a - 1) and E U =
 * 1/lambda - T/(e^a - 1); at s = 0 the first term is all of it.) A job deals the work of all its
 * executors among them, so its duration is the mean of m such times: E X with variance Var X / m.
 * Executors on one machine are taken away together, so that of k of them, spread evenly, the
 * variance is k Var X / m. That is what a job loses whose lost output is all needed again; one that
 * had handed some of it on loses less. A replacement is not taken away while it starts.
 */
struct interruptions {
    double per_hour;        /* lambda, of an executor or the machine it is on; >= 0 */
    double startup_s;       /* s; >= 0 */
    struct billing billing; /* which executors share a machine */
};

/* E X; duration_s > 0. Infinite rather than overflowing. */
double interruption_expected_s(double duration_s, const struct interruptions *terms);

/* E N: how often an executor is interrupted, on average. */
double interruption_count(double duration_s, const struct interruptions *terms);

/* Standard deviation of the mean of the times of so many executors, in seconds. */
double
interruption_deviation_s(double duration_s, const struct interruptions *terms, int64_t executors);

/*
 * The curve under interruptions. Medians become the expected times. In the logarithm of the time
 * the spread grows with d ln E X / d ln T, and the deviation is added as independent of it; where a
 * point has a distribution of its own, that is done in each part of it. The time that misses of cached
 * data may add is stretched as well. Points at which an executor would have to be replaced more than
 * INTERRUPTION_MOST times, at either level of the newest runs (curve->other) and with such misses, are
 * left out: such a job never ends.
 * single_s stays that of an executor that is not interrupted. Points in `arena`; PV_E_MEMORY.
 */
#define INTERRUPTION_MOST 20.0
enum pv_code interruption_curve(const struct curve *curve,
                                const struct interruptions *terms,
                                struct arena *arena,
                                struct curve *out,
                                struct pv_error *err) PV_MUSTCHECK;

#endif
