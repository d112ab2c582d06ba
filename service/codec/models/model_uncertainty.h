#ifndef CODEC_MODELS_MODEL_UNCERTAINTY_H
#define CODEC_MODELS_MODEL_UNCERTAINTY_H

#include "base/json_writer.h"
#include "codec/json/reader.h"
#include "core/scaling/model/law.h"

/*
 * What the intervals of a model are made of, as the member "uncertainty" of an open object; null
 * where nothing is known. Of scores (core/scaling/model/predictive.h) there are up to three tables:
 *
 *     "scores": {"seen": {"scores", "levels", "spread", "degrees_of_freedom"} | null,
 *                "new_executors": ..., "new_problem_sizes": ...},
 *     "observed": {"executors": [2, 4, ..], "problem_sizes": [64]}
 */
void codec_model_uncertainty_encode(struct writer *w, const struct model *model);

/* The same read back. Faults: unknown members and parameters; scores, levels and observed values
 * that do not ascend; levels not inside (0, 1), or not one a score. */
void codec_model_uncertainty_decode(const struct codec_node *node, struct model *model);

/* Fault: a member that is no parameter of the kind. */
void codec_model_refuse_parameters(const struct codec_node *node, const struct model_kind *kind);

/* Member: an interval whose open ends are null. */
void codec_model_pair_encode(struct writer *w, const char *key, const double pair[2]);

#endif
