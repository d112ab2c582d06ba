#ifndef CORE_SCALING_MODEL_INTERVAL_H
#define CORE_SCALING_MODEL_INTERVAL_H

#include "core/scaling/model/model.h"

/* |ln(actual / predicted)|; a prediction below a thousandth of what came counts as that, so that a
 * fit that goes below zero does not make every interval endless. */
double interval_score(double actual, double predicted);

#endif
