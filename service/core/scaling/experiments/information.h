#ifndef CORE_SCALING_EXPERIMENTS_INFORMATION_H
#define CORE_SCALING_EXPERIMENTS_INFORMATION_H

#include <stddef.h>

#include "core/scaling/experiments/factor_effects.h"

/*
 * What is still unknown of effects after runs: the covariance of a linear Bayesian model whose
 * effects are independent with variance 1 before any run (K. Chaloner, I. Verdinelli, "Bayesian
 * experimental design: a review", Statistical Science 10, 1995). The prior keeps it regular however
 * few runs there are: a direction that no run shows just stays at variance 1.
 */
struct information {
    size_t k;
    double covariance[EFFECTS_MAX][EFFECTS_MAX];
};

/* Nothing is known but the prior. */
struct information information_none(size_t k);

/* Variance of what the effects add up to at a point: x'Cx >= 0. */
double information_variance(const struct information *known, const double effect[]);

/* A run with these effects was seen, its noise of that variance > 0. O(k^2). */
void information_add(struct information *known, const double effect[], double noise);

#endif
