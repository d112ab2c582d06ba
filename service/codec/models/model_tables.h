#ifndef CODEC_MODELS_MODEL_TABLES_H
#define CODEC_MODELS_MODEL_TABLES_H

#include "base/json_writer.h"
#include "codec/json/reader.h"
#include "core/scaling/model/law.h"

/*
 * What a model needs beyond its parameters, as the member "tables" of an open object:
 *
 *     {"knots": [[problem_size, executors, duration_s], ..],
 *      "components": [{"model", "weight", "parameters": {name: number}, "knots"?}, ..]}
 *
 * Only what the kind uses (struct model_kind.tables) is there; a kind without tables has no such
 * member.
 */
void codec_model_tables_encode(struct writer *w, const struct model *model);

/*
 * The same read back into the reader's arena. Faults: a table that the kind has not, or lacks one
 * that it needs; more items than the MODEL_*_MAX; knots that do not ascend by problem_size and
 * executors; components of unknown kinds or of such that combine others; parameters outside the
 * rules of their kind.
 */
void codec_model_tables_decode(const struct codec_node *node, struct model *model);

/* The member "model": a kind by its name. Fault: unknown. */
const struct model_kind *codec_model_kind_decode(const struct codec_node *node);

/* The same where it may also be "auto": NULL then, as after a fault. */
const struct model_kind *codec_model_choice_decode(const struct codec_node *node, bool *automatic);

#endif
