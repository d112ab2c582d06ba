#ifndef CODEC_MODELS_REFIT_H
#define CODEC_MODELS_REFIT_H

#include "base/json_writer.h"
#include "codec/json/shape.h"
#include "core/history/warned_runs.h"
#include "core/scaling/model/fit_types.h"
#include "core/scaling/selection/selection.h"
#include "core/scaling/uncertainty/bootstrap.h"

/* POST /v1/applications/{name}/refit: what is asked, and what came of it. */

struct codec_refit_limits {
    int64_t resamples; /* where the request does not say */
    int64_t resamples_max;
    size_t points_max;
};

struct codec_refit {
    const struct model_kind *kind; /* NULL: the one that `auto` selects */
    enum model_weights weights;
    int64_t resamples;
    double confidence;
    int64_t seed;
    struct bootstrap_point *points; /* NULL: those observed */
    size_t n_points;
};

extern const struct shape codec_refit_shape;

/*
 * Faults: unknown members; an unknown kind; weights "seconds" with auto, which compares relative
 * errors; numbers out of range; points twice or more than allowed.
 */
void codec_refit_decode(const struct codec_node *node,
                        const struct codec_refit_limits *limits,
                        struct codec_refit *asked);

/* The same with all defaults filled in, as a complete value; it decodes to itself. */
void codec_refit_encode(struct writer *w, const struct codec_refit *asked);

struct codec_refit_result {
    const char *operation_id;
    int64_t refitted_us;
    const char *application;
    int64_t history_version;     /* that was fitted */
    int64_t history_version_now; /* when that was done */
    int64_t runs;                /* of the application */
    size_t used;
    const struct warned_runs *warned; /* of the runs that were used */
    const struct codec_refit *asked;
    const struct model_selection *selection;
    const struct model_fit *fit;
    const struct bootstrap_result *bootstrap; /* NULL: there is none */
    const char *no_bootstrap;                 /* why */
};

/* The result of the operation. */
void codec_refit_result_encode(struct writer *w, const struct codec_refit_result *result);

/* The part of it that the models of the application show: intervals of the parameters. */
void codec_refit_summary_encode(struct writer *w, const struct codec_refit_result *result);

#endif
