#include "codec/models/model.h"

#include <math.h>
#include <string.h>

#include "base/quantity_text.h"
#include "codec/json/finding.h"
#include "codec/models/model_internal.h"
#include "core/scaling/model/describe.h"

static const char *const reference_words[] = {"measured", "extrapolated", "ratio", NULL};
static const enum model_reference references[] = {MODEL_MEASURED, MODEL_EXTRAPOLATED, MODEL_RATIO};

/* --- a model --- */

#define P struct model_parameter
static const struct shape_member parameter_members[] = {
    {"estimate", SHAPE_NUMBER(P, estimate), .flags = CODEC_REQUIRED, .low = -MODEL_NUMBER_MAX,
     .high = MODEL_NUMBER_MAX},
    {"std_error", SHAPE_NUMBER(P, std_error), .flags = CODEC_NULLABLE, .high = MODEL_NUMBER_MAX},
    {"p_value", SHAPE_NUMBER(P, p_value), .flags = CODEC_NULLABLE, .high = 1},
    {"dropped", SHAPE_BOOLEAN(P, dropped), .flags = SHAPE_OMIT_UNKNOWN},
};
const struct shape codec_model_parameter_shape = {.request = "ModelParameter",
                                                  SHAPE_OF(parameter_members, P)};

static void encode_parameters(struct writer *w, const struct model *model)
{
    writer_member_object(w, "parameters");
    for (size_t j = 0; j < model->kind->n_parameters; j++) {
        if (isnan(model->parameters[j].estimate))
            continue;
        writer_key(w, model->kind->rules[j].name);
        shape_encode(w, &codec_model_parameter_shape, &model->parameters[j], 0, NULL);
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

/* --- how good a fit is --- */

static void encode_peak(struct writer *w, const struct model_peak *peak)
{
    if (!writer_member_object_or_null(w, "peak", peak->executors > 0))
        return;
    writer_member_number(w, "problem_size", peak->problem_size);
    writer_member_number(w, "executors", peak->executors);
    writer_member_number(w, "speedup", peak->speedup);
    writer_end_object(w);
}

/* What the law says of the application, in sentences with their numbers. */
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
    struct codec_node member = codec_object(
        node, rule->name, (rule->forms & MODEL_OPTIONAL) != 0 ? CODEC_OPTIONAL : CODEC_REQUIRED);
    if (member.json == NULL)
        return;
    shape_decode(&member, &codec_model_parameter_shape, NULL, parameter);
    if (parameter->estimate < rule->low || parameter->estimate > rule->high)
        codec_fault_member(&member, "estimate", "out_of_range", "must be from %s to %s",
                           quantity_digits(rule->low, 15).text,
                           quantity_digits(rule->high, 15).text);
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
                "must not be in a model of durations, which the other members describe");
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

#define Q struct bootstrap_point
static const struct shape_member point_members[] = {
    {"problem_size", SHAPE_NUMBER(Q, problem_size), .flags = CODEC_NULLABLE,
     .low = CODEC_PROBLEM_SIZE_MIN, .high = CODEC_PROBLEM_SIZE_MAX},
    {"executors", SHAPE_NUMBER(Q, executors), .flags = CODEC_REQUIRED, .low = 1,
     .high = CODEC_COUNT_MAX},
};
const struct shape codec_model_point_shape = {.request = "ModelPoint", SHAPE_OF(point_members, Q)};

static void
decode_points(const struct codec_node *node, size_t most, struct codec_model_predict *request)
{
    bool stages = request->model.form == MODEL_OF_STAGES;
    struct codec_node list;
    request->points = codec_list(node, "points", CODEC_REQUIRED, 1, most, sizeof *request->points,
                                 &list, &request->n);
    for (size_t i = 0; i < request->n; i++) {
        struct codec_node item = codec_item(&list, i);
        if (!codec_expect_object(&item))
            continue;
        shape_decode(&item, &codec_model_point_shape, NULL, &request->points[i]);
        if (!stages && !codec_present(&item, "problem_size"))
            codec_fault_member(&item, "problem_size", "required", "is required");
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
    struct finding *finding = finding_add(warnings, "extrapolation",
                                          "the point is outside the observations that were fitted");
    finding_number(finding, "least_problem_size", u->problem_size[0]);
    finding_number(finding, "most_problem_size", u->problem_size[1]);
    finding_number(finding, "least_executors", u->executors[0]);
    finding_number(finding, "most_executors", u->executors[1]);
}

static void warn_of_negative(double duration_s, struct findings *warnings)
{
    finding_number(finding_add(warnings, "not_positive",
                               "the model predicts no duration above 0 at this point"),
                   "duration_s", duration_s);
}

void codec_model_interval_encode(struct writer *w,
                                 const struct model *model,
                                 const struct model_prediction *prediction)
{
    if (model->uncertainty.observations > 0 && prediction->duration_s > 0) {
        writer_member_numbers(w, "interval_s", prediction->interval_s, 2);
        return;
    }
    writer_member_null(w, "interval_s");
}

void codec_model_prediction_encode(struct writer *w,
                                   const struct model *model,
                                   const struct bootstrap_point *point,
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
