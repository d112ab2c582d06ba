#ifndef CORE_SCALING_MODEL_SPEEDUP_SURFACE_H
#define CORE_SCALING_MODEL_SPEEDUP_SURFACE_H

#include "core/scaling/model/observation.h"
#include "core/scaling/model/predict.h"
#include "core/scaling/model/predicted_times.h"

/* The speedup of an application over problem size and executors. */

/*
 * The different values, ascending, at most `most` >= 2 of them: more are thinned evenly by rank,
 * the ends stay. values is sorted in place; ticks has room for `most`. Returns how many.
 */
size_t surface_ticks(double values[], size_t n, size_t most, double ticks[]);

/* The smallest configuration measured: least problem size, and the least executors seen with it
 * (n >= 1). Where (1, 1) cannot run, speedups are relative to it (USBA eqs 3.6, 3.11). */
struct surface_base {
    double problem_size;
    double executors;
};
struct surface_base surface_smallest(const struct observation rows[], size_t n);

/*
 * Times over problem size and executors: a model's, or those of another predictor at each problem
 * size, which the model continues between and beyond its executor counts
 * (core/scaling/model/predicted_times.h).
 */
struct speedup_surface {
    const struct model *model;
    struct model_spread spread;
    const struct predicted_times *predicted; /* one for each problem size of the surface and of its
                                                base */
    size_t n_predicted;                      /* 0: the model alone */
};

/* Intervals with the model's confidence. What is pointed at is borrowed. */
struct speedup_surface speedup_surface_make(const struct model *model,
                                            const struct predicted_times predicted[],
                                            size_t n_predicted);

/*
 * As model_predict. With another predictor, durations and intervals are multiplied by its factor,
 * intervals where it predicts are its own, and the speedup is T(N, 1) / T(N, m) also for a kind
 * that has a law of speedup.
 */
void surface_predict(const struct speedup_surface *surface,
                     double problem_size,
                     double executors,
                     struct model_prediction *out);

/*
 * Work per time compared with the base: (N / N0) T(N0, m0) / T(N, m); needs no time on one
 * executor. NAN where a time is unknown or not positive.
 */
double surface_relative_speedup(const struct speedup_surface *surface,
                                const struct surface_base *base,
                                double problem_size,
                                const struct model_prediction *prediction);

/* The executors in [1, most] of least duration for a problem size: a point of the ridge. */
struct best_executors {
    double executors;
    bool rising; /* `most` is the best only because it is the most */
    struct model_prediction prediction;
};
void surface_best(const struct speedup_surface *surface,
                  double problem_size,
                  double most,
                  struct best_executors *crest);

#endif
