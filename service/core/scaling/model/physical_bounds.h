#ifndef CORE_SCALING_MODEL_PHYSICAL_BOUNDS_H
#define CORE_SCALING_MODEL_PHYSICAL_BOUNDS_H

#include "core/scaling/model/fit_types.h"

/*
 * Predictions of models of durations: the time of the law for problem size N on m executors,
 * corrected by rules that hold for every application.
 *
 * 1. One size N0 was recorded, another is asked for. The part of the time that executors do not
 *    share grows like a root:
 *
 *        T(N, m) = law(N, m) + rest(m) ((N/N0)^0.4 - 1)
 *
 *    `rest` is law(N0, infinity). Of a law with a best executor count it is law(N0, m) (1 - s), where
 *    s = -d ln T / d ln m at (N0, m) is within [0, 1]. The exponent was chosen on public histories
 *    (docs/accuracy.md). Of a law that says nothing of another size (model_kind.size_use) the shared
 *    part grows like N; so it does for a law without N beyond several sizes.
 * 2. Beyond the recorded sizes, with the nearest one S: the time does not fall with N, and
 *    T(N, m) / T(S, m) is at most N/S to the power of `size_exponent`. Below the recorded sizes the
 *    same holds with the sides swapped.
 * 3. Weak scaling: kN on jm executors, 1 <= j <= k, are not faster than a recorded run of N on m. If
 *    j exceeds k by up to a tenth, T is at least the recorded time times (k/j)^size_exponent. The
 *    same holds with the sides swapped: T is at most what a recorded run of more data shows. At the
 *    recorded size itself the law answers, and a bound counts in full from a tenth more data on.
 *
 * `size_exponent` is the upper limit of a regression of ln T on ln N and ln m over all recorded
 * (N, m), one value for each size, with a prior of 1 +- 0.5. It is from 1 to 3.
 *
 * A law with a speedup of its own, S(N, m), is bounded by the same rules. With c = T / law(N, m),
 *
 *        S(N, m) = law's S(N, m) c(N, 1) / c(N, m)
 *
 * Recorded times are medians of their (N, m). Where recorded medians contradict the third rule, the
 * lower bound of a pair is what the fastest of the contradicting pairs allows, and the upper bound
 * what the slowest of them allows. No bound contradicts a recorded median.
 */

enum { RECORDED_MAX = 256 }; /* pairs (N, m) that a model keeps; of more so many, evenly spread */

/* Sets u->recorded, u->n_recorded and u->size_exponent from the rows of a fit to durations, whose
 * sizes are known. They lie in the arena. PV_E_MEMORY. */
enum pv_code physical_bounds_find(const struct model_data *data,
                                  struct arena *arena,
                                  struct model_uncertainty *u,
                                  struct pv_error *err) PV_MUSTCHECK;

/* The share of law(N, m) that executors do not share, within [0, 1]. NAN: the law gives no time
 * above 0 there. */
double physical_bounds_rest(const struct model_law *law, double problem_size, double executors);

/* Factor by which the rules correct the time of the law; 1 if the law gives no time above 0, or if the
 * model is not of durations. */
double model_correction(const struct model *model, double problem_size, double executors);

/* Duration in seconds, of a model of durations. Without recorded runs it is the time of the law; so
 * it is where the law gives no time above 0. */
double model_duration(const struct model *model, double problem_size, double executors);

#endif
