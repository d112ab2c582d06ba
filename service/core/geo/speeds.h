#ifndef CORE_GEO_SPEEDS_H
#define CORE_GEO_SPEEDS_H

#include <stddef.h>

/*
 * A discrete distribution of a speed, in bytes per second: what a cluster makes of an operation,
 * what a link carries, what a copy of a task comes to.
 *
 * Values rise strictly. Sums, minima and maxima are taken on the merged grid of both values through
 * the distribution functions; nothing enumerates combinations of more than two distributions. What
 * has more than SPEEDS_POINTS_MAX points is compressed: values are gathered in that many bins of
 * equal width and each bin becomes its own mean, so the mean stays exact and no value moves by more
 * than a bin.
 */
enum { SPEEDS_POINTS_MAX = 32 };

struct speeds {
    size_t n; /* 0: unknown */
    double mean;
    double variance;
    double value[SPEEDS_POINTS_MAX];
    double probability[SPEEDS_POINTS_MAX]; /* > 0, adding up to 1 */
};

struct speed_point {
    double value;
    double probability;
};

/*
 * Of n pairs in any order, which are reordered: equal values are joined, those of probability 0
 * dropped, more than SPEEDS_POINTS_MAX compressed, and the probabilities scaled to add up to 1 (the
 * caller has checked that they nearly do). n 0: unknown.
 */
void speeds_make(struct speed_point points[], size_t n, struct speeds *made);

/* Of the sum of two independent speeds. made may be neither of them. */
void speeds_add(const struct speeds *a, const struct speeds *b, struct speeds *made);

/* Of the speed times a factor > 0. */
void speeds_scale(struct speeds *speeds, double factor);

/* Of the lesser of two independent speeds, of the greater one. made may be neither of them. */
void speeds_min(const struct speeds *a, const struct speeds *b, struct speeds *made);
void speeds_max(const struct speeds *a, const struct speeds *b, struct speeds *made);

/* Their expectations alone, in O(points). */
double speeds_min_mean(const struct speeds *a, const struct speeds *b);
double speeds_max_mean(const struct speeds *a, const struct speeds *b);

/* No less than the mean of the greater one, from means and variances alone: max(X, Y) is
 * (X + Y + |X - Y|)/2, and E|X - Y| is at most the root of E(X - Y)^2. */
double speeds_max_upper_bound(double mean_a, double variance_a, double mean_b, double variance_b);

#endif
