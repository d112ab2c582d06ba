#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "cli/commands/commands.h"
#include "cli/commands/invocation.h"
#include "cli/ingest/ingest.h"

enum { THREADS_DEFAULT = 4, THREADS_MAX = 256, RESCAN_S = 60, QUIET_S = 5, NUMBER_TEXT = 32 };

static const struct option_spec run_options[] = {
    {"application", 0, OPTION_TEXT, "NAME",
     "The application of all logs; without it each log names its own.", false},
    {"label", 0, OPTION_TEXT, "KEY:VALUE", "A label of every run; may be repeated.", true},
    {"size", 0, OPTION_SIZE, NULL, "The problem size, in place of the one measured from the log.",
     false},
    {"executors", 0, OPTION_COUNT, NULL, "The largest number of executors, in place of the log's.",
     false},
    {"cores", 0, OPTION_COUNT, NULL, "Cores of an executor, in place of the log's.", false},
    {"advice", 0, OPTION_TEXT, "ID", "The advice that the run followed; of one log only.", false},
    {NULL, 0, OPTION_FLAG, NULL, NULL, false}};

static const struct option_spec way_options[] = {
    {"jobs", 'j', OPTION_COUNT, NULL, "How many logs are sent at the same time (4).", false},
    {"dry-run", 'n', OPTION_FLAG, NULL, "Send nothing; list what would be sent.", false},
    {"include-unfinished", 0, OPTION_FLAG, NULL,
     "Send logs that are still being written, too; sent again after its end, a log replaces what "
     "was sent before.",
     false},
    {"state", 0, OPTION_FILE, NULL, "The journal of what was sent.", false},
    {"again", 0, OPTION_FLAG, NULL, "Send what the journal says was sent before, too.", false},
    {"watch", 'w', OPTION_FLAG, NULL, "Go on and send each log once it is finished.", false},
    {"rescan", 0, OPTION_DURATION, NULL, "With --watch: how often everything is looked at (60s).",
     false},
    {"quiet-for", 0, OPTION_DURATION, NULL,
     "With --watch: how long a file must not have changed, where its name does not tell that it is "
     "finished (5s).",
     false},
    {NULL, 0, OPTION_FLAG, NULL, NULL, false}};

static const struct option_spec source_options[] = {
    {"history-server", 0, OPTION_TEXT, "URL", "Take the logs of a Spark History Server.", false},
    {"endpoint", 0, OPTION_TEXT, "URL", "S3: the server, in place of AWS.", false},
    {"region", 0, OPTION_TEXT, "NAME", "S3: the region.", false},
    {"path-style", 0, OPTION_FLAG, NULL, "S3: the bucket stands in the path of the URL.", false},
    {"user", 0, OPTION_TEXT, "NAME", "WebHDFS: the user.", false},
    {NULL, 0, OPTION_FLAG, NULL, NULL, false}};

static const struct option_group run_group = {"What is said of the runs", run_options};
static const struct option_group way_group = {"How they are sent", way_options};
static const struct option_group source_group = {"Where the logs lie", source_options};

/* --- the query --- */

struct query {
    struct remote_parameter *items; /* ended by a NULL name */
    size_t n;
    size_t capacity;
    char numbers[3][NUMBER_TEXT];
};

static bool add_parameter(struct query *query, const char *name, const char *value)
{
    struct remote_parameter *parameter = vector_add(NULL, query);
    if (parameter == NULL)
        return false;
    *parameter = (struct remote_parameter){name, value};
    return true;
}

static bool add_number(const struct arguments *arguments,
                       struct query *query,
                       size_t number,
                       const char *option,
                       const char *name)
{
    char *text = query->numbers[number];
    if (!argument_given(arguments, option))
        return true;
    (void)snprintf(text, NUMBER_TEXT, "%.17g", argument_number(arguments, option, 0));
    return add_parameter(query, name, text);
}

static bool check_label(const char *label, struct failure *failure)
{
    const char *colon = strchr(label, ':');
    return (colon != NULL && colon != label) ||
           fail(failure, EXIT_USAGE, "--label reads KEY:VALUE, not %s", label);
}

static bool
read_query(const struct arguments *arguments, struct query *query, struct failure *failure)
{
    size_t at = 0;
    const char *advice = argument_text(arguments, "advice");
    bool good = add_number(arguments, query, 0, "size", "problem_size") &&
                add_number(arguments, query, 1, "executors", "executors") &&
                add_number(arguments, query, 2, "cores", "cores_per_executor") &&
                (advice == NULL || add_parameter(query, "advice_id", advice));
    for (const char *label; good && (label = argument_next(arguments, "label", &at)) != NULL;) {
        if (!check_label(label, failure))
            return false;
        good = add_parameter(query, "label", label);
    }
    return (good && add_parameter(query, NULL, NULL)) || fail_memory(failure);
}

/* --- options --- */

