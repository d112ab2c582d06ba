#include "codec/models/model.h"

#include <math.h>
#include <string.h>

#include "codec/json/finding.h"
#include "codec/models/fitted_model.h"
#include "codec/models/model_labels.h"
#include "codec/models/model_stages.h"
#include "codec/models/model_tables.h"
#include "codec/models/model_uncertainty.h"
#include "core/scaling/model/describe.h"

static const double COUNT_MAX = 1e12;
static const double SECONDS_MAX = 1e12;
/* Shorter ones would only make percentages overflow. */
static const double SECONDS_MIN = 1e-9;
static const double NUMBER_MAX = 1e300;

static const char *const weights_words[] = {"seconds", "relative", NULL};
static const char *const reference_words[] = {"measured", "extrapolated", "ratio", NULL};
static const enum model_reference references[] = {MODEL_MEASURED, MODEL_EXTRAPOLATED, MODEL_RATIO};

/* --- observations --- */

/* One of the two, and the same one in every row. */
static void check_form(const struct codec_node *row, bool speedups)
{
    const char *wanted = speedups ? "speedup" : "duration_s";
    const char *other = speedups ? "duration_s" : "speedup";
    if (codec_present(row, other))
        codec_fault_member(row, other, "conflict",
                           codec_present(row, wanted)
                               ? "must be left out where %s is given"
                               : "must be left out: the first observation has %s",
                           wanted);
    if (!codec_present(row, wanted))
        codec_fault_member(row, wanted, "required",
                           speedups ? "is required, as in the first observation"
                                    : "is required, or speedup in all observations");
    if (speedups && codec_present(row, "initialization_s"))
        codec_fault_member(row, "initialization_s", "conflict", "goes with duration_s");
}

static void decode_row(const struct codec_node *row, bool speedups, struct observation *out)
{
    static const char *const known[] = {
        "problem_size", "executors", "duration_s", "initialization_s", "speedup", "labels", NULL};
    if (!codec_expect_object(row))
        return;
    codec_refuse_unknown(row, known);
    check_form(row, speedups);
    *out = MODEL_OBSERVATION;
    out->problem_size = codec_number(row, "problem_size", CODEC_REQUIRED, 1, COUNT_MAX);
    out->executors = codec_number(row, "executors", CODEC_REQUIRED, 1, COUNT_MAX);
    out->duration_s = codec_number(row, "duration_s", CODEC_NULLABLE, SECONDS_MIN, SECONDS_MAX);
    out->initialization_s = codec_number(row, "initialization_s", CODEC_NULLABLE, 0, SECONDS_MAX);
    out->speedup = codec_number(row, "speedup", CODEC_NULLABLE, SECONDS_MIN, SECONDS_MAX);
    if (out->initialization_s > out->duration_s)
        codec_fault_member(row, "initialization_s", "out_of_range",
                           "must not be longer than duration_s");
}

static void decode_stage_rows(const struct codec_node *node,
                              const struct codec_node *list,
                              struct codec_model_fit *request)
{
    struct codec_node first = codec_item(list, 0);
    for (size_t i = 0; i < request->n; i++) {
        struct codec_node row = codec_item(list, i);
        codec_stage_row_decode(&row, &first, &request->rows[i]);
    }
    if (request->weights == MODEL_RELATIVE)
        codec_fault_member(node, "weights", "conflict", "of stage measures can only be seconds");
}

static void decode_rows(const struct codec_node *node, size_t most, struct codec_model_fit *request)
{
    struct codec_node list = codec_array(node, "observations", CODEC_REQUIRED, 1, most);
    if (list.json == NULL)
        return;
    request->n = json_array_size(list.json);
    request->rows = arena_calloc(node->reader->arena, request->n, sizeof *request->rows);
    if (request->rows == NULL) {
        (void)pv_no_memory(node->reader->err);
        return;
    }
    struct codec_node first = codec_item(&list, 0);
    if (request->kind != NULL && request->kind->forms == MODEL_OF_STAGES) {
        decode_stage_rows(node, &list, request);
        return;
    }
    bool speedups = json_is_object(first.json) && codec_present(&first, "speedup") &&
                    !codec_present(&first, "duration_s");
    if (speedups && request->kind != NULL && (request->kind->forms & MODEL_OF_SPEEDUPS) == 0)
        codec_fault_member(&first, "speedup", "not_allowed", "%s is fitted to duration_s",
                           request->kind->name);
    for (size_t i = 0; i < request->n; i++) {
        struct codec_node row = codec_item(&list, i);
        decode_row(&row, speedups, &request->rows[i]);
    }
    codec_model_labels_decode(node, &list, request);
    if (speedups && codec_present(node, "weights") && request->weights == MODEL_SECONDS)
        codec_fault_member(node, "weights", "conflict", "of speedups can only be relative");
}

