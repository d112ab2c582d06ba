#ifndef CODEC_MODELS_FITTED_MODEL_H
#define CODEC_MODELS_FITTED_MODEL_H

#include "codec/models/drift.h"
#include "codec/models/model.h"
#include "core/scaling/model/law.h"
#include "core/scaling/model/speedup_surface.h"
#include "core/scaling/selection/contexts.h"
#include "core/scaling/selection/selection.h"

/* The models of an application's history (GET .../models, .../speedup). */

enum { HISTORY_MODEL_SIZES_MAX = 8, HISTORY_MODEL_EXECUTORS_MAX = 12 };

/* Values of an axis where none are asked for: what was observed, thinned. */
struct codec_history_axes {
    double problem_sizes[HISTORY_MODEL_SIZES_MAX];
    size_t n_sizes;
    double executors[HISTORY_MODEL_EXECUTORS_MAX];
    size_t n_executors;
};

/* The runs that models are for, where labels make a difference. */
struct codec_history_context {
    const struct strview *keys; /* that explain the time */
    size_t n_keys;
    const struct context_labels *labels; /* of a run of the context */
    size_t contexts;                     /* that the runs fall into */
    size_t runs;                         /* of this one */
    bool asked;                          /* rather than that of the latest run */
    bool ignored;                        /* it had too few runs: models are for all contexts */
};

struct codec_history_models {
    struct strview application;
    int64_t history_version;
    int64_t runs;
    size_t looked_at;
    size_t used;
    size_t failed;
    size_t without_problem_size;
    size_t without_executors;
    size_t without_duration;
    struct surface_base smallest; /* where used > 0 */
    struct codec_history_axes axes;
    struct codec_history_context context; /* n_keys == 0: labels make none */
    const struct model_selection *selection;
    const struct codec_watch *watch;
};

/* Null where labels make no difference. */
void codec_history_context_encode(struct writer *w,
                                  const struct codec_history_context *context,
                                  const char *message);

/* The whole reply: every candidate, which is selected and why. */
void codec_history_models_encode(struct writer *w, const struct codec_history_models *models);

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
    struct codec_history_axes axes;
};
void codec_history_model_decode(const struct codec_node *document,
                                const struct model_kind *kind,
                                struct codec_history_model *model);

/* GET .../speedup. */
struct codec_speedup {
    struct strview application;
    int64_t history_version;
    bool selected; /* rather than asked for */
    const struct model *model;
    const struct surface_base *smallest;
    const double *problem_sizes;
    size_t n_sizes;
    const double *executors;
    size_t n_executors;
    double executors_max; /* of the ridge */
};

/* Computes each point as it is written. */
void codec_speedup_encode(struct writer *w, const struct codec_speedup *speedup);

#endif
