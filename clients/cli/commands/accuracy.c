#include "cli/commands/commands.h"
#include "cli/commands/invocation.h"
#include "cli/commands/query.h"

enum { ACCURACY_LIMIT = 50 };

static const struct option_spec options[] = {
    {"since", 0, OPTION_TEXT, "WHEN",
     "Of the team, runs from then on: 2026-01-05, 2026-01-05T10:00:00Z, or 30d.", false},
    {"until", 0, OPTION_TEXT, "WHEN", "Of the team, runs before then.", false},
    OPTION_LIMIT,
    OPTIONS_END};
static const struct option_group group = {"Options", options};

static enum style style_of_inside(const json_t *cell)
{
    return json_is_false(cell) ? STYLE_WARNING : STYLE_PLAIN;
}

static const char *remark_of(const json_t *counts)
{
    return json_number_at(counts, "count", 0) > 0
               ? ""
               : "No run has named the advice that it followed (spark.provisor.adviceId) so far.";
}

/* --- shares of few runs --- */

/* Of fewer runs a share says more than they do: "1 of 1", not "100 %". */
enum { SHARE_OF_RUNS_MIN = 20 };

static void count_share(json_t *object, const char *share, const char *of_runs)
{
    char text[48];
    const json_t *value = json_object_get(object, share);
    double n = json_number_at(object, of_runs, 0);
    if (!json_is_number(value) || n >= SHARE_OF_RUNS_MIN)
        return;
    (void)snprintf(text, sizeof text, "%.0f of %.0f", json_number_value(value) * n, n);
    (void)json_object_set_new(object, share, json_string(text));
}

/* The reply with counts instead of such shares, for tables; NULL: no memory. */
static json_t *with_counted_shares(const json_t *reply)
{
    static const char *const lists[] = {"items", "by_model"};
    json_t *shown = json_deep_copy(reply);
    size_t i;
    json_t *object;
    count_share(json_object_get(shown, "summary"), "interval_coverage", "runs_compared");
    count_share(json_object_get(shown, "overall"), "interval_coverage", "runs_compared");
    for (size_t list = 0; list < COUNT(lists); list++)
        json_array_foreach(json_object_get(shown, lists[list]), i, object)
            count_share(object, "interval_coverage", "runs_compared");
    json_array_foreach((json_t *)(uintptr_t)json_at(shown, "overall.calibration"), i, object)
        count_share(object, "observed_rate", "count");
    return shown;
}

/* --- one application --- */

static bool
write_application(struct invocation *invocation, const json_t *shown, const json_t *reply)
{
    static const struct column summary[] = {
        {"runs that followed advice", "count", CELL_COUNT, NULL},
        {"  compared", "runs_compared", CELL_COUNT, NULL},
        {"mean absolute error", "mape_percent", CELL_PERCENT, NULL},
        {"mean error (+: predicted too long)", "mean_error_percent", CELL_PERCENT, NULL},
        {"inside the interval", "interval_coverage", CELL_SHARE, NULL},
        {"  should be", "confidence", CELL_SHARE, NULL},
    };
    static const struct column items[] = {
        {"predicted", "advised.predicted_duration_s", CELL_SECONDS, NULL},
        {"took", "measured.duration_s", CELL_SECONDS, NULL},
        {"error", "error_percent", CELL_PERCENT, NULL},
        {"inside", "within_interval", CELL_VERDICT, style_of_inside},
        {"run of", "at", CELL_MINUTE, NULL},
        {"size", "advised.problem_size", CELL_SIZE, NULL},
        {"executors", "advised.executors", CELL_COUNT, NULL},
        {"model", "advised.model", CELL_TEXT, NULL},
        {"run", "run_id", CELL_ID, NULL},
    };
    json_t *rows = rows_with_size_unit(invocation, json_object_get(shown, "items"), "advised");
    const struct section sections[] = {{.value = json_object_get(shown, "summary"),
                                        .columns = summary,
                                        .n_columns = COUNT(summary)},
                                       {.text = remark_of(json_object_get(shown, "summary"))},
                                       {.title = "Runs, newest first",
                                        .value = rows,
                                        .columns = items,
                                        .n_columns = COUNT(items)}};
    const bool good = invocation_write_report(invocation, sections, COUNT(sections), reply);
    json_decref(rows);
    return good;
}

/* --- the team --- */

