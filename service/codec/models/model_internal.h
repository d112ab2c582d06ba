#ifndef CODEC_MODELS_MODEL_INTERNAL_H
#define CODEC_MODELS_MODEL_INTERNAL_H

#include "codec/models/model.h"

/* Parts of a request for a fit, and of a model on the wire, each in a file of its own. */

/*
 * What a model needs beyond its parameters, as the member "tables" of an open object:
 *
 *     {"knots": [[problem_size, executors, duration_s], ..],
 *      "components": [{"model", "weight", "parameters": {name: number}, "knots"?}, ..]}
 *
 * Only what the kind uses (struct model_kind.tables) is there; a kind without tables has no such
 * member. Read back into the reader's arena. Faults: a table that the kind has not, or lacks one
 * that it needs; more items than the MODEL_*_MAX; knots that do not ascend by problem_size and
 * executors; components of unknown kinds or of such that combine others; parameters outside the
 * rules of their kind.
 */
void codec_model_tables_encode(struct writer *w, const struct model *model);
void codec_model_tables_decode(const struct codec_node *node, struct model *model);

/* The member "model": a kind by its name. Fault: unknown. */
const struct model_kind *codec_model_kind_decode(const struct codec_node *node);

/* The same where it may also be "auto": NULL then, as after a fault. */
const struct model_kind *codec_model_choice_decode(const struct codec_node *node, bool *automatic);

/*
 * What the intervals of a model are made of, as the member "uncertainty" of an open object; null
 * where nothing is known. Of scores (core/scaling/model/predictive.h) there are up to three tables:
 *
 *     "scores": {"seen": {"values", "levels", "spread", "degrees_of_freedom"} | null,
 *                "new_executors": ..., "new_problem_sizes": ...},
 *     "observed": {"executor_counts": [2, 4, ..], "problem_sizes": [64],
 *                  "problem_size_spreads": [[executors, spread, degrees_of_freedom], ..],
 *                  "recorded_bounds": [[problem_size, executors, least_s, most_s], ..],
 *                  "size_exponent_max": 1.5}
 *
 * Faults: unknown members and parameters; scores, levels and observed values that do not ascend;
 * levels not inside (0, 1), or not one a score.
 */
void codec_model_uncertainty_encode(struct writer *w, const struct model *model);
void codec_model_uncertainty_decode(const struct codec_node *node, struct model *model);

/* Fault: a member that is no parameter of the kind. */
void codec_model_refuse_parameters(const struct codec_node *node, const struct model_kind *kind);

#define MODEL_NUMBER_MAX 1e300

extern const struct shape codec_model_uncertainty_shape;

#endif
