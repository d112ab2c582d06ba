#ifndef CODEC_MODELS_MODEL_STAGES_H
#define CODEC_MODELS_MODEL_STAGES_H

#include "codec/json/reader.h"
#include "core/scaling/model/observation.h"

/*
 * One observation of measured stages (docs/design.md, "Where the time of a run went"): {n,
 * parallel_s?, serial_s, induced_s, max_task_s?}. first: the first one of the list. Faults: unknown
 * members, types and ranges; neither parallel_s nor max_task_s; one of them where the first has
 * none, or the other way round.
 */
void codec_stage_row_decode(const struct codec_node *row,
                            const struct codec_node *first,
                            struct observation *out);

#endif
