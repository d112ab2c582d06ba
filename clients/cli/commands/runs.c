#include <stdlib.h>
#include <string.h>

#include "cli/commands/commands.h"
#include "cli/commands/findings.h"
#include "cli/commands/invocation.h"
#include "cli/commands/query.h"

enum { RUNS_LIMIT = 50 };

static enum style style_of_outcome(const json_t *cell)
{
    return json_is_false(cell) ? STYLE_BAD : STYLE_PLAIN;
}

/* --- which run --- */

/* The application of the run that has the id of the last word. False: recorded. */
static bool find_application(struct invocation *invocation,
                             char application[PATH_TEXT],
                             struct failure *failure)
{
    const size_t last = invocation->arguments->n_positional - 1;
    static const struct remote_parameter query[] = {{"fields", "application"}, {NULL, NULL}};
    char path[PATH_TEXT];
    if (!remote_path(invocation->remote, "/v1/runs/", invocation_word(invocation, last), "", path,
                     failure))
        return false;
    json_t *run = remote_get(invocation->remote, path, query, failure);
    (void)snprintf(application, PATH_TEXT, "%s", json_text_at(run, "application", ""));
    json_decref(run);
    return run != NULL;
}

/* The path of the run that the words name: RUN, or APPLICATION RUN. False: recorded. */
static bool run_path(struct invocation *invocation, char path[PATH_TEXT])
{
    const size_t n = invocation->arguments->n_positional;
    char application[PATH_TEXT];
    char before[PATH_TEXT];
    if (n > 1)
        (void)snprintf(application, sizeof application, "%s", invocation_word(invocation, 0));
    else if (!find_application(invocation, application, &invocation->failure))
        return false;
    return remote_path(invocation->remote, "/v1/applications/", application, "/runs/", before,
                       &invocation->failure) &&
           path_of_word(invocation, before, n - 1, "", path);
}

/* The end of a command on one run that failed. If the run is one of another application than the
 * first word says, the failure names it. */
static int run_failed(struct invocation *invocation)
{
    struct failure *failure = &invocation->failure;
    struct failure why = {.status = EXIT_DONE};
    char application[PATH_TEXT];
    if (invocation->arguments->n_positional < 2 || invocation->remote == NULL ||
        strstr(failure->what, "there is no ") == NULL ||
        !find_application(invocation, application, &why) ||
        strcmp(application, invocation_word(invocation, 0)) == 0)
        return invocation_failed(invocation);
    const enum exit_status status = failure->status;
    *failure = (struct failure){.status = EXIT_DONE};
    (void)fail(failure, status, "run %.60s is one of the application \"%.255s\", not of \"%.255s\"",
               invocation_word(invocation, 1), application, invocation_word(invocation, 0));
    (void)fail_next(failure, "the id of the run is enough");
    return invocation_failed(invocation);
}

#define ONE_RUN .positional = "[APPLICATION] RUN", .positional_min = 1, .positional_max = 2

/* --- list --- */

static const struct option_spec list_options[] = {
    OPTION_SINCE,
    OPTION_UNTIL,
    OPTION_LABEL,
    {"succeeded", 0, OPTION_CHOICE, "yes|no", "Only runs that succeeded, or that did not.", false},
    OPTION_LIMIT,
    OPTION_IDS,
    OPTIONS_END};
static const struct option_group list_group = {"Options", list_options};

static int run_list(struct invocation *invocation)
{
    static const struct column columns[] = {
        {"application", "application", CELL_NAME, NULL},
        {"started", "started_at", CELL_MINUTE, NULL},
        {"size", "problem_size", CELL_SIZE, NULL},
        {"executors", "executors", CELL_COUNT, NULL},
        {"cores each", "cores_per_executor", CELL_COUNT, NULL},
        {"took", "duration_s", CELL_SECONDS, NULL},
        {"ok", "succeeded", CELL_VERDICT, style_of_outcome},
        {"id", "id", CELL_ID, NULL},
        {"labels", "labels", CELL_TEXT, NULL},
    };
    static struct query query;
    char path[PATH_TEXT] = "/v1/runs";
    const size_t of_one = invocation->arguments->n_positional; /* its name needs no column */
    if (!invocation_begin(invocation, FORMS_OF_TABLES) ||
        (of_one > 0 && !path_of_word(invocation, "/v1/applications/", 0, "/runs", path)))
        return invocation_failed(invocation);
    const char *succeeded = argument_text(invocation->arguments, "succeeded");
    query_begin(&query, invocation);
    query_instant(&query, "since", "since");
    query_instant(&query, "until", "until");
    query_option(&query, "label", "label");
    if (succeeded != NULL)
        query_add(&query, "succeeded", succeeded[0] == 'y' ? "true" : "false");
    if (argument_given(invocation->arguments, "ids"))
        return query_ids(&query, path, RUNS_LIMIT);
    return query_list(&query, path, RUNS_LIMIT, "runs", columns + of_one, COUNT(columns) - of_one);
}