void codec_model_fit_decode(const struct codec_node *node,
                            size_t most,
                            struct codec_model_fit *request)
{
    static const char *const known[] = {"model", "observations", "weights", "labels", NULL};
    *request = (struct codec_model_fit){.kind = NULL};
    codec_refuse_unknown(node, known);
    bool automatic;
    request->kind = codec_model_choice_decode(node, &automatic);
    size_t weights =
        codec_choice(node, "weights", CODEC_OPTIONAL, weights_words, automatic ? 1 : 0);
    request->weights = weights == 1 ? MODEL_RELATIVE : MODEL_SECONDS;
    if (automatic && weights == 0)
        codec_fault_member(node, "weights", "conflict", "of auto can only be relative");
    decode_rows(node, most, request);
}

/* --- a model --- */

static void encode_parameters(struct writer *w, const struct model *model)
{
    writer_member_object(w, "parameters");
    for (size_t j = 0; j < model->kind->n_parameters; j++) {
        const struct model_parameter *parameter = &model->parameters[j];
        if (isnan(parameter->estimate))
            continue;
        writer_member_object(w, model->kind->rules[j].name);
        writer_member_number(w, "estimate", parameter->estimate);
        writer_member_number(w, "std_error", parameter->std_error);
        writer_member_number(w, "p_value", parameter->p_value);
        if (parameter->dropped)
            writer_member_boolean(w, "dropped", true);
        writer_end_object(w);
    }
    writer_end_object(w);
}

void codec_model_encode(struct writer *w, const struct model *model)
{
    writer_member_string(w, "model", model->kind->name);
    encode_parameters(w, model);
    codec_model_tables_encode(w, model);
    writer_key(w, "reference");
    if (model->reference == MODEL_NO_REFERENCE)
        writer_null(w);
    for (size_t i = 0; reference_words[i] != NULL; i++)
        if (references[i] == model->reference)
            writer_string(w, reference_words[i]);
    codec_model_uncertainty_encode(w, model);
}

/* --- a fit --- */

static void encode_residuals(struct writer *w, const struct model_fit *fit)
{
    writer_member_array(w, "residuals");
    for (size_t i = 0; i < fit->n; i++) {
        const struct model_residual *residual = &fit->residuals[i];
        writer_begin_object(w);
        writer_member_number(w, "problem_size", residual->problem_size);
        writer_member_number(w, "executors", residual->executors);
        writer_member_number(w, "actual", residual->actual);
        writer_member_number(w, "predicted", residual->predicted);
        writer_member_number(w, "error_percent", residual->error_percent);
        writer_end_object(w);
    }
    writer_end_array(w);
}

static void encode_peak(struct writer *w, const struct model_peak *peak)
{
    if (!writer_member_object_or_null(w, "peak", peak->executors > 0))
        return;
    writer_member_number(w, "problem_size", peak->problem_size);
    writer_member_number(w, "executors", peak->executors);
    writer_member_number(w, "speedup", peak->speedup);
    writer_end_object(w);
}

/* What the law says of the application, in sentences with the numbers beside them. */
static void encode_findings(struct writer *w, const struct model *model)
{
    struct findings findings = {.arena = w->arena};
    model_describe(model, &findings);
    codec_findings_encode(w, "findings", &findings);
}

