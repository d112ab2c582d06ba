#ifndef CORE_SCALING_LAWS_POOLED_H
#define CORE_SCALING_LAWS_POOLED_H

#include "core/scaling/model/law.h"

/*
 * What runs with other labels show of the runs asked about (docs/design.md, "Other kinds of
 * models").
 *
 * Over executors, ln T of the runs of one context (observation.context: a set of labels) and
 * problem size is a curve, given by its heights at the executor counts that were seen (ticks;
 * straight lines in ln m between them). The curves of an application are drawn from one normal
 * distribution: a mean that may rise with ln N, tick by tick, and a covariance that says how
 * heights go together - how much a whole curve lies higher, how sharply it falls at few executors,
 * and what of it is seen in advance at others. Both are estimated from all contexts (N. M. Laird
 * and J. H. Ware, "Random-effects models for longitudinal data", Biometrics 38, 1982, by EM). The
 * prediction is the curve of the own context given its runs; where it has few, it leans on the
 * others.
 *
 * Runs of one cell (context, N, m) count by their mean; their scatter is the noise. The covariance
 * starts from as many pseudo-curves as there are ticks, of a fiftieth of the variance, independent.
 * Errors with runs left out keep mean and covariance.
 *
 * The model holds the own curves as knots (as core/scaling/laws/interpolation.h reads them), so
 * that predicting needs no other run; where the own runs have one problem size, a second curve, of
 * twice the size, carries what the others show of sizes.
 *
 * PV_E_TOO_FEW: fewer than POOLED_CURVES curves of other contexts. PV_E_SINGULAR: one executor
 * count. PV_E_MEMORY. O((curves + cells) ticks^2), and O(cells of a curve ticks^2) for each own run.
 */
enum { POOLED_CURVES = 3, POOLED_TICKS = 12 };

extern const struct model_kind pooled_kind;

#endif
