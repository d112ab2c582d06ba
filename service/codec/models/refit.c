#include "codec/models/refit.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/plural.h"
#include "codec/json/finding.h"
#include "codec/models/fit.h"
#include "codec/models/model.h"
#include "codec/models/model_internal.h"

enum { RESAMPLES_MIN = 20 };

/* Shares beyond which the reader ought to know. */
static const double failed_share_reported = 0.05;
static const double selected_share_reported = 0.5;

static const char *const weights_words[] = {"seconds", "relative", NULL};

/* --- what is asked --- */

static int by_place(const void *a, const void *b)
{
    const struct bootstrap_point *x = a;
    const struct bootstrap_point *y = b;
    int order = compare_double(x->problem_size, y->problem_size);
    return order != 0 ? order : compare_double(x->executors, y->executors);
}

static void refuse_twins(const struct codec_node *node, const struct codec_refit *asked)
{
    struct bootstrap_point *sorted = codec_allocate(node, asked->n_points, sizeof *sorted);
    bool twin = false;
    for (size_t i = 0; sorted != NULL && i < asked->n_points; i++)
        sorted[i] = asked->points[i];
    if (sorted != NULL)
        qsort(sorted, asked->n_points, sizeof *sorted, by_place);
    for (size_t i = 1; sorted != NULL && i < asked->n_points; i++)
        twin = twin || by_place(&sorted[i - 1], &sorted[i]) == 0;
    if (twin)
        codec_fault_member(node, "points", "duplicate", "names a point twice");
}

static void decode_kind(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_refit *asked = object;
    bool automatic;
    (void)limits;
    if (codec_member(node, "model").json != NULL)
        asked->kind = codec_model_choice_decode(node, &automatic);
}

static void encode_kind(struct writer *w, const void *object, const void *context)
{
    const struct codec_refit *asked = object;
    (void)context;
    writer_member_string(w, "model", asked->kind == NULL ? "auto" : asked->kind->name);
}

#define B struct bootstrap_point
static const struct shape_member point_members[] = {
    {"problem_size", SHAPE_NUMBER(B, problem_size), .flags = CODEC_REQUIRED,
     .low = CODEC_PROBLEM_SIZE_MIN, .high = CODEC_PROBLEM_SIZE_MAX},
    {"executors", SHAPE_NUMBER(B, executors), .flags = CODEC_REQUIRED, .low = 1,
     .high = CODEC_COUNT_MAX},
};
static const struct shape point_shape = {SHAPE_OF(point_members, B)};

#define R struct codec_refit
#define L struct codec_refit_limits
enum { KEEP = CODEC_NULLABLE | SHAPE_KEEP };
static const struct shape_member members[] = {
    {"model", SHAPE_CODE, .decode = decode_kind, .encode = encode_kind},
    {"weights", SHAPE_WORD(R, weights, weights_words), .flags = SHAPE_KEEP},
    {"resamples", SHAPE_COUNT(R, resamples), .flags = KEEP, .least = RESAMPLES_MIN,
     SHAPE_LIMIT(L, resamples_max)},
    {"confidence", SHAPE_NUMBER(R, confidence), .flags = KEEP, .low = 0.5, .high = 0.999},
    {"seed", SHAPE_COUNT(R, seed), .flags = KEEP, .most = CODEC_SEED_MAX},
    {"points", SHAPE_OBJECTS(R, points, n_points, &point_shape), .flags = KEEP,
     SHAPE_LIMIT(L, points_max)},
};
const struct shape codec_refit_shape = {.request = "RefitRequest", SHAPE_OF(members, R)};

void codec_refit_decode(const struct codec_node *node,
                        const struct codec_refit_limits *limits,
                        struct codec_refit *asked)
{
    *asked = (struct codec_refit){
        .weights = MODEL_RELATIVE, .resamples = limits->resamples, .confidence = 0.95, .seed = 1};
    shape_decode(node, &codec_refit_shape, limits, asked);
    if (node->reader->err->n_faults > 0)
        return;
    if (asked->weights == MODEL_SECONDS && asked->kind == NULL)
        codec_fault_member(node, "weights", "conflict",
                           "auto compares relative errors: name a model, or leave them relative");
    refuse_twins(node, asked);
}