void codec_model_quality_encode(struct writer *w, const struct model_fit *fit)
{
    writer_member_object(w, "fit");
    writer_member_integer(w, "observations", (int64_t)fit->n);
    writer_member_number(w, "r_squared", fit->r_squared);
    writer_member_number(w, "mape_percent", fit->mape_percent);
    writer_member_number(w, "max_error_percent", fit->max_error_percent);
    writer_member_number(w, "loo_mape_percent", fit->loo_mape_percent);
    writer_end_object(w);
    writer_member_string(w, "scaling_type", fit->scaling_type);
    encode_peak(w, &fit->peak);
    encode_findings(w, &fit->model);
    codec_findings_encode(w, "warnings", &fit->warnings);
}

void codec_model_fit_encode(struct writer *w,
                            const struct model_fit *fit,
                            const struct model_selection *selection)
{
    writer_begin_object(w);
    codec_model_encode(w, &fit->model);
    codec_model_quality_encode(w, fit);
    encode_residuals(w, fit);
    if (selection != NULL) {
        writer_key(w, "selection");
        codec_model_selection_encode(w, selection);
    }
    writer_end_object(w);
}

/* --- a model read back --- */

/* Seconds are known unless only what a model of speedups has is there. */
static enum model_form find_form(const struct codec_node *node, const struct model_kind *kind)
{
    if ((kind->forms & MODEL_OF_SPEEDUPS) == 0)
        return (kind->forms & MODEL_OF_DURATIONS) != 0 ? MODEL_OF_DURATIONS : MODEL_OF_STAGES;
    for (size_t j = 0; j < kind->n_parameters; j++)
        if (kind->rules[j].forms == MODEL_OF_DURATIONS && codec_present(node, kind->rules[j].name))
            return MODEL_OF_DURATIONS;
    return MODEL_OF_SPEEDUPS;
}

static void decode_parameter(const struct codec_node *node,
                             const struct model_parameter_rule *rule,
                             struct model_parameter *parameter)
{
    static const char *const known[] = {"estimate", "std_error", "p_value", "dropped", NULL};
    struct codec_node member = codec_object(
        node, rule->name, (rule->forms & MODEL_OPTIONAL) != 0 ? CODEC_OPTIONAL : CODEC_REQUIRED);
    if (member.json == NULL)
        return;
    codec_refuse_unknown(&member, known);
    parameter->estimate = codec_number(&member, "estimate", CODEC_REQUIRED,
                                       fmax(rule->low, -NUMBER_MAX), fmin(rule->high, NUMBER_MAX));
    parameter->std_error = codec_number(&member, "std_error", CODEC_NULLABLE, 0, NUMBER_MAX);
    parameter->p_value = codec_number(&member, "p_value", CODEC_NULLABLE, 0, 1);
    parameter->dropped = codec_boolean(&member, "dropped", CODEC_OPTIONAL, false);
}

static void decode_parameters(const struct codec_node *node, struct model *model)
{
    struct codec_node list = codec_object(node, "parameters", CODEC_REQUIRED);
    if (list.json == NULL)
        return;
    codec_model_refuse_parameters(&list, model->kind);
    model->form = find_form(&list, model->kind);
    for (size_t j = 0; j < model->kind->n_parameters; j++) {
        const struct model_parameter_rule *rule = &model->kind->rules[j];
        if ((rule->forms & model->form) != 0)
            decode_parameter(&list, rule, &model->parameters[j]);
        else if (codec_present(&list, rule->name))
            codec_fault_member(
                &list, rule->name, "conflict",
                "belongs to a model of speedups, and others here to one of durations");
    }
}

void codec_model_decode(const struct codec_node *node, struct model *model)
{
    const struct model_kind *kind = codec_model_kind_decode(node);
    if (kind == NULL)
        return;
    *model = model_bare(kind);
    decode_parameters(node, model);
    size_t reference = codec_choice(node, "reference", CODEC_NULLABLE, reference_words, 3);
    if (reference < 3)
        model->reference = references[reference];
    codec_model_tables_decode(node, model);
    codec_model_uncertainty_decode(node, model);
}

/* --- predictions --- */

