#ifndef CORE_SCALING_MODEL_PREDICT_H
#define CORE_SCALING_MODEL_PREDICT_H

#include <math.h>

#include "core/scaling/model/law.h"

struct model_prediction {
    double duration_s;    /* <= 0: the law has left its domain; NAN: of a model of speedups */
    double speedup;       /* NAN: not defined, such as by a reference time <= 0 */
    double interval_s[2]; /* NAN: that end is open, or nothing is known */
    bool extrapolated;    /* outside the range observed */
};

/* Quantiles of a model, looked up once for many predictions. NAN: unknown. */
struct model_spread {
    double t;          /* of Student's t with the fit's degrees of freedom */
    double seen;       /* of the leave-one-out scores */
    double repetition; /* of Student's t of repetitions */
    double confidence; /* where N or m was not observed */
};

#define MODEL_NO_SPREAD ((struct model_spread){(double)NAN, (double)NAN, (double)NAN, (double)NAN})

/* Of two-sided intervals of that confidence, inside (0, 1). */
struct model_spread model_spread(const struct model *model, double confidence);

/*
 * N >= 1, m >= 1. Where N and m were observed, or nothing is known of other places, the interval is
 * the widest of three, at each end:
 *
 * - conformal: prediction times or over exp(score), from leaving runs out one at a time; outside
 *   the observed range the score counts as much again for each width of the range;
 * - of the fit: prediction +- t sqrt(g'Cg + s^2), g the gradient by the parameters, C their
 *   covariance, s the standard deviation of the residuals, t with 3 degrees of freedom more than
 *   the residuals have;
 * - of repetitions: prediction times or over exp(t r), where r^2 = 0.62^2 repetition_std^2
 *   (1 + 1/k), k runs a configuration, t with 3 degrees of freedom. This is the floor: runs that
 *   agree by chance make no interval narrower.
 *
 * Elsewhere ln T is Student's t about the prediction, or the repetitions' where that is wider, with
 *
 *     variance = (executors.std gap)^2 + (sizes.std gap)^2 + r^2
 *
 * by whole executor counts and problem sizes left out (core/scaling/model/grouped_cv.h). Longer
 * times are more likely than shorter ones below the least count that ran (gap_below), and for a
 * larger problem, where errors by size count 0.75 times as much for shorter times. If one problem size was recorded, the growth of the time
 * that executors do not share is in doubt at another size (doubt_of_size in predict.c). With one
 * executor count no run shows how far off a law may be at others: both ends are open.
 *
 * An end that is no time (not above 0, not finite) is open. Below a microsecond or so.
 */
void model_predict(const struct model *model,
                   const struct model_spread *spread,
                   double problem_size,
                   double executors,
                   struct model_prediction *prediction);

/*
 * The distribution behind that interval, of a model of durations: predictive_interval gives the
 * same ends. Borrows the model's tables. false: the law gives no time above 0 there. `predictive`
 * without parts: no run shows it.
 */
bool model_predictive(const struct model *model,
                      double problem_size,
                      double executors,
                      struct predictive *predictive);

/* The executor count in [1, most] of least duration (or highest speedup) for a problem size, by the
 * formula of the kind; usba_scaled is meant for most <= problem_size, where ln(N/m) >= 0. *rising
 * (may be NULL): it would go on getting faster beyond `most`. */
double
model_best_executors(const struct model *model, double problem_size, double most, bool *rising);

#endif
