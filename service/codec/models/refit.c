#include "codec/models/refit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "codec/json/finding.h"
#include "codec/models/fit.h"
#include "codec/models/model.h"
#include "codec/models/model_tables.h"

static const double COUNT_MAX = 1e12;
/* What every number of JSON holds exactly. */
static const int64_t SEED_MAX = INT64_C(9007199254740991);
enum { RESAMPLES_MIN = 20 };

/* Shares beyond which the reader ought to know. */
static const double failed_share_told = 0.05;
static const double selected_share_told = 0.5;

static const char *const weights_words[] = {"seconds", "relative", NULL};

/* --- what is asked --- */

static int by_place(const void *a, const void *b)
{
    const struct bootstrap_point *x = a;
    const struct bootstrap_point *y = b;
    if (x->problem_size != y->problem_size)
        return (x->problem_size > y->problem_size) - (x->problem_size < y->problem_size);
    return (x->executors > y->executors) - (x->executors < y->executors);
}

static bool has_twin(const struct bootstrap_point points[], size_t n, struct arena *arena)
{
    struct bootstrap_point *sorted = arena_array(arena, n, sizeof *sorted);
    bool twin = false;
    for (size_t i = 0; sorted != NULL && i < n; i++)
        sorted[i] = points[i];
    if (sorted != NULL)
        qsort(sorted, n, sizeof *sorted, by_place);
    for (size_t i = 1; sorted != NULL && i < n; i++)
        twin = twin || by_place(&sorted[i - 1], &sorted[i]) == 0;
    return twin;
}

static void decode_points(const struct codec_node *node, size_t most, struct codec_refit *asked)
{
    static const char *const known[] = {"problem_size", "executors", NULL};
    struct codec_node list = codec_array(node, "points", CODEC_NULLABLE, 0, most);
    if (list.json == NULL)
        return;
    size_t n = json_array_size(list.json);
    struct arena *arena = node->reader->arena;
    asked->points = arena_calloc(arena, n, sizeof *asked->points);
    if (asked->points == NULL) {
        (void)pv_no_memory(node->reader->err);
        return;
    }
    asked->n_points = n;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        if (!codec_expect_object(&item))
            continue;
        codec_refuse_unknown(&item, known);
        asked->points[i].problem_size =
            codec_number(&item, "problem_size", CODEC_REQUIRED, 1, COUNT_MAX);
        asked->points[i].executors = codec_number(&item, "executors", CODEC_REQUIRED, 1, COUNT_MAX);
    }
    if (node->reader->err->n_faults == 0 && has_twin(asked->points, n, arena))
        codec_fault(&list, "duplicate", "names a point twice");
}

static const struct model_kind *decode_kind(const struct codec_node *node)
{
    struct codec_node member = codec_member(node, "model");
    bool automatic = member.json == NULL;
    return automatic ? NULL : codec_model_choice_decode(node, &automatic);
}

void codec_refit_decode(const struct codec_node *node,
                        const struct codec_refit_limits *limits,
                        struct codec_refit *asked)
{
    static const char *const known[] = {"model", "weights", "resamples", "confidence",
                                        "seed",  "points",  NULL};
    *asked = (struct codec_refit){.weights = MODEL_RELATIVE};
    codec_refuse_unknown(node, known);
    asked->kind = decode_kind(node);
    if (codec_choice(node, "weights", CODEC_OPTIONAL, weights_words, 1) == 0)
        asked->weights = MODEL_SECONDS;
    if (asked->weights == MODEL_SECONDS && asked->kind == NULL && node->reader->err->n_faults == 0)
        codec_fault_member(node, "weights", "conflict",
                           "auto compares relative errors: name a model, or leave them relative");
    int64_t resamples =
        codec_integer(node, "resamples", CODEC_NULLABLE, RESAMPLES_MIN, limits->resamples_max);
    asked->resamples = resamples == RUN_UNKNOWN ? limits->resamples : resamples;
    double confidence = codec_number(node, "confidence", CODEC_NULLABLE, 0.5, 0.999);
    asked->confidence = isnan(confidence) ? 0.95 : confidence;
    int64_t seed = codec_integer(node, "seed", CODEC_NULLABLE, 0, SEED_MAX);
    asked->seed = seed == RUN_UNKNOWN ? 1 : seed;
    decode_points(node, limits->points_max, asked);
}

void codec_refit_encode(struct writer *w, const struct codec_refit *asked)
{
    writer_begin_object(w);
    writer_member_string(w, "model", asked->kind == NULL ? "auto" : asked->kind->name);
    writer_member_string(w, "weights", weights_words[asked->weights == MODEL_RELATIVE]);
    writer_member_integer(w, "resamples", asked->resamples);
    writer_member_number(w, "confidence", asked->confidence);
    writer_member_integer(w, "seed", asked->seed);
    writer_key(w, "points");
    if (asked->points == NULL) {
        writer_null(w);
    } else {
        writer_begin_array(w);
        for (size_t i = 0; i < asked->n_points; i++) {
            writer_begin_object(w);
            writer_member_number(w, "problem_size", asked->points[i].problem_size);
            writer_member_number(w, "executors", asked->points[i].executors);
            writer_end_object(w);
        }
        writer_end_array(w);
    }
    writer_end_object(w);
}

/* --- what came of it --- */

static void encode_interval(struct writer *w, const char *key, const double interval[2])
{
    if (!writer_member_array_or_null(w, key, !isnan(interval[0])))
        return;
    writer_number(w, interval[0]);
    writer_number(w, interval[1]);
    writer_end_array(w);
}

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
        encode_interval(w, "interval", figure->interval);
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
        encode_interval(w, "mean_interval_s", there->expected.interval);
        encode_interval(w, "interval_s", there->next_run);
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
    if ((double)bootstrap->failed > failed_share_told * (double)bootstrap->resamples)
        finding_count(
            finding_add(warnings, "resamples_failed",
                        "%s could not be fitted to %zu of %zu resamples: the history hardly "
                        "determines it, and intervals speak of the others only",
                        kind->name, bootstrap->failed, bootstrap->resamples),
            bootstrap->failed);
    if (result->asked->kind != NULL || bootstrap->selections == 0)
        return;
    double share = share_of_kind(bootstrap, kind);
    if (share < selected_share_told)
        finding_number(
            finding_add(warnings, "selection_unstable",
                        "%s is selected in %.0f %% of histories that lack %zu of the %zu "
                        "configurations: which kind is best is not settled",
                        kind->name, 100 * share, bootstrap->left_out, bootstrap->cells),
            "share", share);
}

static void encode_warnings(struct writer *w, const struct codec_refit_result *result)
{
    struct findings warnings = {.arena = w->arena};
    if (result->bootstrap == NULL)
        (void)finding_add(&warnings, "no_bootstrap", "%s", result->no_bootstrap);
    else
        warn_of_bootstrap(result, &warnings);
    if (result->history_version_now != result->history_version)
        (void)finding_add(
            &warnings, "history_changed",
            "runs came or went meanwhile: this belongs to history_version, which is not the "
            "newest any more");
    codec_findings_encode(w, "warnings", &warnings);
}

static void encode_selection(struct writer *w, const struct model_selection *selection)
{
    writer_member_object(w, "selection");
    writer_member_string(w, "selected_model",
                         selection->selected == NULL ? NULL : selection->selected->kind->name);
    writer_member_array(w, "reasons");
    writer_begin_object(w);
    writer_member_string(w, "code", selection->code);
    writer_member_string(w, "message", selection->message);
    writer_end_object(w);
    writer_end_array(w);
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
    encode_warnings(w, result);
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
