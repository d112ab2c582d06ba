#ifndef CORE_SIM_STATISTICS_H
#define CORE_SIM_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/*
 * Statistics of a simulation. Moments and time averages are streamed: their memory does not grow.
 * Percentiles are exact, of type 7, from samples that are kept: the largest simulations have a
 * million observations, which are 8 MB, and sketches (P2, t-digest) would cost their error without
 * need.
 */

/* --- sums --- */

/* A sum of many terms of different size, with the rounding errors summed apart (A. Neumaier,
 * "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", ZAMM 54, 1974): its
 * error does not grow with the number of terms. {0} is empty. */
struct compensated_sum {
    double sum;
    double compensation;
};

void compensated_sum_add(struct compensated_sum *sum, double term);

static inline double compensated_sum_value(const struct compensated_sum *sum)
{
    return sum->sum + sum->compensation;
}

/* --- moments --- */

/* Count, mean and variance of what was added, by Welford's recurrence: with the n-th value x the
 * mean m becomes m' = m + (x - m)/n, and the sum of squared deviations grows by (x - m)(x - m'). No
 * large squares are subtracted from each other. {0} is empty. */
struct running_moments {
    double n;
    double mean;
    double squares; /* of deviations from the mean, summed */
};

void running_moments_add(struct running_moments *moments, double value);

/* Add everything that was added to others (Chan, Golub and LeVeque, 1979). */
void running_moments_merge(struct running_moments *moments, const struct running_moments *others);

/* Unbiased; NAN for fewer than two values. */
double running_moments_variance(const struct running_moments *moments);

/* Of the mean; NAN for fewer than two values. */
double running_moments_standard_error(const struct running_moments *moments);

/* --- time averages --- */

/* The mean over time of a quantity that changes at instants, such as jobs in the system or slots in
 * use. {0} begins at time 0 with value 0. */
struct time_average {
    double began;
    double changed; /* when it last changed */
    double value;   /* since then */
    struct compensated_sum area;
};

/* From an instant on it has another value. Instants do not fall. */
void time_average_set(struct time_average *average, double at, double value);

/* The mean from its beginning to an instant not before the last change; NAN over no time. */
double time_average_until(const struct time_average *average, double at);

/* --- samples --- */

/* Values in ascending order; those that are NAN are counted and left out. */
struct sorted_sample {
    size_t n;
    size_t absent; /* NAN */
    double *ascending;
    double mean; /* NAN: there are no values */
};

/* A copy of n values, sorted, in the arena. false: out of memory. */
bool sorted_sample_make(struct sorted_sample *sample,
                        const double values[],
                        size_t n,
                        struct arena *arena);

/* The quantile of share q of the values, type 7; NAN when there are none. */
double sorted_sample_quantile(const struct sorted_sample *sample, double q);

/* The share of all, absent ones included, that is at most `limit`; NAN when there are none. */
double sorted_sample_share_within(const struct sorted_sample *sample, double limit);

#endif
