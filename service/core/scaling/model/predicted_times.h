#ifndef CORE_SCALING_MODEL_PREDICTED_TIMES_H
#define CORE_SCALING_MODEL_PREDICTED_TIMES_H

#include <stddef.h>

/* What another predictor than a law says of one problem size, a replay of recorded tasks, say. */
struct predicted_times {
    double problem_size;
    const double *executors;        /* ascending */
    const double *duration_s;       /* > 0, one for each of them */
    const double (*intervals_s)[2]; /* likewise; upper end NAN: unknown. NULL: of none */
    size_t n;                       /* 0: nothing is predicted but by the law */
};

/* The time of a law; <= 0 or NAN: it has none there. */
typedef double law_time(const void *law, double problem_size, double executors);

/*
 * By what the law's time on so many executors is to be multiplied, so that at the size and at the
 * counts that are predicted the product is the prediction. Between counts the logarithm of the
 * factor is linear in ln m; beyond them it is that of the nearest. It is the same for all problem
 * sizes: the law says how the time goes on from the one that is predicted.
 *
 * 1 without a prediction, and where the law has no time at the counts next to m.
 */
double predicted_times_factor(const struct predicted_times *times,
                              law_time *time_of,
                              const void *law,
                              double executors);

/* The predicted interval, whose lower end may be NAN (open); NULL: none is predicted there,
 * or it is unknown. */
const double *predicted_times_interval(const struct predicted_times *times,
                                       double problem_size,
                                       double executors);

#endif
