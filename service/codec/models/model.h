#ifndef CODEC_MODELS_MODEL_H
#define CODEC_MODELS_MODEL_H

#include "base/json_writer.h"
#include "codec/json/shape.h"
#include "core/scaling/model/fit_types.h"
#include "core/scaling/model/predict.h"
#include "core/scaling/uncertainty/bootstrap.h"

extern const struct shape codec_model_parameter_shape;
extern const struct shape codec_model_point_shape;

/* The members "fit", "scaling_type", "peak", "findings" and "warnings" of a reply: how good it
 * is and what it says. */
void codec_model_quality_encode(struct writer *w, const struct model_fit *fit);

/* The members "model", "parameters", "tables" (where the kind has any), "reference" and
 * "uncertainty", which make up a stored model and part of a fit's reply; inside an open object. */
void codec_model_encode(struct writer *w, const struct model *model);

/* The same read back: reference may be absent. Faults: unknown members of parameters and
 * uncertainty, missing parameters, estimates outside the rules of the kind. The members themselves
 * are checked by the caller, who knows what else there may be. */
void codec_model_decode(const struct codec_node *node, struct model *model);

/* POST /v1/models/predict. */
struct codec_model_predict {
    struct model model;
    struct bootstrap_point *points;
    size_t n;
};

void codec_model_predict_decode(const struct codec_node *node,
                                size_t most,
                                struct codec_model_predict *request);

/* One item of "predictions". */
void codec_model_prediction_encode(struct writer *w,
                                   const struct model *model,
                                   const struct bootstrap_point *point,
                                   const struct model_prediction *prediction);

/* Member "interval_s": null where nothing is known of errors, else two ends; an open one is null.
 */
void codec_model_interval_encode(struct writer *w,
                                 const struct model *model,
                                 const struct model_prediction *prediction);

#endif
