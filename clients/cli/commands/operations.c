#include "cli/commands/commands.h"
#include "cli/commands/invocation.h"
#include "cli/commands/operation.h"
#include "cli/commands/query.h"

enum { OPERATIONS_LIMIT = 20 };

static const struct option_spec list_options[] = {
    {"status", 0, OPTION_CHOICE, "queued|running|succeeded|failed|cancelled",
     "Only operations with this status.", false},
    {"kind", 0, OPTION_TEXT, NULL, "Only this kind of work: refit, simulation, import.", false},
    {"application", 0, OPTION_TEXT, "APPLICATION", "Only work for this application.", false},
    OPTION_SINCE,
    OPTION_UNTIL,
    {"limit", 0, OPTION_COUNT, NULL, "At most so many; 20 without it.", false},
    OPTIONS_END};
static const struct option_group list_group = {"Options", list_options};

static int run(struct invocation *invocation)
{
    static const struct column columns[] = {
        {"operation", "id", CELL_ID, NULL},
        {"kind", "kind", CELL_TEXT, NULL},
        {"status", "status", CELL_VERDICT, NULL},
        {"application", "application", CELL_TEXT, NULL},
        {"asked at", "created_at", CELL_MINUTE, NULL},
        {"done", "progress.done", CELL_COUNT, NULL},
        {"of", "progress.total", CELL_COUNT, NULL},
        {"asked by", "requested_by", CELL_TEXT, NULL},
    };
    static struct query query;
    if (!invocation_begin(invocation, FORMS_OF_TABLES))
        return invocation_failed(invocation);
    query_begin(&query, invocation);
    query_option(&query, "status", "status");
    query_option(&query, "kind", "kind");
    query_option(&query, "application", "application");
    query_instant(&query, "since", "since");
    query_instant(&query, "until", "until");
    return query_list(&query, "/v1/operations", OPERATIONS_LIMIT, "operations", columns,
                      COUNT(columns));
}

static int run_show(struct invocation *invocation)
{
    char path[PATH_TEXT];
    if (!invocation_begin(invocation, FORMS_OF_TABLES) ||
        !path_of_word(invocation, "/v1/operations/", 0, "", path))
        return invocation_failed(invocation);
    json_t *operation = remote_get(invocation->remote, path, NULL, &invocation->failure);
    bool good = operation != NULL && operation_write(invocation, operation);
    json_decref(operation);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

static int run_watch(struct invocation *invocation)
{
    if (!invocation_begin(invocation, FORMS_OF_TABLES))
        return invocation_failed(invocation);
    json_t *operation = operation_follow(invocation, invocation_word(invocation, 0));
    bool good = operation != NULL && operation_write(invocation, operation);
    int status = good ? operation_outcome(invocation, operation) : invocation_failed(invocation);
    json_decref(operation);
    return status;
}

static int run_cancel(struct invocation *invocation)
{
    char path[PATH_TEXT];
    if (!invocation_begin(invocation, FORMS_OF_TABLES) ||
        !path_of_word(invocation, "/v1/operations/", 0, "", path))
        return invocation_failed(invocation);
    struct remote_request request = {.method = "DELETE", .path = path, .prefer = "wait=5"};
    struct remote_reply reply = {.status = 0};
    bool good = remote_call(invocation->remote, &request, &reply, &invocation->failure);
    if (good)
        good = operation_write(invocation, reply.json);
    remote_reply_clear(&reply);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

static const struct command command_show = {
    .name = "show",
    .summary = "Show an operation with its result.",
    .positional = "OPERATION",
    .positional_min = 1,
    .positional_max = 1,
    .examples = "  provisor operations show 01a1fe22-0f10-77d6-90cd-a8090c9280f2 -o json",
    .run = run_show};

static const struct command command_watch = {
    .name = "watch",
    .summary = "Follow an operation until it has ended.",
    .description = "Shows the progress on a terminal, waits quietly elsewhere, and then writes the "
                   "operation with its result. Exit status 0 if it succeeded, else 1. Interrupted "
                   "with Ctrl-C, the operation goes on.",
    .positional = "OPERATION",
    .positional_min = 1,
    .positional_max = 1,
    .examples = "  provisor operations watch 01a1fe22-0f10-77d6-90cd-a8090c9280f2",
    .run = run_watch};

static const struct command command_cancel = {
    .name = "cancel",
    .summary = "Cancel an operation.",
    .description = "One that is queued ends at once, one that is running usually within a second. "
                   "One that has ended stays as it is.",
    .positional = "OPERATION",
    .positional_min = 1,
    .positional_max = 1,
    .examples = "  provisor operations cancel 01a1fe22-0f10-77d6-90cd-a8090c9280f2",
    .run = run_cancel};

static const struct command *const subcommands[] = {&command_show, &command_watch, &command_cancel,
                                                    NULL};

const struct command command_operations = {
    .name = "operations",
    .summary = "List long-running work, newest first.",
    .description = "Refits, simulations and imports run as operations: each can be shown, followed "
                   "until its end, and cancelled.",
    .examples = "  provisor operations --status running\n"
                "  provisor operations --application nightly-etl --since 1d",
    .groups = {&list_group},
    .subcommands = subcommands,
    .run = run};
