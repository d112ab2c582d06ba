#ifndef CORE_SCALING_EXPERIMENTS_PREDICTED_TIMES_H
#define CORE_SCALING_EXPERIMENTS_PREDICTED_TIMES_H

#include <stddef.h>

#include "core/scaling/experiments/factor_effects.h"

/* What another predictor than the law says of some problem sizes, a replay of recorded tasks, say.
 */

struct predicted_curve {
    const double *executors;  /* ascending */
    const double *duration_s; /* > 0, one for each of them */
    size_t n;                 /* >= 1 */
};

struct predicted_times {
    const double *problem_sizes; /* ascending */
    const struct predicted_curve *curves;
    size_t n;             /* 0: nothing is predicted but by the law */
    double interval_s[2]; /* of the first point asked about; NAN: that of the law */
};

/*
 * By what the law's time at (N, m) is to be multiplied, so that where there is a prediction the
 * product is that. Between them the logarithm of the factor is linear in ln m, then in ln N; beyond
 * them it is that of the nearest. So the law only says how the time goes on from what is predicted.
 *
 * 1 without curves, and where the law has no time at the points between which (N, m) lies.
 */
double predicted_times_factor(const struct predicted_times *times,
                              const struct effects_law *law,
                              double problem_size,
                              double executors);

#endif
