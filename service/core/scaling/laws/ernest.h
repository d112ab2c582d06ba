#ifndef CORE_SCALING_LAWS_ERNEST_H
#define CORE_SCALING_LAWS_ERNEST_H

#include "core/scaling/model/law.h"

/*
 * Ernest (S. Venkataraman, Z. Yang, M. Franklin, B. Recht, I. Stoica, "Ernest: Efficient
 * Performance Prediction for Large-Scale Advanced Analytics", NSDI 2016, section 3):
 *
 *     T(N, m) = a + b N/m + c ln m + d m,  all coefficients >= 0
 *
 * a serial part, a part divided among the executors, a tree of aggregations, an overhead for each
 * executor. Here T is the whole duration and the fit is exact (docs/design.md, "Other kinds of
 * models").
 */
extern const struct model_kind ernest_kind;

#endif
