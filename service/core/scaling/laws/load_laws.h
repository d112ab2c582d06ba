#ifndef CORE_SCALING_LAWS_LOAD_LAWS_H
#define CORE_SCALING_LAWS_LOAD_LAWS_H

#include "core/scaling/model/fit_types.h"

/*
 * Laws of the load of an executor: a fixed time, a time that grows with the data, and a time that
 * executors share. They differ in how it is shared:
 *
 *     load_per_executor  T(N, m) = fixed + grows N + shared N / m
 *     power_law          T(N, m) = fixed + grows N + shared N / m^exponent
 *     memory_spill       T(N, m) = fixed + grows N + shared N / m + spill N / m^2
 *     memory_cliff       T(N, m) = fixed + grows N + shared N / m + excess N where m < below
 *
 * `load_per_executor` is Amdahl's law (AFIPS 1967) for more than one problem size. The others say
 * what public histories show and it cannot: work that divides better or worse than evenly; data
 * that no longer fit in memory and are read again and again the fuller an executor is; and a sudden
 * loss below some executor count, where a cache no longer holds them (the step-wise IN(n) of IPSO,
 * docs/design.md, "Speedup laws and IPSO"). All coefficients are >= 0, so that none of them ever
 * promises a time below 0.
 *
 * Least squares by the weights asked for. The shape (exponent: quarters from 1/4 to 3; below:
 * between two executor counts that were seen, with at least two above) is tried out: few runs
 * determine it no finer. Of shapes that fit alike the plainest is taken. With one problem size,
 * `grows` is 0: it cannot be separated from `fixed`. A run left out is left out of the choice of
 * shape, too.
 *
 * PV_E_TOO_FEW, PV_E_SINGULAR: fewer than two executor counts.
 */

#endif
