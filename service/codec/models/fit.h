#ifndef CODEC_MODELS_FIT_H
#define CODEC_MODELS_FIT_H

#include "base/json_writer.h"
#include "codec/json/shape.h"
#include "core/scaling/history/explaining_labels.h"
#include "core/scaling/model/fit_types.h"
#include "core/scaling/selection/selection.h"

extern const struct shape codec_observation_shape;
extern const struct shape codec_stage_observation_shape;

/* POST /v1/models/fit (docs/design.md, "USBA"). */
struct codec_model_fit {
    const struct model_kind *kind; /* NULL: auto */
    enum model_weights weights;
    struct observation *rows;
    size_t n;
    const struct run_label_list *labels; /* of each row, until the body is closed; NULL: they make
                                          * no difference */
};

/*
 * Faults: unknown members; an unknown kind, or one that is not computed (at /model); types and
 * ranges; rows that have neither or both of duration_s and speedup, or another one than the first
 * row; an initialization longer than its run; weights of speedups; seconds as weights of auto,
 * which always compares relative errors; more than `most` observations; labels asked for that
 * no observation has.
 */
void codec_model_fit_decode(const struct codec_node *node,
                            size_t most,
                            struct codec_model_fit *request);

/* The whole reply. selection: how the kind was selected, for auto; else NULL. */
void codec_model_fit_encode(struct writer *w,
                            const struct model_fit *fit,
                            const struct model_selection *selection);

#endif