void codec_refit_encode(struct writer *w, const struct codec_refit *asked)
{
    shape_encode(w, &codec_refit_shape, asked, 0, NULL);
}

/* --- what came of it --- */

static void encode_parameters(struct writer *w, const struct bootstrap_result *bootstrap)
{
    const struct model_kind *kind = bootstrap->fit->model.kind;
    writer_member_object(w, "parameters");
    for (size_t j = 0; j < kind->n_parameters; j++) {
        const struct bootstrap_figure *figure = &bootstrap->parameters[j];
        if (isnan(figure->estimate))
            continue;
        writer_member_object(w, kind->rules[j].name);
        writer_member_number(w, "estimate", figure->estimate);
        writer_member_number(w, "std_error", figure->std_error);
        writer_member_pair(w, "interval", figure->interval);
        writer_end_object(w);
    }
    writer_end_object(w);
}

static void encode_predictions(struct writer *w, const struct bootstrap_result *bootstrap)
{
    writer_member_array(w, "predictions");
    for (size_t k = 0; k < bootstrap->n_predictions; k++) {
        const struct bootstrap_prediction *there = &bootstrap->predictions[k];
        writer_begin_object(w);
        writer_member_number(w, "problem_size", there->point.problem_size);
        writer_member_number(w, "executors", there->point.executors);
        writer_member_number(w, "duration_s", there->expected.estimate);
        writer_member_number(w, "std_error_s", there->expected.std_error);
        writer_member_pair(w, "mean_interval_s", there->expected.interval);
        writer_member_pair(w, "interval_s", there->next_run);
        writer_end_object(w);
    }
    writer_end_array(w);
}

static void
encode_bootstrap(struct writer *w, const struct codec_refit_result *result, bool with_predictions)
{
    const struct bootstrap_result *bootstrap = result->bootstrap;
    if (!writer_member_object_or_null(w, "bootstrap", bootstrap != NULL))
        return;
    writer_member_string(w, "method", resample_method_name(bootstrap->method));
    writer_member_number(w, "confidence", result->asked->confidence);
    writer_member_integer(w, "seed", result->asked->seed);
    writer_member_integer(w, "resamples", (int64_t)bootstrap->resamples);
    writer_member_integer(w, "failed", (int64_t)bootstrap->failed);
    writer_member_integer(w, "configurations", (int64_t)bootstrap->cells);
    writer_member_boolean(w, "configuration_errors", bootstrap->cell_errors);
    writer_member_number(w, "degrees_of_freedom", bootstrap->freedom);
    encode_parameters(w, bootstrap);
    if (with_predictions)
        encode_predictions(w, bootstrap);
    writer_end_object(w);
}

static void encode_stability(struct writer *w, const struct bootstrap_result *bootstrap)
{
    if (!writer_member_object_or_null(w, "selection_stability",
                                      bootstrap != NULL && bootstrap->selections > 0))
        return;
    writer_member_integer(w, "selections", (int64_t)bootstrap->selections);
    writer_member_integer(w, "configurations_left_out", (int64_t)bootstrap->left_out);
    writer_member_integer(w, "undecided", (int64_t)bootstrap->undecided);
    writer_member_array(w, "models");
    for (size_t k = 0; k < bootstrap->n_choices; k++) {
        const struct bootstrap_choice *choice = &bootstrap->choices[k];
        writer_begin_object(w);
        writer_member_string(w, "model", choice->kind->name);
        writer_member_integer(w, "times", (int64_t)choice->times);
        writer_member_number(w, "share", (double)choice->times / (double)bootstrap->selections);
        writer_end_object(w);
    }
    writer_end_array(w);
    writer_end_object(w);
}

