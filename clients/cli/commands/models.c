#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/commands.h"
#include "cli/commands/invocation.h"
#include "cli/commands/one_call_rows.h"
#include "cli/commands/operation.h"
#include "cli/commands/query.h"

#define MODEL_KINDS                                                                                \
    "amdahl|gustafson|sun_ni|usba|usba_scaled|ernest|interpolation|load_per_executor|power_law|"   \
    "memory_spill|memory_cliff|worker_load|combined|pooled|ipso"

/* --- what is selected --- */

static const struct option_spec options[] = {
    {"model", 0, OPTION_CHOICE, MODEL_KINDS, "Show the parameters of this kind.", false},
    {"label", 0, OPTION_TEXT, "KEY:VALUE",
     "The models for runs with this label; may be repeated. Without it, as the latest run.", true},
    OPTIONS_END};
static const struct option_group group = {"Options", options};

static enum style style_of_selected(const json_t *cell)
{
    return json_is_true(cell) ? STYLE_GOOD : STYLE_PLAIN;
}

static enum style style_of_drift(const json_t *cell)
{
    const char *state = json_string_value(cell);
    return state != NULL && strcmp(state, "drifted") == 0 ? STYLE_WARNING : STYLE_PLAIN;
}

static const struct column head_columns[] = {
    {"application", "application", CELL_TEXT, NULL},
    {"runs used", "history.runs_used", CELL_COUNT, NULL},
    {"runs left out", "history.runs_skipped", CELL_COUNT, NULL},
    {"with less weight", "down_weighted_count", CELL_COUNT, NULL},
    {"selected", "selected_model", CELL_TEXT, NULL},
    {"drift", "drift.state", CELL_TEXT, style_of_drift},
    {"  change", "drift.change_percent", CELL_PERCENT, NULL},
    {"refitted", "refit.refitted_at", CELL_INSTANT, NULL},
};

static const struct column candidate_columns[] = {
    {"model", "model", CELL_TEXT, NULL},
    {"selected", "selected", CELL_YES, style_of_selected},
    {"error, runs", "comparison.loo_mape_percent", CELL_PERCENT, NULL},
    {"error, executors", "comparison.scale_out_mape_percent", CELL_PERCENT, NULL},
    {"parameters", "parameters_estimated", CELL_COUNT, NULL},
    {"status", "status", CELL_WORD, NULL},
};

static const json_t *candidate_of(const json_t *models, const char *kind)
{
    const json_t *candidates = json_object_get(models, "candidates");
    for (size_t i = 0; kind != NULL && i < json_array_size(candidates); i++) {
        const json_t *candidate = json_array_get(candidates, i);
        if (strcmp(json_text_at(candidate, "model", ""), kind) == 0)
            return candidate;
    }
    return NULL;
}

/* [{name, estimate, std_error, p_value}], from an object by name. */
static json_t *parameter_rows(const json_t *candidate)
{
    const char *key;
    json_t *value;
    json_t *rows = json_array();
    json_object_foreach((json_t *)(uintptr_t)json_object_get(candidate, "parameters"), key, value)
    {
        json_t *row = json_copy(value);
        (void)json_object_set_new(row, "parameter", json_string(key));
        (void)json_array_append_new(rows, row);
    }
    return rows;
}

static const char *reason_of(const json_t *models, const json_t *candidate)
{
    const char *why = json_text_at(candidate, "error.message", NULL);
    return why != NULL ? why : json_text_at(models, "reasons.0.message", "");
}

static bool write_models(struct invocation *invocation, const json_t *models)
{
    static const struct column parameter_columns[] = {
        {"parameter", "parameter", CELL_TEXT, NULL},    {"estimate", "estimate", CELL_NUMBER, NULL},
        {"std. error", "std_error", CELL_NUMBER, NULL}, {"p value", "p_value", CELL_NUMBER, NULL},
        {"dropped", "dropped", CELL_YES, NULL},
    };
    static const struct column component_columns[] = {
        {"law", "model", CELL_TEXT, NULL},
        {"weight", "weight", CELL_SHARE, NULL},
        {"parameters", "parameters", CELL_TEXT, NULL},
    };
    const char *kind = argument_text(invocation->arguments, "model");
    if (kind == NULL)
        kind = json_text_at(models, "selected_model", NULL);
    const json_t *candidate = candidate_of(models, kind);
    char parameters[64];
    char components[64];
    (void)snprintf(parameters, sizeof parameters, "Parameters of %s", kind == NULL ? "-" : kind);
    (void)snprintf(components, sizeof components, "Laws in %s", kind == NULL ? "-" : kind);
    json_t *rows = parameter_rows(candidate);
    const struct section sections[] = {
        {.value = models, .columns = head_columns, .n_columns = COUNT(head_columns)},
        {.text = reason_of(models, candidate)},
        {.text = json_text_at(models, "warnings.0.message", "")},
        {.title = "Candidates: mean error on runs, and on executor counts, that were left out",
         .value = json_object_get(models, "candidates"),
         .columns = candidate_columns,
         .n_columns = COUNT(candidate_columns)},
        {.title = parameters,
         .value = rows,
         .columns = parameter_columns,
         .n_columns = COUNT(parameter_columns)},
        {.title = components,
         .value = json_at(candidate, "tables.components"),
         .columns = component_columns,
         .n_columns = COUNT(component_columns)}};
    bool good = invocation_write_report(invocation, sections, COUNT(sections), models);
    json_decref(rows);
    return good;
}

