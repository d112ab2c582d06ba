#ifndef CODEC_MODELS_FITTED_MODEL_H
#define CODEC_MODELS_FITTED_MODEL_H

#include "codec/models/model.h"
#include "core/scaling/history/history_models.h"

/* The models of an application's history (GET .../models, .../speedup). */

/* Null where labels make no difference. */
void codec_label_group_encode(struct writer *w,
                              const struct label_group *group,
                              const char *message);

/* The whole reply: every candidate, which is selected and why. */
void codec_history_models_encode(struct writer *w,
                                 struct strview application,
                                 const struct history_models *models);

/* {"selected", "reason", "candidates"}: the same of a selection alone. */
void codec_model_selection_encode(struct writer *w, const struct model_selection *selection);

/* What the reply says of one kind, read back; kind NULL: the one selected. */
struct codec_history_model {
    bool fitted;
    bool of_context; /* for runs of one context, not of all labels */
    struct model model;
    const char *why;                 /* where the kind was not fitted */
    const struct model_kind *single; /* the best that is one law of the own runs; NULL: none */
    struct surface_base smallest;
    struct history_axes axes;
    struct warned_runs warned; /* of the runs that the models are for */
};
void codec_history_model_decode(const struct codec_node *document,
                                const struct model_kind *kind,
                                struct codec_history_model *model);

/* GET .../speedup. */
struct codec_speedup {
    struct strview application;
    int64_t history_version;
    const char *predictor; /* "replay", or the kind of model; of all points */
    bool selected;         /* the predictor without the parameter `model` */
    const struct speedup_surface *surface;
    const struct surface_base *smallest;
    const double *problem_sizes;
    size_t n_sizes;
    const double *executors;
    size_t n_executors;
    double executors_max;             /* of the ridge */
    const struct warned_runs *warned; /* of the runs that the points are predicted from */
};

/* Computes each point as it is written. */
void codec_speedup_encode(struct writer *w, const struct codec_speedup *speedup);

#endif