static double share_of_kind(const struct bootstrap_result *bootstrap, const struct model_kind *kind)
{
    for (size_t k = 0; k < bootstrap->n_choices; k++)
        if (bootstrap->choices[k].kind == kind)
            return (double)bootstrap->choices[k].times / (double)bootstrap->selections;
    return 0;
}

static void warn_of_bootstrap(const struct codec_refit_result *result, struct findings *warnings)
{
    const struct bootstrap_result *bootstrap = result->bootstrap;
    const struct model_kind *kind = bootstrap->fit->model.kind;
    if ((double)bootstrap->failed > failed_share_reported * (double)bootstrap->resamples)
        finding_count(
            finding_add(warnings, "resamples_failed",
                        "%s could not be fitted to %zu of %zu resample%s: the history hardly "
                        "determines it, and intervals speak of the others only",
                        kind->name, bootstrap->failed, bootstrap->resamples,
                        PLURAL(bootstrap->resamples)),
            bootstrap->failed);
    if (result->asked->kind != NULL || bootstrap->selections == 0)
        return;
    double share = share_of_kind(bootstrap, kind);
    if (share < selected_share_reported)
        finding_number(
            finding_add(warnings, "selection_unstable",
                        "%s is selected in %.0f %% of histories that lack %zu of the %zu "
                        "configuration%s: which kind is best is not settled",
                        kind->name, 100 * share, bootstrap->left_out, bootstrap->cells,
                        PLURAL(bootstrap->cells)),
            "share", share);
}

static void refit_encode_warnings(struct writer *w, const struct codec_refit_result *result)
{
    struct findings warnings = {.arena = w->arena};
    if (result->bootstrap == NULL)
        (void)finding_add(&warnings, "no_bootstrap", "%s", result->no_bootstrap);
    else
        warn_of_bootstrap(result, &warnings);
    if (result->history_version_now != result->history_version)
        (void)finding_add(&warnings, "history_changed",
                          "runs were added or deleted meanwhile: this reply is of history_version, "
                          "which is no longer the newest");
    warned_runs_explain(result->warned, false, &warnings);
    codec_findings_encode(w, "warnings", &warnings);
}

static void encode_selection(struct writer *w, const struct model_selection *selection)
{
    writer_member_object(w, "selection");
    writer_member_string(w, "selected_model",
                         selection->selected == NULL ? NULL : selection->selected->kind->name);
    struct findings reasons = {.arena = w->arena};
    (void)finding_add(&reasons, selection->code, "%s", selection->message);
    codec_findings_encode(w, "reasons", &reasons);
    writer_end_object(w);
}

void codec_refit_result_encode(struct writer *w, const struct codec_refit_result *result)
{
    writer_begin_object(w);
    writer_member_string(w, "application", result->application);
    writer_member_integer(w, "history_version", result->history_version);
    writer_member_integer(w, "history_version_now", result->history_version_now);
    writer_member_integer(w, "runs", result->runs);
    writer_member_integer(w, "runs_used", (int64_t)result->used);
    writer_member_string(w, "weights", weights_words[result->asked->weights == MODEL_RELATIVE]);
    encode_selection(w, result->selection);
    writer_key(w, "fitted_model");
    codec_model_fit_encode(w, result->fit, NULL);
    encode_bootstrap(w, result, true);
    encode_stability(w, result->bootstrap);
    refit_encode_warnings(w, result);
    writer_end_object(w);
}

void codec_refit_summary_encode(struct writer *w, const struct codec_refit_result *result)
{
    writer_begin_object(w);
    writer_member_string(w, "operation", result->operation_id);
    writer_member_instant(w, "refitted_at", result->refitted_us);
    writer_member_string(w, "model", result->fit->model.kind->name);
    writer_member_string(w, "weights", weights_words[result->asked->weights == MODEL_RELATIVE]);
    encode_bootstrap(w, result, false);
    encode_stability(w, result->bootstrap);
    writer_end_object(w);
}