/* Tenths of the probability in which there is any run. */
static json_t *calibration_rows(const json_t *reply)
{
    const json_t *all = json_at(reply, "overall.calibration");
    json_t *rows = json_array();
    for (size_t i = 0; i < json_array_size(all); i++)
        if (json_number_at(json_array_get(all, i), "count", 0) > 0)
            (void)json_array_append(rows, json_array_get(all, i));
    return rows;
}

#define ACCURACY_COLUMNS                                                                           \
    {"runs", "count", CELL_COUNT, NULL}, {"compared", "runs_compared", CELL_COUNT, NULL},          \
        {"error", "mape_percent", CELL_PERCENT, NULL},                                             \
        {"median", "median_ape_percent", CELL_PERCENT, NULL},                                      \
        {"bias", "mean_error_percent", CELL_PERCENT, NULL},                                        \
        {"inside", "interval_coverage", CELL_SHARE, NULL},                                         \
    {                                                                                              \
        "should be", "confidence", CELL_SHARE, NULL                                                \
    }

static bool write_team(struct invocation *invocation, const json_t *shown, const json_t *reply)
{
    static const struct column applications[] = {{"application", "application", CELL_NAME, NULL},
                                                 ACCURACY_COLUMNS};
    static const struct column models[] = {{"model", "model", CELL_TEXT, NULL}, ACCURACY_COLUMNS};
    static const struct column overall[] = {ACCURACY_COLUMNS};
    static const struct column calibration[] = {
        {"predicted from", "probability_from", CELL_PROBABILITY, NULL},
        {"to", "probability_to", CELL_PROBABILITY, NULL},
        {"runs", "count", CELL_COUNT, NULL},
        {"predicted", "predicted_probability", CELL_PROBABILITY, NULL},
        {"in time", "observed_rate", CELL_SHARE, NULL},
    };
    json_t *tenths = calibration_rows(shown);
    const struct section sections[] = {
        {.title = "All runs that followed advice",
         .value = json_object_get(shown, "overall"),
         .columns = overall,
         .n_columns = COUNT(overall)},
        {.text = remark_of(json_object_get(shown, "overall"))},
        {.title = "By application",
         .value = json_object_get(shown, "items"),
         .columns = applications,
         .n_columns = COUNT(applications)},
        {.title = "By model",
         .value = json_object_get(shown, "by_model"),
         .columns = models,
         .n_columns = COUNT(models)},
        {.title = "Probability of meeting the deadline, and share that met it",
         .value = tenths,
         .columns = calibration,
         .n_columns = COUNT(calibration)}};
    bool good = invocation_write_report(invocation, sections, COUNT(sections), reply);
    json_decref(tenths);
    return good;
}

static bool refuse_window(struct invocation *invocation)
{
    const struct arguments *arguments = invocation->arguments;
    return !(argument_given(arguments, "since") || argument_given(arguments, "until")) ||
           fail(&invocation->failure, EXIT_USAGE,
                "--since and --until are for all applications together: leave out the name");
}

static int run(struct invocation *invocation)
{
    static struct query query;
    char path[PATH_TEXT] = "/v1/accuracy";
    bool team = invocation->arguments->n_positional == 0;
    if (!invocation_begin(invocation, FORMS_OF_TABLES) ||
        (!team && (!refuse_window(invocation) ||
                   !path_of_word(invocation, "/v1/applications/", 0, "/accuracy", path))))
        return invocation_failed(invocation);
    query_begin(&query, invocation);
    query_instant(&query, "since", "since");
    query_instant(&query, "until", "until");
    json_t *reply = query_pages(&query, path, ACCURACY_LIMIT);
    json_t *shown =
        invocation_for_people(invocation) ? with_counted_shares(reply) : json_incref(reply);
    bool good = reply != NULL && (team ? write_team(invocation, shown, reply)
                                       : write_application(invocation, shown, reply));
    json_decref(shown);
    json_decref(reply);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

const struct command command_accuracy = {
    .name = "accuracy",
    .summary = "Compare what was advised with the runs that followed.",
    .description =
        "Of an application: every run that followed advice, what was predicted and what came of "
        "it. Without a name: all applications, by application and by model, and whether deadlines "
        "were met as often as predicted. The share of runs inside their interval should be near "
        "the confidence that was asked for.",
    .positional = "[APPLICATION]",
    .positional_max = 1,
    .examples = "  provisor accuracy\n"
                "  provisor accuracy --since 30d\n"
                "  provisor accuracy nightly-etl -o csv",
    .groups = {&group},
    .run = run};