static int run(struct invocation *invocation)
{
    static struct query query;
    char path[PATH_TEXT];
    if (!invocation_begin(invocation, FORMS_OF_TABLES) ||
        !path_of_word(invocation, "/v1/applications/", 0, "/models", path))
        return invocation_failed(invocation);
    query_begin(&query, invocation);
    query_option(&query, "label", "label");
    json_t *models = remote_get(invocation->remote, path, query.n == 0 ? NULL : query.items,
                                &invocation->failure);
    bool good = models != NULL && write_models(invocation, models);
    json_decref(models);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

/* --- refit --- */

static const struct option_spec refit_options[] = {
    {"model", 0, OPTION_CHOICE, MODEL_KINDS,
     "The kind to find intervals for; the selected one without it.", false},
    {"resamples", 0, OPTION_COUNT, NULL, "How many histories are drawn.", false},
    {"confidence", 0, OPTION_SHARE, NULL, "Of the intervals (95%).", false},
    {"seed", 0, OPTION_NUMBER, NULL, "Of the random numbers (1).", false},
    {"wait", 0, OPTION_FLAG, NULL, "Wait until it is done, and show the result.", false},
    OPTIONS_END};
static const struct option_group refit_group = {"Options", refit_options};

/* As an integer where it is one that JSON holds exactly; what else it is, the service refuses. */
static json_t *json_whole(double value)
{
    return value <= 9007199254740992.0 && floor(value) == value ? json_integer((json_int_t)value)
                                                                : json_real(value);
}

static json_t *refit_request(const struct arguments *arguments)
{
    json_t *body = json_object();
    const char *model = argument_text(arguments, "model");
    if (model != NULL)
        (void)json_object_set_new(body, "model", json_string(model));
    if (argument_given(arguments, "resamples"))
        (void)json_object_set_new(
            body, "resamples",
            json_integer((json_int_t)argument_number(arguments, "resamples", 0)));
    if (argument_given(arguments, "confidence"))
        (void)json_object_set_new(body, "confidence",
                                  json_real(argument_number(arguments, "confidence", 0)));
    if (argument_given(arguments, "seed"))
        (void)json_object_set_new(body, "seed", json_whole(argument_number(arguments, "seed", 0)));
    return body;
}

static int show_refit(struct invocation *invocation, const json_t *begun)
{
    const char *id = json_text_at(begun, "id", "");
    if (!argument_given(invocation->arguments, "wait")) {
        if (!operation_write(invocation, begun))
            return invocation_failed(invocation);
        invocation_say(invocation, "`provisor operations watch %s` follows it.", id);
        return EXIT_DONE;
    }
    json_t *operation = operation_follow(invocation, id);
    bool good = operation != NULL && operation_write(invocation, operation);
    int status = good ? operation_outcome(invocation, operation) : invocation_failed(invocation);
    json_decref(operation);
    return status;
}

static int run_refit(struct invocation *invocation)
{
    char path[PATH_TEXT];
    if (!invocation_begin(invocation, FORMS_OF_TABLES) ||
        !path_of_word(invocation, "/v1/applications/", 0, "/refit", path))
        return invocation_failed(invocation);
    struct remote_reply reply = {.status = 0};
    if (!post_document(invocation, path, refit_request(invocation->arguments), true, &reply)) {
        remote_reply_clear(&reply);
        return invocation_failed(invocation);
    }
    int status = show_refit(invocation, reply.json);
    remote_reply_clear(&reply);
    return status;
}

static const struct command command_refit = {
    .name = "refit",
    .summary = "Fit the models anew, with intervals by bootstrap.",
    .description =
        "An operation of the service: every kind is fitted to the history as it is, and "
        "the selected one, or --model, again to many histories like it. The spread gives "
        "intervals for parameters and predictions. The same history and seed give the "
        "same numbers.",
    .positional = "APPLICATION",
    .positional_min = 1,
    .positional_max = 1,
    .examples =
        "  provisor models refit nightly-etl --wait\n"
        "  provisor models refit nightly-etl --model ernest --resamples 5000 --wait -o json",
    .groups = {&refit_group},
    .run = run_refit};

static const struct command command_show = {
    .name = "show",
    .summary = "The same, also of an application named like one of these commands.",
    .positional = "APPLICATION",
    .positional_min = 1,
    .positional_max = 1,
    .examples = "  provisor models show refit",
    .groups = {&group},
    .run = run};

/* --- observations and models of a file --- */

static const struct column fitted_columns[] = {
    {"model", "model", CELL_NAME, NULL},
    {"observations", "fit.observations", CELL_COUNT, NULL},
    {"mean error", "fit.mape_percent", CELL_PERCENT, NULL},
    {"greatest error", "fit.max_error_percent", CELL_PERCENT, NULL},
    {"error on left out ones", "fit.loo_mape_percent", CELL_PERCENT, NULL},
};
static const struct column estimate_columns[] = {
    {"parameter", "parameter", CELL_NAME, NULL},
    {"estimate", "estimate", CELL_NUMBER, NULL},
    {"standard error", "std_error", CELL_NUMBER, NULL},
    {"p-value", "p_value", CELL_NUMBER, NULL},
};
static const struct column residual_columns[] = {
    {"size", "problem_size", CELL_NUMBER, NULL},
    {"executors", "executors", CELL_COUNT, NULL},
    {"took", "actual", CELL_SECONDS, NULL},
    {"by the model", "predicted", CELL_SECONDS, NULL},
    {"error", "error_percent", CELL_PERCENT, NULL},
};
static const struct column predicted_columns[] = {
    {"size", "problem_size", CELL_NUMBER, NULL},
    {"executors", "executors", CELL_COUNT, NULL},
    {"takes", "duration_s", CELL_SECONDS, NULL},
    {"speedup", "speedup", CELL_NUMBER, NULL},
    {"at least", "interval_s.0", CELL_SECONDS, NULL},
    {"at most", "interval_s.1", CELL_SECONDS, NULL},
};
static const struct one_call fit = {
    .method = "POST",
    .path = "/v1/models/fit",
    .has_file = true,
    .parts = {PART(NULL, "", fitted_columns),
              {"Parameters", "parameters", "parameter", estimate_columns, COUNT(estimate_columns)},
              PART("Observations", "residuals", residual_columns)}};
static const struct one_call predict = {.method = "POST",
                                        .path = "/v1/models/predict",
                                        .has_file = true,
                                        .parts = {PART(NULL, "predictions", predicted_columns)}};

static const struct command command_fit = {
    .name = "fit",
    .summary = "Fit a model to observations in a file; nothing is stored.",
    .description =
        "Reads the observations from a JSON or YAML file, or from standard input (-), as "
        "POST /v1/models/fit takes them.",
    POSITIONAL("FILE", 1),
    .examples = "  provisor models fit observations.yaml\n"
                "  provisor models fit observations.yaml -o json > model.json",
    CALLS(fit)};

static const struct command command_predict = {
    .name = "predict",
    .summary = "Predict by a model in a file; nothing is stored.",
    .description =
        "Reads the model and the points from a JSON or YAML file, or from standard input "
        "(-), as POST /v1/models/predict takes them.",
    POSITIONAL("FILE", 1),
    .examples = "  provisor models predict model.yaml",
    CALLS(predict)};

static const struct command *const subcommands[] = {&command_show, &command_refit, &command_fit,
                                                    &command_predict, NULL};

const struct command command_models = {
    .name = "models",
    .summary = "Show how an application scales, by every kind of model.",
    .description = "Shows which model is selected and why, how well every kind predicts runs and "
                   "executor counts that it has not seen, and the parameters of the selected one.",
    .positional = "APPLICATION",
    .positional_min = 1,
    .positional_max = 1,
    .examples = "  provisor models nightly-etl\n"
                "  provisor models nightly-etl --model ernest\n"
                "  provisor models nightly-etl -o csv",
    .groups = {&group},
    .subcommands = subcommands,
    .run = run};
