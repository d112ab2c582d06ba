#ifndef CODEC_MODELS_MODEL_LABELS_H
#define CODEC_MODELS_MODEL_LABELS_H

#include "codec/models/model.h"

/*
 * The member "labels" of observations ({"key": "value"}, absent or null: none) and of the request,
 * which asks for a model of the runs that have all of these. With it the contexts of request->rows
 * are set: 1 for such runs; others, of which only a kind that pools learns, count from 2, one for
 * each different set of labels in the order of those. Without it runs are not told apart.
 * Faults: labels asked for that no observation has.
 */
void codec_model_labels_decode(const struct codec_node *node,
                               const struct codec_node *observations,
                               struct codec_model_fit *request);

#endif
