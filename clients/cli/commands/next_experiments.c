#include "cli/commands/commands.h"
#include "cli/commands/invocation.h"
#include "cli/commands/query.h"

static const struct option_spec options[] = {
    {"size", 0, OPTION_SIZE, NULL,
     "The problem size of interest; the largest of the runs without it.", false},
    {"executors", 0, OPTION_TEXT, "N,...", "The executor counts of interest.", false},
    {"sizes", 0, OPTION_TEXT, "SIZE,...", "Problem sizes that may be run.", false},
    {"min-executors", 0, OPTION_COUNT, NULL, "The fewest executors that may be run.", false},
    {"max-executors", 0, OPTION_COUNT, NULL, "The most executors that may be run.", false},
    {"count", 0, OPTION_COUNT, NULL, "How many runs (3).", false},
    {"criterion", 0, OPTION_CHOICE, "imse|cheapest|d_optimal",
     "What to choose by: the most certainty (imse), the most for its cost, or the parameters of "
     "the "
     "model.",
     false},
    {"price", 0, OPTION_NUMBER, NULL, "Price of an executor hour.", false},
    {"max-cost", 0, OPTION_NUMBER, NULL, "All runs together; takes --price.", false},
    {"label", 0, OPTION_TEXT, "KEY:VALUE", "For runs with this label; may be repeated.", true},
    OPTIONS_END};
static const struct option_group group = {"Options", options};

static bool write_experiments(struct invocation *invocation, const json_t *reply)
{
    static const struct column columns[] = {
        {"size", "problem_size", CELL_SIZE, NULL},
        {"executors", "executors", CELL_COUNT, NULL},
        {"times", "repeat", CELL_COUNT, NULL},
        {"runs so far", "existing_runs", CELL_COUNT, NULL},
        {"takes", "predicted_duration_s", CELL_SECONDS, NULL},
        {"cost", "cost", CELL_NUMBER, NULL},
        {"narrows by", "expected_interval_cut_percent", CELL_PERCENT, NULL},
        {"all so far", "cumulative_interval_cut_percent", CELL_PERCENT, NULL},
        {"why", "reasons.0.message", CELL_TEXT, NULL},
    };
    json_t *rows = rows_with_size_unit(invocation, json_object_get(reply, "items"), NULL);
    const struct section sections[] = {
        {.value = rows, .columns = columns, .n_columns = COUNT(columns)},
        {.text = json_text_at(reply, "warnings.0.message", "")},
        {.text = json_text_at(reply, "warnings.1.message", "")},
        {.text = json_text_at(reply, "warnings.2.message", "")}};
    const bool good = invocation_write_report(invocation, sections, COUNT(sections), reply);
    json_decref(rows);
    return good;
}

static int run(struct invocation *invocation)
{
    static struct query query;
    char path[PATH_TEXT];
    if (!invocation_begin(invocation, FORMS_OF_TABLES) ||
        !path_of_word(invocation, "/v1/applications/", 0, "/next-experiments", path))
        return invocation_failed(invocation);
    query_begin(&query, invocation);
    query_size(&query, "size", "problem_size");
    query_option(&query, "executors", "executors");
    query_sizes(&query, "sizes", "problem_sizes");
    query_option(&query, "min-executors", "min_executors");
    query_option(&query, "max-executors", "max_executors");
    query_option(&query, "count", "count");
    query_option(&query, "criterion", "criterion");
    query_option(&query, "price", "price_per_executor_hour");
    query_option(&query, "max-cost", "max_cost");
    query_option(&query, "label", "label");
    json_t *reply = query.failed
                        ? NULL
                        : remote_get(invocation->remote, path, query.n == 0 ? NULL : query.items,
                                     &invocation->failure);
    bool good = reply != NULL && write_experiments(invocation, reply);
    json_decref(reply);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

const struct command command_next_experiments = {
    .name = "next-experiments",
    .summary = "Show which runs to make next to predict better.",
    .description = "Lists the configurations, among the problem sizes and executor counts that may "
                   "be run, whose runs narrow the interval of the prediction most.",
    .positional = "APPLICATION",
    .positional_min = 1,
    .positional_max = 1,
    .examples = "  provisor next-experiments nightly-etl --size 64 --executors 12\n"
                "  provisor next-experiments nightly-etl --criterion cheapest --price 0.21",
    .groups = {&group},
    .run = run};
