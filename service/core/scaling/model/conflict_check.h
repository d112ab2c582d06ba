#ifndef CORE_SCALING_MODEL_CONFLICT_CHECK_H
#define CORE_SCALING_MODEL_CONFLICT_CHECK_H

#include "core/scaling/model/fit_types.h"

/* Of the same problem size, executors and context: values this many times apart contradict each
 * other, which no law and no usual noise explains. */
#define CONFLICT_FACTOR 3.0

/*
 * Warn (contradicting_observations) where rows of a fit contradict each other, with how many there
 * are and where they are furthest apart. O(n).
 */
void conflict_check(const struct model_data *data, struct model_fit *fit);

#endif
