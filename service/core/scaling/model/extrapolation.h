#ifndef CORE_SCALING_MODEL_EXTRAPOLATION_H
#define CORE_SCALING_MODEL_EXTRAPOLATION_H

#include <stddef.h>

/*
 * How far a question lies from what was observed, along one axis (problem size or executors).
 *
 * What a law misses is taken to wander with the logarithm of the axis like Brownian motion, tied
 * down where runs were seen: between two neighbours at distances a and b it has the standard
 * deviation sqrt(a b / (a + b)), beyond the ends sqrt(a) - and since nothing ties it down there, a
 * law that is off goes on being off, which adds as much again for each width of the range. So an
 * error at one place, divided by the gap there, indicates the error at another.
 */
enum { GAP_VALUES_MAX = 64 };

struct gap_axis {
    double values[GAP_VALUES_MAX]; /* observed, ascending, each once */
    size_t n;
};

/* The distinct ones among n values >= 1, sorted in place; of more than GAP_VALUES_MAX so many,
 * evenly spread, with both ends. */
void gap_axis_make(double values[], size_t n, struct gap_axis *axis);

/* One more value; nothing happens where it is there already, or there is no room. */
void gap_axis_add(struct gap_axis *axis, double value);

/* 0 where x was observed (to 1 part in 10^9) or the axis is empty. */
double gap_at(const struct gap_axis *axis, double x);

/* What an error in executors counts there, by whether the time is longer or shorter than predicted:
 * 1, and more below the least count, where laws part. Of longer times twice as much: memory that
 * runs out makes times longer, never shorter. */
struct gap_weight {
    double longer;
    double shorter;
};

struct gap_weight gap_below(const struct gap_axis *executors, double x);

/* How far x lies outside a range, in widths of it; a range of one value counts as one doubling, an
 * unknown one (NAN) as everything. */
double gap_overshoot(const double range[2], double x);

#endif
