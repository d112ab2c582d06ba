#ifndef CORE_SCALING_EXPERIMENTS_PREDICTED_TIMES_H
#define CORE_SCALING_EXPERIMENTS_PREDICTED_TIMES_H

#include <stddef.h>

#include "core/scaling/experiments/factor_effects.h"

/* What another predictor than the law says of one problem size, a replay of recorded tasks, say. */
struct predicted_times {
    double problem_size;
    const double *executors;  /* ascending */
    const double *duration_s; /* > 0, one for each of them */
    size_t n;                 /* 0: nothing is predicted but by the law */
    double interval_s[2];     /* of the first point asked about; NAN: that of the law */
};

/*
 * By what the law's time on so many executors is to be multiplied, so that at the size and at the
 * counts that are predicted the product is the prediction. Between counts the logarithm of the
 * factor is linear in ln m; beyond them it is that of the nearest. It is the same for all problem
 * sizes: the law says how the time goes on from the one that is predicted.
 *
 * 1 without a prediction, and where the law has no time at the counts next to m.
 */
double predicted_times_factor(const struct predicted_times *times,
                              const struct effects_law *law,
                              double executors);

#endif
