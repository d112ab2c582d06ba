#ifndef CODEC_MODEL_LABELS_H
#define CODEC_MODEL_LABELS_H

#include "codec/model.h"

/*
 * The member "labels" of observations ({"key": "value"}, absent or null: none): contexts and their
 * numbers in request->rows. Contexts are sorted by their labels, so that the order of observations
 * does not matter. Faults: more than MODEL_CONTEXTS_MAX different sets.
 */
void codec_model_labels_decode(const struct codec_node *observations,
                               struct codec_model_fit *request);

/* The member "labels" of a point to predict at: the context of the model that has exactly these.
 * Fault: labels for a model without contexts. */
void codec_model_point_labels_decode(const struct codec_node *item,
                                     const struct model *model,
                                     struct codec_model_point *point);

#endif
