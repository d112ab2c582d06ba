#include "codec/models/fitted_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "codec/json/finding.h"
#include "codec/models/drift.h"
#include "core/scaling/laws/kinds.h"

/* --- which is selected and why --- */

static const struct model_candidate *fitted_model_find_best(const struct model_selection *selection)
{
    for (size_t k = 0; k < selection->n; k++)
        if (selection->candidates[k].difference_percent <= 0)
            return &selection->candidates[k];
    return NULL;
}

static void encode_reasons(struct writer *w, const struct model_selection *selection)
{
    unsigned digits = writer_set_digits(w, WRITER_DIGITS_MEANT);
    const struct model_candidate *chosen = selection->selected;
    const struct model_candidate *best = fitted_model_find_best(selection);
    writer_member_array(w, "reasons");
    writer_begin_object(w);
    writer_member_string(w, "code", selection->code);
    writer_member_string(w, "message", selection->message);
    writer_member_object(w, "evidence");
    writer_member_integer(w, "runs_compared", (int64_t)selection->compared);
    writer_member_string(w, "left_out", selection->by_executors ? "executor_counts" : "runs");
    if (chosen != NULL && best != NULL) {
        writer_member_number(w, "loo_mape_percent", chosen->loo_mape_percent);
        writer_member_number(w, "scale_out_mape_percent", chosen->scale_mape_percent);
        writer_member_string(w, "least_error_model", best->kind->name);
        writer_member_number(w, "least_loo_mape_percent", best->loo_mape_percent);
        writer_member_number(w, "least_scale_out_mape_percent", best->scale_mape_percent);
        writer_member_number(w, "noise_percent", chosen->noise_percent);
    }
    if (selection->single != NULL)
        writer_member_string(w, "best_single_model", selection->single->kind->name);
    writer_member_array(w, "near_ties");
    for (size_t k = 0; k < selection->n; k++)
        if (selection->candidates[k].close && &selection->candidates[k] != chosen)
            writer_string(w, selection->candidates[k].kind->name);
    writer_end_array(w);
    writer_end_object(w);
    writer_end_object(w);
    writer_end_array(w);
    w->digits = digits;
}

/* --- candidates --- */

static void encode_comparison(struct writer *w, const struct model_candidate *candidate)
{
    if (!writer_member_object_or_null(w, "comparison", candidate->standing == MODEL_COMPARED))
        return;
    unsigned digits = writer_set_digits(w, WRITER_DIGITS_MEANT);
    writer_member_number(w, "loo_mape_percent", candidate->loo_mape_percent);
    writer_member_number(w, "scale_out_mape_percent", candidate->scale_mape_percent);
    writer_member_number(w, "difference_percent", candidate->difference_percent);
    writer_member_number(w, "noise_percent", candidate->noise_percent);
    writer_member_boolean(w, "within_noise", candidate->close);
    writer_end_object(w);
    w->digits = digits;
}

static void encode_unfitted(struct writer *w, const struct model_candidate *candidate)
{
    static const char *const unknown[] = {"parameters", "reference",    "uncertainty",
                                          "fit",        "scaling_type", "peak"};
    writer_member_string(w, "model", candidate->kind->name);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        writer_member_null(w, unknown[i]);
    }
    writer_member_array(w, "findings");
    writer_end_array(w);
    writer_member_array(w, "warnings");
    writer_end_array(w);
    writer_member_object(w, "error");
    writer_member_string(w, "code", pv_code_name(candidate->code));
    writer_member_string(w, "message", candidate->detail);
    writer_end_object(w);
}

static void encode_candidate(struct writer *w,
                             const struct model_selection *selection,
                             const struct model_candidate *candidate)
{
    unsigned digits = w->digits;
    writer_begin_object(w);
    writer_member_string(w, "status", model_standing_name(candidate->standing));
    writer_member_boolean(w, "selected", candidate == selection->selected);
    writer_member_integer(w, "parameters_estimated", (int64_t)candidate->parameters);
    encode_comparison(w, candidate);
    if (candidate->standing == MODEL_NOT_FITTED) {
        encode_unfitted(w, candidate);
    } else {
        codec_model_encode(w, &candidate->fit.model); /* exact: POST /models/predict takes it */
        w->digits = WRITER_DIGITS_MEANT;
        codec_model_quality_encode(w, &candidate->fit);
        w->digits = digits;
        writer_member_null(w, "error");
    }
    writer_end_object(w);
}

