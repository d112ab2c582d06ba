#ifndef CORE_SCALING_LAWS_INTERPOLATION_H
#define CORE_SCALING_LAWS_INTERPOLATION_H

#include "core/scaling/model/law.h"

/*
 * No law: what was measured, joined by straight lines in logarithms (docs/design.md,
 * "Other kinds of models").
 *
 * The runs of one (N, m) are a cell, which stands at the weighted median of their times. The cells
 * of one problem size are a curve, ln T over ln m, linear in between. Between problem sizes
 * ln T is linear in ln N at the same m. Beyond the counts of a curve, or the sizes of all curves, T
 * continues as a power: the exponent is that of the last two places, moved towards a regression over
 * all counts or sizes, and that towards a usual exponent. Two places that are close to each other
 * count little. Of one size alone, a time at another is read off at the same N/m; more data are
 * never faster and less data never slower.
 *
 * Where it may be used: a problem size has a curve if it was seen on 2 executor counts or more, and
 * the sizes with curves hold at least half of the runs (by weight). Runs of other sizes are no part
 * of it; they are predicted and judged like any other.
 *
 * Monotone where the data are: a curve that would fall with every executor but for bumps within
 * noise (twice the standard error of each cell's median, the noise taken from repetitions, at least
 * INTERPOLATION_REPEATS more than there are cells) is replaced by the nearest falling one (pooling
 * adjacent violators: M. Ayer and others, "An empirical distribution function for sampling with
 * incomplete information", Ann. Math. Statist. 26, 1955). What rises beyond noise stays.
 *
 * Weights count in medians and in noise; seconds or relative makes no difference to them. A row is
 * left out by building the curve of its size without it, which is what a fit without it builds.
 * PV_E_SINGULAR: more than MODEL_KNOTS_MAX cells. O(n log n) and, with rows left out, O(n K) for K
 * cells; O(log K) a prediction.
 */
enum { INTERPOLATION_REPEATS = 3 };

/* Of a law whose tables have knots, as in struct model_kind. */
double interpolated_duration(const struct model_law *law, double problem_size, double executors);
size_t interpolated_turning_points(const struct model_law *law, double problem_size, double m[]);

#endif