/* --- show --- */

static const struct option_spec show_options[] = {
    {"tasks", 0, OPTION_FLAG, NULL, "In JSON and YAML the duration of every task as well.", false},
    OPTIONS_END};
static const struct option_group show_group = {"Options", show_options};

static const struct column run_columns[] = {
    {"run", "id", CELL_ID, NULL},
    {"application", "application", CELL_TEXT, NULL},
    {"started", "started_at", CELL_INSTANT, NULL},
    {"succeeded", "succeeded", CELL_YES, style_of_outcome},
    {"took", "duration_s", CELL_SECONDS, NULL},
    {"  until the first stage", "initialization_s", CELL_SECONDS, NULL},
    {"size", "problem_size", CELL_SIZE_IN_FULL, NULL},
    {"  measured by", "problem_size_measured_by", CELL_TEXT, NULL},
    {"executors", "executors", CELL_COUNT, NULL},
    {"cores each", "cores_per_executor", CELL_COUNT, NULL},
    {"labels", "labels", CELL_TEXT, NULL},
    {"followed advice", "advice_id", CELL_ID, NULL},
    {"Spark application", "spark_application_id", CELL_TEXT, NULL},
    {"Spark version", "spark_version", CELL_TEXT, NULL},
    {"tasks", "tasks_succeeded", CELL_COUNT, NULL},
    {"tasks that failed", "tasks_failed", CELL_COUNT, NULL},
    {"task time", "task_time_s", CELL_SECONDS, NULL},
    {"core seconds", "core_s", CELL_NUMBER, NULL},
    {"garbage collection", "gc_time_s", CELL_SECONDS, NULL},
    {"read", "input_bytes", CELL_BYTES, NULL},
    {"written", "output_bytes", CELL_BYTES, NULL},
    {"shuffle written", "shuffle_write_bytes", CELL_BYTES, NULL},
    {"spilled to disk", "disk_spilled_bytes", CELL_BYTES, NULL},
};