static bool read_form(struct invocation *invocation, enum report_form *form)
{
    const struct outputs *outputs = &invocation->outputs;
    for (size_t i = 0; i < outputs->n; i++)
        if (outputs->items[i].file != NULL)
            return fail(&invocation->failure, EXIT_USAGE,
                        "lines are written to standard output as logs end: use > in place of "
                        "-o FORM=FILE");
    *form = outputs->items[0].form == FORM_JSON ? REPORT_JSON : REPORT_TEXT;
    return true;
}

static bool read_path(struct invocation *invocation, char path[1024])
{
    const char *application = argument_text(invocation->arguments, "application");
    if (application != NULL)
        return remote_path(invocation->remote, "/v1/applications/", application, "/eventlogs", path,
                           &invocation->failure);
    (void)snprintf(path, 1024, "/v1/eventlogs");
    return true;
}

static bool check(struct invocation *invocation)
{
    const struct arguments *arguments = invocation->arguments;
    struct failure *failure = &invocation->failure;
    const char *region = argument_text(arguments, "region");
    if (arguments->n_positional == 0 && !argument_given(arguments, "history-server"))
        return fail(failure, EXIT_USAGE,
                    "ingest needs a path, a URL, - for standard input, or --history-server");
    static const char *const of_a_moment[] = {"dry-run", "again", "advice"};
    for (size_t i = 0; i < 3 && argument_given(arguments, "watch"); i++)
        if (argument_given(arguments, of_a_moment[i]))
            return fail(failure, EXIT_USAGE, "--watch and --%s exclude each other", of_a_moment[i]);
    if (argument_number(arguments, "jobs", 1) > THREADS_MAX)
        return fail(failure, EXIT_USAGE, "--jobs must be at most %d", THREADS_MAX);
    return region == NULL || setenv("AWS_REGION", region, 1) == 0 || fail_memory(failure);
}

static struct ingest_options read_options(const struct invocation *invocation)
{
    const struct arguments *arguments = invocation->arguments;
    return (struct ingest_options){
        .settings = &invocation->settings,
        .stop = &invocation_stop,
        .sources = (const char *const *)arguments->positional,
        .n_sources = arguments->n_positional,
        .history_server = argument_text(arguments, "history-server"),
        .s3 = {.endpoint = argument_text(arguments, "endpoint"),
               .style =
                   argument_given(arguments, "path-style") ? S3_STYLE_PATH : S3_STYLE_BY_ENDPOINT},
        .webhdfs_user = argument_text(arguments, "user"),
        .names_run = argument_given(arguments, "advice"),
        .threads = (size_t)argument_number(arguments, "jobs", THREADS_DEFAULT),
        .state = argument_text(arguments, "state"),
        .again = argument_given(arguments, "again"),
        .dry_run = argument_given(arguments, "dry-run"),
        .unfinished_too = argument_given(arguments, "include-unfinished"),
        .watch = argument_given(arguments, "watch"),
        .rescan_s = argument_number(arguments, "rescan", RESCAN_S),
        .quiet_s = argument_number(arguments, "quiet-for", QUIET_S),
        .quiet = invocation->quiet};
}

static int run(struct invocation *invocation)
{
    char path[1024];
    struct query query = {.items = NULL};
    if (!check(invocation) || !invocation_begin(invocation, 1U << FORM_TABLE | 1U << FORM_JSON))
        return invocation_failed(invocation);
    struct ingest_options options = read_options(invocation);
    int status = EXIT_FAILED;
    if (read_form(invocation, &options.form) && read_path(invocation, path) &&
        read_query(invocation->arguments, &query, &invocation->failure)) {
        options.path = path;
        options.query = query.items;
        invocation_catch_signals();
        status = (int)ingest_run(&options, &invocation->failure);
    } else {
        status = invocation_failed(invocation);
    }
    free(query.items);
    return status;
}

const struct command command_ingest = {
    .name = "ingest",
    .summary = "Send event logs into the service's history.",
    .positional = "PATH|URL|-...",
    .positional_max = 1024,
    .description =
        "Files and folders with all that is in them, objects of S3 (s3://BUCKET/PREFIX), files of "
        "HDFS (webhdfs://HOST:PORT/PATH), the logs of a Spark History Server, or one log from "
        "standard input (-). The folder of a rolling log is sent as one log. Each log is a line: "
        "stored, duplicate, replaced, ignored or rejected, its application, its name, the run, and "
        "the reason.\n\n"
        "A log that the service has already is not stored a second time, so it may be sent again "
        "at any time. What was sent from S3, HDFS and History Servers, and with --watch, is kept "
        "in a journal and not even read again. The status is 0 when no log was rejected, and 1 "
        "when none of the files is a log.",
    .examples = "  Logs on disk, each into the application that it names:\n"
                "      provisor ingest /var/log/spark-events\n"
                "  What a job has just written:\n"
                "      provisor ingest --application nightly-etl --size 64GiB events.zstd\n"
                "  All that comes, from now on:\n"
                "      provisor ingest --watch s3://logs/spark --rescan 5m\n",
    .groups = {&run_group, &way_group, &source_group},
    .run = run};