static void
decode_points(const struct codec_node *node, size_t most, struct codec_model_predict *request)
{
    static const char *const known[] = {"problem_size", "executors", NULL};
    struct codec_node list = codec_array(node, "points", CODEC_REQUIRED, 1, most);
    if (list.json == NULL)
        return;
    bool stages = request->model.form == MODEL_OF_STAGES;
    unsigned size = stages ? CODEC_NULLABLE : CODEC_REQUIRED;
    request->n = json_array_size(list.json);
    request->points = arena_calloc(node->reader->arena, request->n, sizeof *request->points);
    if (request->points == NULL) {
        (void)pv_no_memory(node->reader->err);
        return;
    }
    for (size_t i = 0; i < request->n; i++) {
        struct codec_node item = codec_item(&list, i);
        if (!codec_expect_object(&item))
            continue;
        codec_refuse_unknown(&item, known);
        request->points[i].problem_size = codec_number(&item, "problem_size", size, 1, COUNT_MAX);
        request->points[i].executors =
            codec_number(&item, "executors", CODEC_REQUIRED, 1, COUNT_MAX);
    }
}

/* The rest of a fit's reply, which may be sent as it came: of the right type, and not used. */
static void check_unused(const struct codec_node *node)
{
    static const char *const objects[] = {"fit", "peak", "selection"};
    static const char *const arrays[] = {"residuals", "findings", "warnings"};
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        (void)codec_object(node, objects[i], CODEC_NULLABLE);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        (void)codec_array(node, arrays[i], CODEC_NULLABLE, 0, SIZE_MAX);
    (void)codec_text(node, "scaling_type", CODEC_NULLABLE, 0, SIZE_MAX);
}

void codec_model_predict_decode(const struct codec_node *node,
                                size_t most,
                                struct codec_model_predict *request)
{
    static const char *const known[] = {
        "model",     "parameters",   "tables", "reference", "uncertainty", "points",    "fit",
        "residuals", "scaling_type", "peak",   "findings",  "warnings",    "selection", NULL};
    memset(request, 0, sizeof *request);
    codec_refuse_unknown(node, known);
    codec_model_decode(node, &request->model);
    decode_points(node, most, request);
    check_unused(node);
}

static void warn_of_extrapolation(const struct model_uncertainty *u, struct findings *warnings)
{
    struct finding *finding =
        finding_add(warnings, "extrapolation", "lies outside the observations that were fitted");
    finding_number(finding, "least_problem_size", u->problem_size[0]);
    finding_number(finding, "most_problem_size", u->problem_size[1]);
    finding_number(finding, "least_executors", u->executors[0]);
    finding_number(finding, "most_executors", u->executors[1]);
}

static void warn_of_negative(double duration_s, struct findings *warnings)
{
    finding_number(
        finding_add(warnings, "not_positive", "the model gives no duration above 0 here"),
        "duration_s", duration_s);
}

void codec_model_interval_encode(struct writer *w,
                                 const struct model *model,
                                 const struct model_prediction *prediction)
{
    if (model->uncertainty.observations > 0 && prediction->duration_s > 0) {
        codec_model_pair_encode(w, "interval_s", prediction->interval_s);
        return;
    }
    writer_member_null(w, "interval_s");
}

void codec_model_prediction_encode(struct writer *w,
                                   const struct model *model,
                                   const struct codec_model_point *point,
                                   const struct model_prediction *prediction)
{
    /* Far from what was observed a linear law may fall below zero: that is no duration. */
    bool negative = prediction->duration_s <= 0;
    writer_begin_object(w);
    writer_member_number(w, "problem_size", point->problem_size);
    writer_member_number(w, "executors", point->executors);
    writer_member_number(w, "duration_s", negative ? (double)NAN : prediction->duration_s);
    writer_member_number(w, "speedup", prediction->speedup);
    codec_model_interval_encode(w, model, prediction);
    struct findings warnings = {.arena = w->arena};
    if (prediction->extrapolated)
        warn_of_extrapolation(&model->uncertainty, &warnings);
    if (negative)
        warn_of_negative(prediction->duration_s, &warnings);
    codec_findings_encode(w, "warnings", &warnings);
    writer_end_object(w);
}