/* --- the whole --- */

static void encode_base(struct writer *w, const char *key, const struct surface_base *base)
{
    if (!writer_member_object_or_null(w, key, base->problem_size > 0))
        return;
    writer_member_number(w, "problem_size", base->problem_size);
    writer_member_number(w, "executors", base->executors);
    writer_end_object(w);
}

static void encode_numbers(struct writer *w, const char *key, const double values[], size_t n)
{
    writer_member_numbers(w, key, values, n);
}

static void encode_observations(struct writer *w, const struct history_models *models)
{
    const struct run_observations *seen = &models->seen;
    writer_member_object(w, "history");
    writer_member_integer(w, "runs", seen->runs);
    writer_member_integer(w, "examined", (int64_t)seen->looked_at);
    writer_member_integer(w, "runs_used", (int64_t)seen->n);
    writer_member_integer(w, "runs_skipped", (int64_t)(seen->looked_at - seen->n));
    writer_member_integer(w, "failed", (int64_t)seen->failed);
    writer_member_integer(w, "without_problem_size", (int64_t)seen->without_problem_size);
    writer_member_integer(w, "without_executors", (int64_t)seen->without_executors);
    writer_member_integer(w, "without_duration", (int64_t)seen->without_duration);
    encode_base(w, "smallest", &models->smallest);
    encode_numbers(w, "problem_sizes", models->axes.problem_sizes, models->axes.n_sizes);
    encode_numbers(w, "executor_counts", models->axes.executors, models->axes.n_executors);
    writer_end_object(w);
}

void codec_label_group_encode(struct writer *w,
                              const struct label_group *group,
                              const char *message)
{
    if (group->n_keys == 0) {
        writer_null(w);
        return;
    }
    writer_begin_object(w);
    writer_member_object(w, "labels");
    for (size_t k = 0; k < group->n_keys; k++) {
        struct strview value = run_label_value(group->labels, group->keys[k]);
        writer_key_view(w, group->keys[k]);
        if (value.at == NULL)
            writer_null(w);
        else
            writer_text(w, value);
    }
    writer_end_object(w);
    writer_member_integer(w, "label_groups", (int64_t)group->groups);
    writer_member_integer(w, "runs", (int64_t)group->runs);
    writer_member_string(w, "selected_by", group->asked ? "request" : "latest_run");
    writer_member_boolean(w, "labels_applied", !group->ignored);
    writer_member_string(w, "message", message);
    writer_end_object(w);
}

static void encode_group(struct writer *w, const struct label_group *group)
{
    writer_key(w, "label_group");
    codec_label_group_encode(
        w, group,
        group->ignored
            ? "these labels explain the time, but their runs are too few for a model of their own: "
              "the models are for runs of all labels"
        : group->asked ? "the models are for runs with these labels"
                       : "the models are for runs with the labels of the latest run, which explain "
                         "the time: ask for others with label=key:value");
}

static void encode_idle(struct writer *w, const struct idle_machine *idle)
{
    unsigned digits = writer_set_digits(w, WRITER_DIGITS_MEANT);
    writer_member_object(w, "idle_machine");
    writer_member_number(w, "odds", idle->odds);
    writer_member_number(w, "prior_odds", idle->prior_odds);
    writer_member_integer(w, "other_applications", (int64_t)idle->applications);
    writer_end_object(w);
    w->digits = digits;
}

static void encode_selection(struct writer *w, const struct model_selection *selection)
{
    writer_member_string(w, "selected_model",
                         selection->selected == NULL ? NULL : selection->selected->kind->name);
    encode_reasons(w, selection);
    writer_member_array(w, "candidates");
    for (size_t k = 0; k < selection->n; k++)
        encode_candidate(w, selection, &selection->candidates[k]);
    writer_end_array(w);
}

/* `warnings`, if any of the runs has some. */
static void encode_warned(struct writer *w, const struct warned_runs *warned)
{
    struct findings warnings = {.arena = w->arena};
    warned_runs_explain(warned, false, &warnings);
    if (warnings.n > 0 || warnings.failed)
        codec_findings_encode(w, "warnings", &warnings);
}

