#ifndef CORE_ADVICE_REPLAY_CURVE_H
#define CORE_ADVICE_REPLAY_CURVE_H

#include "core/advice/curve.h"
#include "core/advice/replay.h"

/*
 * The predicted duration over the number of executors, from the replays of several recorded runs.
 *
 * Every run predicts every executor count; their logarithms are averaged with weights that fall
 * with the squared distance between configurations,
 *
 *     distance(run, target) = |ln N/N_run| + |ln K/K_run| / 2        (K = m c cores)
 *
 * since a replay carries over better between cores (where it knows the graph) than between sizes.
 * Cores beyond the tasks of the largest stage do not count in K.
 * The spread comes from leaving one run out at a time, relearning the laws without it, and
 * predicting it from the others: residual e = ln(actual / predicted), made comparable by
 * dividing by 1 + the distance to the nearest run that remained. With a weak prior (three runs'
 * worth of 10 %) ln T is Student-t with 3 + (residuals) degrees of freedom, its scale growing
 * by the same factor 1 + distance: few runs, or far ones, give wide intervals and a single run
 * gives the prior alone.
 *
 * Outside the runs' sizes the exponent of growth is in doubt, too: by CURVE_GROWTH_DEVIATION with
 * one size, by what a regression over all sizes of the runs leaves with several. There the scale is
 * hypot(scale x (1 + distance - beyond), deviation x beyond), with beyond = |ln(N / nearest size)|.
 *
 * Physics bounds the prediction: N times k on at most k times the task slots of a recorded run, and on
 * at least as many as it had, takes no less than that run did. Sizes closer than CURVE_GROWN bound
 * nothing, nor do runs that count less than half or whose executors came and went by dynamic
 * allocation. Runs of one configuration bound by their mean until k is CURVE_WELL_GROWN, because their
 * noise is larger than such growth.
 *
 * Where the runs leave open whether stages follow the machines (stage_law.h), the distribution is
 * the mixture of both replays.
 */

#define CURVE_GROWTH_DEVIATION 0.16 /* of the exponent, if all runs had one size */
#define CURVE_WELL_GROWN 1.5        /* ratio of sizes at which growth exceeds noise */

/* The distance above, >= 0. */
double replay_curve_distance(const struct replay *replay, const struct replay_target *target);

/*
 * runs     n >= 1, any order; borrowed during the call. Those that replay_prepare refuses are
 *          passed over and counted.
 * arena    holds curve->points; scratch is back at its mark.
 * PV_E_TOO_FEW: no run can be replayed; detail says what the first one lacks. PV_E_LIMIT: not even
 * the nearest run's replays fit the budget. PV_E_MEMORY. One input has one answer. O(sum of
 * simulated tasks x log K).
 */
enum pv_code replay_curve_make(const struct run runs[],
                               size_t n,
                               const struct curve_question *question,
                               struct arena *arena,
                               struct arena *scratch,
                               struct curve *curve,
                               struct pv_error *err) PV_MUSTCHECK;

#endif