static int run_show(struct invocation *invocation)
{
    static const struct column stage_columns[] = {
        {"stage", "id", CELL_COUNT, NULL},
        {"name", "name", CELL_TEXT, NULL},
        {"after", "parents", CELL_TEXT, NULL},
        {"tasks", "tasks", CELL_COUNT, NULL},
        {"took", "duration_s", CELL_SECONDS, NULL},
        {"a task", "task_duration_s", CELL_SECONDS, NULL},
    };
    char path[PATH_TEXT];
    bool tasks = argument_given(invocation->arguments, "tasks");
    const struct remote_parameter query[] = {{"include", tasks ? "tasks" : "stages"}, {NULL, NULL}};
    const bool by_id = invocation->arguments->n_positional == 1;
    if (!invocation_begin(invocation, FORMS_OF_TABLES) ||
        !(by_id ? path_of_word(invocation, "/v1/runs/", 0, "", path) : run_path(invocation, path)))
        return invocation_failed(invocation);
    json_t *found = remote_get(invocation->remote, path, query, &invocation->failure);
    if (found == NULL)
        return run_failed(invocation);
    const struct section sections[] = {
        {.value = found, .columns = run_columns, .n_columns = COUNT(run_columns)},
        {.title = "Stages",
         .value = json_object_get(found, "stages"),
         .columns = stage_columns,
         .n_columns = COUNT(stage_columns)},
        findings_warnings(found)};
    bool good = invocation_write_report(invocation, sections, COUNT(sections), found);
    json_decref(found);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

/* --- delete --- */

static const struct option_spec delete_options[] = {OPTION_YES, OPTIONS_END};
static const struct option_group delete_group = {"Options", delete_options};

static int run_delete(struct invocation *invocation)
{
    char path[PATH_TEXT];
    char what[128];
    (void)snprintf(what, sizeof what, "the run %.60s",
                   invocation_word(invocation, invocation->arguments->n_positional - 1));
    if (!invocation_begin(invocation, 1U << FORM_TABLE) ||
        !invocation_confirmed(invocation, what) || !run_path(invocation, path))
        return invocation_failed(invocation);
    return delete_path(invocation, path, what) == EXIT_DONE ? EXIT_DONE : run_failed(invocation);
}

/* --- correct --- */

static const struct option_spec correct_options[] = {
    {"size", 0, OPTION_SIZE, NULL, "Its problem size.", false},
    {"measure-size", 0, OPTION_FLAG, NULL, "Measure the problem size from the log again.", false},
    {"executors", 0, OPTION_COUNT, NULL, "Its executors.", false},
    {"cores", 0, OPTION_COUNT, NULL, "Cores of an executor.", false},
    {"label", 0, OPTION_TEXT, "KEY:VALUE", "In place of all its labels; may be repeated.", true},
    {"no-labels", 0, OPTION_FLAG, NULL, "Remove all its labels.", false},
    {"succeeded", 0, OPTION_CHOICE, "yes|no", "Whether it succeeded.", false},
    {"move-to", 0, OPTION_TEXT, "APPLICATION", "The application it belongs to.", false},
    OPTIONS_END};
static const struct option_group correct_group = {"What is to be changed", correct_options};

static bool add_labels(struct invocation *invocation, json_t *patch)
{
    size_t at = 0;
    const char *text = argument_next(invocation->arguments, "label", &at);
    if (text == NULL && !argument_given(invocation->arguments, "no-labels"))
        return true;
    json_t *labels = json_object();
    for (; text != NULL; text = argument_next(invocation->arguments, "label", &at)) {
        const char *colon = strchr(text, ':');
        char key[256];
        if (colon == NULL || colon == text || (size_t)(colon - text) >= sizeof key) {
            json_decref(labels);
            return fail(&invocation->failure, EXIT_USAGE, "--label: '%.60s' is not KEY:VALUE",
                        text);
        }
        (void)snprintf(key, sizeof key, "%.*s", (int)(colon - text), text);
        (void)json_object_set_new(labels, key, json_string(colon + 1));
    }
    (void)json_object_set_new(patch, "labels", labels);
    return true;
}

/* Two options that say different things about one member. */
static bool check_options(struct invocation *invocation)
{
    static const char *const pairs[][2] = {{"size", "measure-size"}, {"label", "no-labels"}};
    for (size_t i = 0; i < COUNT(pairs); i++)
        if (argument_given(invocation->arguments, pairs[i][0]) &&
            argument_given(invocation->arguments, pairs[i][1]))
            return fail(&invocation->failure, EXIT_USAGE, "--%s and --%s exclude each other",
                        pairs[i][0], pairs[i][1]);
    return true;
}

static bool build_patch(struct invocation *invocation, json_t *patch)
{
    const struct arguments *arguments = invocation->arguments;
    const char *succeeded = argument_text(arguments, "succeeded");
    const char *move = argument_text(arguments, "move-to");
    if (argument_given(arguments, "measure-size"))
        (void)json_object_set_new(patch, "problem_size", json_null());
    if (argument_given(arguments, "size"))
        (void)json_object_set_new(patch, "problem_size",
                                  json_real(argument_number(arguments, "size", 0)));
    if (argument_given(arguments, "executors"))
        (void)json_object_set_new(
            patch, "executors",
            json_integer((json_int_t)argument_number(arguments, "executors", 0)));
    if (argument_given(arguments, "cores"))
        (void)json_object_set_new(patch, "cores_per_executor",
                                  json_integer((json_int_t)argument_number(arguments, "cores", 0)));
    if (succeeded != NULL)
        (void)json_object_set_new(patch, "succeeded", json_boolean(succeeded[0] == 'y'));
    if (move != NULL)
        (void)json_object_set_new(patch, "application", json_string(move));
    if (!add_labels(invocation, patch))
        return false;
    return json_object_size(patch) > 0 ||
           fail(&invocation->failure, EXIT_USAGE,
                "nothing is to be changed: see `provisor runs correct --help`");
}

/* A size that was given in bytes is shown in bytes. */
static bool write_corrected(struct invocation *invocation, const json_t *run)
{
    const char *size = argument_text(invocation->arguments, "size");
    const bool in_bytes = size != NULL && strchr(size, 'B') != NULL;
    json_t *shown = json_deep_copy(run);
    struct column columns[COUNT(run_columns)];
    size_t n = 0;
    for (size_t i = 0; i < COUNT(run_columns); i++)
        if (!in_bytes || strcmp(run_columns[i].path, "problem_size_measured_by") != 0)
            columns[n++] = run_columns[i];
    if (in_bytes && invocation_for_people(invocation))
        (void)json_object_set_new(shown, "problem_size_measured_by", json_string("input_blocks"));
    const bool good = invocation_write_record(invocation, shown, columns, n);
    json_decref(shown);
    return good;
}

static bool send_patch(struct invocation *invocation, const char *path, const json_t *patch)
{
    char *text = json_dumps(patch, JSON_COMPACT);
    if (text == NULL)
        return fail_memory(&invocation->failure);
    struct remote_request request = {
        .method = "PATCH", .path = path, .text = text, .n_text = strlen(text)};
    struct remote_reply reply = {.status = 0};
    bool good = remote_call(invocation->remote, &request, &reply, &invocation->failure) &&
                write_corrected(invocation, reply.json);
    remote_reply_clear(&reply);
    free(text);
    return good;
}

static int run_correct(struct invocation *invocation)
{
    char path[PATH_TEXT];
    if (!check_options(invocation) || !invocation_begin(invocation, FORMS_OF_TABLES))
        return invocation_failed(invocation);
    json_t *patch = json_object();
    bool good = patch != NULL && build_patch(invocation, patch) && run_path(invocation, path) &&
                send_patch(invocation, path, patch);
    json_decref(patch);
    return good ? EXIT_DONE : run_failed(invocation);
}

/* --- the tables --- */

static const struct command command_list = {
    .name = "list",
    .summary = "The same, also of an application named like one of these commands.",
    .positional = "[APPLICATION]",
    .positional_max = 1,
    .examples = "  provisor runs list import",
    .groups = {&list_group},
    .run = run_list};

static const struct command command_show = {
    .name = "show",
    .summary = "Show a run with its stages.",
    ONE_RUN,
    .examples = "  provisor runs show $(provisor runs nightly-etl --ids --limit 1)",
    .groups = {&show_group},
    .run = run_show};

static const struct command command_delete = {
    .name = "delete",
    .summary = "Delete a run.",
    ONE_RUN,
    .examples = "  provisor runs delete 01a210ce-8c30-7732-99ba-b11b0a9d16ee --yes",
    .groups = {&delete_group},
    .run = run_delete};

static const struct command command_correct = {
    .name = "correct",
    .summary = "Correct what is stored of a run.",
    .description = "Changes the members that are given; the others stay as they are. Models are "
                   "fitted anew afterwards.",
    ONE_RUN,
    .examples = "  provisor runs correct 01a210ce-8c30-7732-99ba-b11b0a9d16ee --size 8GiB\n"
                "  provisor runs correct 01a210ce-8c30-7732-99ba-b11b0a9d16ee --succeeded no",
    .groups = {&correct_group},
    .run = run_correct};

static const struct command *const subcommands[] = {
    &command_list,   &command_show, &command_runs_export, &command_runs_import, &command_correct,
    &command_delete, NULL};

const struct command command_runs = {
    .name = "runs",
    .summary = "List the runs of an application, or of all, newest first.",
    .description = "Lists runs with their problem size, executors and duration. `show`, `correct` "
                   "and `delete` "
                   "take the id of a run; the application may stand before it.",
    .positional = "[APPLICATION]",
    .positional_max = 1,
    .examples = "  provisor runs nightly-etl --since 7d\n"
                "  provisor runs --since 24h\n"
                "  provisor runs nightly-etl --succeeded no --label branch:main\n"
                "  provisor runs nightly-etl --limit 1000 -o csv=runs.csv",
    .groups = {&list_group},
    .subcommands = subcommands,
    .run = run_list};