void codec_history_models_encode(struct writer *w,
                                 struct strview application,
                                 const struct history_models *models)
{
    const struct warned_runs warned = history_models_warned(&models->own);
    writer_begin_object(w);
    writer_member_text(w, "application", application);
    writer_member_integer(w, "history_version", models->seen.history_version);
    encode_observations(w, models);
    encode_group(w, &models->group);
    codec_drift_encode(w, &models->drift);
    encode_idle(w, &models->idle);
    encode_selection(w, &models->selection);
    encode_warned(w, &warned);
    writer_end_object(w);
}

void codec_model_selection_encode(struct writer *w, const struct model_selection *selection)
{
    writer_begin_object(w);
    encode_selection(w, selection);
    writer_end_object(w);
}

/* --- one kind read back --- */

static size_t decode_axis(
    const struct codec_node *node, const char *key, double low, size_t most, double values[])
{
    struct codec_node list = codec_array(node, key, CODEC_REQUIRED, 0, most);
    size_t n = list.json == NULL ? 0 : json_value_items(list.json);
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        values[i] = codec_as_number(&item, CODEC_REQUIRED, low, HUGE_VAL);
    }
    return n;
}

static void decode_observations(const struct codec_node *document,
                                struct codec_history_model *model)
{
    struct codec_node seen = codec_object(document, "history", CODEC_REQUIRED);
    if (seen.json == NULL)
        return;
    struct history_axes *axes = &model->axes;
    axes->n_sizes = decode_axis(&seen, "problem_sizes", CODEC_PROBLEM_SIZE_MIN,
                                HISTORY_MODEL_SIZES_MAX, axes->problem_sizes);
    axes->n_executors =
        decode_axis(&seen, "executor_counts", 1, HISTORY_MODEL_EXECUTORS_MAX, axes->executors);
    struct codec_node base = codec_object(&seen, "smallest", CODEC_NULLABLE);
    if (base.json == NULL)
        return;
    model->smallest.problem_size =
        codec_number(&base, "problem_size", CODEC_REQUIRED, CODEC_PROBLEM_SIZE_MIN, HUGE_VAL);
    model->smallest.executors = codec_number(&base, "executors", CODEC_REQUIRED, 1, HUGE_VAL);
}

static bool is_wanted(const struct codec_node *candidate, const struct model_kind *kind)
{
    if (kind == NULL)
        return codec_boolean(candidate, "selected", CODEC_REQUIRED, false);
    return strview_is(codec_text(candidate, "model", CODEC_REQUIRED, 1, 255), kind->name);
}

/* The only warning, if there is one (encode_warned). */
static void decode_warned(const struct json_value *document, struct warned_runs *warned)
{
    const struct json_value *warning = json_value_item(json_value_member(document, "warnings"), 0);
    const struct json_value *evidence = json_value_member(warning, "evidence");
    if (evidence == NULL)
        return;
    const char *run_id = json_value_text(json_value_member(evidence, "run_id"));
    warned->runs = (size_t)json_value_number(json_value_member(evidence, "runs"));
    warned->warned = (size_t)json_value_number(json_value_member(evidence, "runs_warned"));
    if (run_id != NULL)
        (void)snprintf(warned->run_id, sizeof warned->run_id, "%s", run_id);
    for (size_t i = 0; run_warning_kinds[i].code != NULL; i++)
        warned->with[i] =
            (uint32_t)json_value_number(json_value_member(evidence, run_warning_kinds[i].code));
}

void codec_history_model_decode(const struct codec_node *document,
                                const struct model_kind *kind,
                                struct codec_history_model *model)
{
    *model = (struct codec_history_model){
        .why = "this kind is not fitted to the runs of an application"};
    decode_observations(document, model);
    const struct json_value *context = json_value_member(document->json, "label_group");
    model->of_context = json_value_is_true(json_value_member(context, "labels_applied"));
    const struct json_value *reason =
        json_value_item(json_value_member(document->json, "reasons"), 0);
    const struct json_value *evidence = json_value_member(reason, "evidence");
    decode_warned(document->json, &model->warned);
    const char *single = json_value_text(json_value_member(evidence, "best_single_model"));
    model->single = single == NULL ? NULL : model_find_kind(single);
    struct codec_node list = codec_array(document, "candidates", CODEC_REQUIRED, 0, SIZE_MAX);
    size_t n = list.json == NULL ? 0 : json_value_items(list.json);
    for (size_t i = 0; i < n; i++) {
        struct codec_node candidate = codec_item(&list, i);
        if (!codec_expect_object(&candidate) || !is_wanted(&candidate, kind))
            continue;
        struct codec_node error = codec_object(&candidate, "error", CODEC_NULLABLE);
        model->fitted = error.json == NULL;
        if (model->fitted)
            codec_model_decode(&candidate, &model->model);
        else
            model->why = codec_text(&error, "message", CODEC_REQUIRED, 1, SIZE_MAX).at;
        return;
    }
}

