#include <errno.h>
#include <string.h>

#include "cli/commands/commands.h"
#include "cli/commands/file_body.h"
#include "cli/commands/invocation.h"
#include "cli/commands/query.h"

/* `runs export` and `runs import`: histories as NDJSON, streamed. */

/* --- export --- */

static const struct option_spec export_options[] = {OPTION_SINCE, OPTION_UNTIL, OPTION_LABEL,
                                                    OPTIONS_END};
static const struct option_group export_group = {"Options", export_options};

struct exporting {
    bool closed; /* the reader of the pipe has had enough */
};

static bool write_bytes(void *context, const void *bytes, size_t n, struct failure *failure)
{
    struct exporting *exporting = context;
    if (fwrite(bytes, 1, n, stdout) == n)
        return true;
    if (errno != EPIPE)
        return fail(failure, EXIT_FAILED, "standard output cannot be written: %s", strerror(errno));
    exporting->closed = true;
    return false;
}

static int run_export(struct invocation *invocation)
{
    static struct query query;
    char path[PATH_TEXT];
    struct exporting exporting = {.closed = false};
    if (!invocation_begin(invocation, 1U << FORM_TABLE) ||
        !path_of_word(invocation, "/v1/applications/", 0, "/runs/export", path))
        return invocation_failed(invocation);
    query_begin(&query, invocation);
    query_instant(&query, "since", "since");
    query_instant(&query, "until", "until");
    query_option(&query, "label", "label");
    if (query.failed)
        return invocation_failed(invocation);
    invocation_catch_signals();
    struct remote_request request = {.method = "GET",
                                     .path = path,
                                     .query = query.n == 0 ? NULL : query.items,
                                     .accept = "application/x-ndjson, application/problem+json",
                                     .sink = write_bytes,
                                     .sink_context = &exporting};
    struct remote_reply reply = {.status = 0};
    struct failure failure = {.status = EXIT_DONE};
    bool good = remote_call(invocation->remote, &request, &reply, &failure);
    remote_reply_clear(&reply);
    if (good || exporting.closed)
        return EXIT_DONE;
    invocation->failure = failure;
    return invocation_failed(invocation);
}

const struct command command_runs_export = {
    .name = "export",
    .summary = "Write the runs of an application as NDJSON.",
    .description = "Writes complete runs to standard output, one per line, each with its stages "
                   "and the duration of every task. `provisor runs import` reads them again, into "
                   "any application. Exit status 0 means that the export is complete.",
    .positional = "APPLICATION",
    .positional_min = 1,
    .positional_max = 1,
    .examples = "  provisor runs export nightly-etl > nightly-etl.ndjson\n"
                "  provisor runs export nightly-etl --since 30d | gzip > month.ndjson.gz",
    .groups = {&export_group},
    .run = run_export};

/* --- import --- */

static bool
send_runs(struct invocation *invocation, const char *path, const struct remote_body *body)
{
    static const struct column columns[] = {
        {"application", "application", CELL_TEXT, NULL},
        {"stored", "imported", CELL_COUNT, NULL},
        {"replaced", "replaced", CELL_COUNT, NULL},
        {"duplicate", "unchanged", CELL_COUNT, NULL},
    };
    struct remote_request request = {
        .method = "POST", .path = path, .body = body, .content_type = "application/x-ndjson"};
    struct remote_reply reply = {.status = 0};
    bool good = remote_call(invocation->remote, &request, &reply, &invocation->failure) &&
                invocation_write_record(invocation, reply.json, columns, COUNT(columns));
    const json_t *warnings = json_object_get(reply.json, "warnings");
    for (size_t i = 0; good && i < json_array_size(warnings); i++)
        invocation_say(invocation, "Warning: %s",
                       json_text_at(json_array_get(warnings, i), "message", ""));
    remote_reply_clear(&reply);
    return good;
}

static int run_import(struct invocation *invocation)
{
    char path[PATH_TEXT];
    struct file_body file;
    if (!invocation_begin(invocation, FORMS_OF_TABLES) ||
        !path_of_word(invocation, "/v1/applications/", 0, "/runs/import", path))
        return invocation_failed(invocation);
    invocation_catch_signals();
    bool good = file_body_open(invocation, invocation_word(invocation, 1), &file) &&
                send_runs(invocation, path, &file.body);
    file_body_close(&file);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

const struct command command_runs_import = {
    .name = "import",
    .summary = "Import runs from NDJSON, all or none.",
    .description =
        "Reads an export, or what an exporter of another engine wrote: one run per line, plain or "
        "compressed with gzip or zstd; - is standard input. A line needs no more than duration_s. "
        "Importing the same lines again changes nothing. If a line is refused, no run is stored, "
        "and all faults are listed.",
    .positional = "APPLICATION FILE",
    .positional_min = 2,
    .positional_max = 2,
    .examples = "  provisor runs import nightly-etl nightly-etl.ndjson\n"
                "  provisor runs export nightly-etl | provisor runs import copy-of-it -",
    .run = run_import};
