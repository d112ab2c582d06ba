#include "codec/models/model.h"

#include <math.h>
#include <string.h>

#include "codec/json/finding.h"
#include "codec/models/model_tables.h"
#include "codec/models/model_uncertainty.h"
#include "core/scaling/model/describe.h"

static const double COUNT_MAX = 1e12;
static const double NUMBER_MAX = 1e300;

static const char *const reference_words[] = {"measured", "extrapolated", "ratio", NULL};
static const enum model_reference references[] = {MODEL_MEASURED, MODEL_EXTRAPOLATED, MODEL_RATIO};

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