/* --- the surface --- */

static void encode_point(struct writer *w,
                         const struct codec_speedup *speedup,
                         double problem_size,
                         double executors,
                         const struct model_prediction *prediction)
{
    bool positive = prediction->duration_s > 0;
    writer_member_number(w, "executors", executors);
    unsigned digits = writer_set_digits(w, WRITER_DIGITS_MEANT);
    writer_member_number(w, "duration_s", positive ? prediction->duration_s : (double)NAN);
    codec_model_interval_encode(w, speedup->surface->model, prediction);
    writer_member_number(w, "speedup", prediction->speedup);
    writer_member_number(
        w, "relative_speedup",
        surface_relative_speedup(speedup->surface, speedup->smallest, problem_size, prediction));
    writer_member_boolean(w, "extrapolation", prediction->extrapolated);
    w->digits = digits;
}

/* An executor beyond one for each base task would have nothing to do in the first stage. */
static double ridge_limit(const struct codec_speedup *speedup, double problem_size)
{
    return fmax(1, floor(fmin(problem_size, speedup->executors_max)));
}

static void encode_crest(struct writer *w, const struct codec_speedup *speedup, double problem_size)
{
    struct best_executors crest;
    surface_best(speedup->surface, problem_size, ridge_limit(speedup, problem_size), &crest);
    writer_begin_object(w);
    writer_member_number(w, "problem_size", problem_size);
    encode_point(w, speedup, problem_size, crest.executors, &crest.prediction);
    writer_member_boolean(w, "still_improving", crest.rising);
    writer_end_object(w);
}

static void encode_row(struct writer *w, const struct codec_speedup *speedup, double problem_size)
{
    writer_begin_object(w);
    writer_member_number(w, "problem_size", problem_size);
    writer_member_array(w, "points");
    for (size_t j = 0; j < speedup->n_executors; j++) {
        struct model_prediction prediction;
        surface_predict(speedup->surface, problem_size, speedup->executors[j], &prediction);
        writer_begin_object(w);
        encode_point(w, speedup, problem_size, speedup->executors[j], &prediction);
        writer_end_object(w);
    }
    writer_end_array(w);
    writer_end_object(w);
}

void codec_speedup_encode(struct writer *w, const struct codec_speedup *speedup)
{
    const struct speedup_surface *surface = speedup->surface;
    const struct model_kind *kind = surface->model->kind;
    const struct model_uncertainty *u = &surface->model->uncertainty;
    bool predicted = surface->n_predicted > 0;
    double largest = (double)NAN;
    for (size_t i = 0; predicted && i < speedup->n_sizes; i++)
        largest = fmax(largest, speedup->problem_sizes[i]);
    writer_begin_object(w);
    writer_member_text(w, "application", speedup->application);
    writer_member_integer(w, "history_version", speedup->history_version);
    writer_member_string(w, "model", speedup->predictor);
    writer_member_boolean(w, "selected", speedup->selected);
    writer_member_number(w, "predicted_problem_size", largest);
    writer_member_boolean(w, "has_speedup_law", kind->speedup != NULL && !predicted);
    writer_member_number(w, "confidence", u->confidence);
    encode_base(w, "relative_to", speedup->smallest);
    writer_member_object(w, "observed");
    encode_numbers(w, "problem_size_range", u->problem_size, 2);
    encode_numbers(w, "executors_range", u->executors, 2);
    writer_end_object(w);
    encode_numbers(w, "executor_counts", speedup->executors, speedup->n_executors);
    writer_member_array(w, "surface");
    for (size_t i = 0; i < speedup->n_sizes; i++)
        encode_row(w, speedup, speedup->problem_sizes[i]);
    writer_end_array(w);
    writer_member_array(w, "best_executors_by_size");
    for (size_t i = 0; i < speedup->n_sizes; i++)
        encode_crest(w, speedup, speedup->problem_sizes[i]);
    writer_end_array(w);
    encode_warned(w, speedup->warned);
    writer_end_object(w);
}
