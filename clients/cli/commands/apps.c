#include "cli/commands/commands.h"
#include "cli/commands/invocation.h"
#include "cli/commands/query.h"

enum { APPS_LIMIT = 50 };

/* --- list --- */

static const struct option_spec list_options[] = {
    {"prefix", 0, OPTION_TEXT, NULL, "Only names that begin so.", false},
    {"contains", 0, OPTION_TEXT, NULL, "Only names that have this in them, whatever the case.",
     false},
    OPTION_LABEL,
    {"sort", 0, OPTION_CHOICE, "name|last_run|name_ignoring_case",
     "The order; last_run: the latest first.", false},
    OPTION_LIMIT,
    {"names", 0, OPTION_FLAG, NULL, "The names alone, one a line.", false},
    OPTIONS_END};
static const struct option_group list_group = {"Options", list_options};

static enum style style_of_run(const json_t *cell)
{
    return json_is_false(cell) ? STYLE_BAD : STYLE_PLAIN;
}

static int write_names(struct query *query)
{
    bool more;
    query_add(query, "fields", "name");
    json_t *items = query_items(query, "/v1/applications", APPS_LIMIT, &more);
    if (items == NULL)
        return invocation_failed(query->invocation);
    for (size_t i = 0; i < json_array_size(items); i++) {
        print_safely(stdout, json_text_at(json_array_get(items, i), "name", ""));
        putchar('\n');
    }
    json_decref(items);
    return EXIT_DONE;
}

static int run(struct invocation *invocation)
{
    static const struct column columns[] = {
        {"application", "name", CELL_NAME, NULL},
        {"runs", "runs", CELL_COUNT, NULL},
        {"last run", "last_run_at", CELL_MINUTE, NULL},
        {"size", "last_run.problem_size", CELL_SIZE, NULL},
        {"executors", "last_run.executors", CELL_COUNT, NULL},
        {"took", "last_run.duration_s", CELL_SECONDS, NULL},
        {"ok", "last_run.succeeded", CELL_VERDICT, style_of_run},
        {"advised", "last_advice.executors", CELL_COUNT, NULL},
        {"verdict", "last_advice.verdict", CELL_VERDICT, NULL},
    };
    static struct query query;
    if (!invocation_begin(invocation, FORMS_OF_TABLES))
        return invocation_failed(invocation);
    query_begin(&query, invocation);
    query_option(&query, "prefix", "name_prefix");
    query_option(&query, "contains", "name_contains");
    query_option(&query, "label", "label");
    query_option(&query, "sort", "sort");
    if (argument_given(invocation->arguments, "names"))
        return write_names(&query);
    query_add(&query, "include", "last_run,last_advice");
    return query_list(&query, "/v1/applications", APPS_LIMIT, "applications", columns,
                      COUNT(columns));
}

/* --- show --- */

static int run_show(struct invocation *invocation)
{
    static const struct column columns[] = {
        {"application", "name", CELL_NAME, NULL},
        {"description", "description", CELL_TEXT, NULL},
        {"labels", "labels", CELL_TEXT, NULL},
        {"problem size", "problem_size_measure.kind", CELL_TEXT, NULL},
        {"runs", "runs", CELL_COUNT, NULL},
        {"runs kept", "retention.runs", CELL_COUNT, NULL},
        {"days kept", "retention.days", CELL_COUNT, NULL},
        {"last run", "last_run_at", CELL_INSTANT, NULL},
        {"  id", "last_run.id", CELL_ID, NULL},
        {"  size", "last_run.problem_size", CELL_SIZE_IN_FULL, NULL},
        {"  executors", "last_run.executors", CELL_COUNT, NULL},
        {"  cores each", "last_run.cores_per_executor", CELL_COUNT, NULL},
        {"  took", "last_run.duration_s", CELL_SECONDS, NULL},
        {"  succeeded", "last_run.succeeded", CELL_VERDICT, style_of_run},
        {"last advice", "last_advice_at", CELL_INSTANT, NULL},
        {"  id", "last_advice.id", CELL_ID, NULL},
        {"  verdict", "last_advice.verdict", CELL_VERDICT, NULL},
        {"  executors", "last_advice.executors", CELL_COUNT, NULL},
        {"  predicted", "last_advice.predicted_duration_s", CELL_SECONDS, NULL},
        {"  deadline", "last_advice.deadline_s", CELL_SECONDS, NULL},
        {"  in time", "last_advice.deadline_probability", CELL_PROBABILITY, NULL},
    };
    static const struct remote_parameter query[] = {{"include", "last_run,last_advice"},
                                                    {NULL, NULL}};
    char path[PATH_TEXT];
    if (!invocation_begin(invocation, FORMS_OF_TABLES) ||
        !path_of_word(invocation, "/v1/applications/", 0, "", path))
        return invocation_failed(invocation);
    json_t *application = remote_get(invocation->remote, path, query, &invocation->failure);
    bool good = application != NULL &&
                invocation_write_record(invocation, application, columns, COUNT(columns));
    json_decref(application);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

/* --- delete --- */

static const struct option_spec delete_options[] = {OPTION_YES, OPTIONS_END};
static const struct option_group delete_group = {"Options", delete_options};

static int run_delete(struct invocation *invocation)
{
    char path[PATH_TEXT];
    char what[256];
    (void)snprintf(what, sizeof what, "the application %.100s with all its runs and advice",
                   invocation_word(invocation, 0));
    if (!invocation_begin(invocation, 1U << FORM_TABLE) ||
        !path_of_word(invocation, "/v1/applications/", 0, "", path) ||
        !invocation_confirmed(invocation, what))
        return invocation_failed(invocation);
    return delete_path(invocation, path, what);
}

static const struct command command_show = {
    .name = "show",
    .summary = "Show an application with its latest run and advice.",
    .positional = "APPLICATION",
    .positional_min = 1,
    .positional_max = 1,
    .examples = "  provisor apps show nightly-etl",
    .run = run_show};

static const struct command command_delete = {
    .name = "delete",
    .summary = "Delete an application with all its runs and advice.",
    .positional = "APPLICATION",
    .positional_min = 1,
    .positional_max = 1,
    .examples = "  provisor apps delete nightly-etl --yes",
    .groups = {&delete_group},
    .run = run_delete};

static const struct command *const subcommands[] = {&command_show, &command_delete, NULL};

const struct command command_apps = {
    .name = "apps",
    .summary = "List the applications with their latest run and advice.",
    .description =
        "Lists the applications of your team: how many runs are stored, when and how the latest "
        "one ran, and what was advised last. Columns that the terminal has no room for are left "
        "out; a pipe, CSV and JSON have all of them.",
    .examples = "  provisor apps\n"
                "  provisor apps --prefix nightly- --sort last_run --limit 10\n"
                "  provisor apps --names | xargs -n 1 provisor models",
    .groups = {&list_group},
    .subcommands = subcommands,
    .run = run};
