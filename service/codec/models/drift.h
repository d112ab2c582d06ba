#ifndef CODEC_MODELS_DRIFT_H
#define CODEC_MODELS_DRIFT_H

#include "base/json_writer.h"
#include "core/scaling/history/history_drift.h"

/* Whether an application has drifted, and which of its runs count less (GET .../models, the event
 * model.drifted). */

/* The members "drift", "down_weighted" and "down_weighted_count" of an open object. */
void codec_drift_encode(struct writer *w, const struct history_drift *found);

/* The data of the event model.drifted. */
void codec_drift_event_encode(struct writer *w,
                              struct strview application,
                              int64_t history_version,
                              const struct history_drift *found);

#endif
