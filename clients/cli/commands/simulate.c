#include "cli/commands/commands.h"
#include "cli/commands/invocation.h"
#include "cli/commands/operation.h"
#include "cli/commands/query.h"
#include "cli/commands/simulation.h"

/* `simulate`: policies compared on the jobs of a file, or of a stored workload. */

static const struct option_spec options[] = {
    {"workload", 0, OPTION_TEXT, "ID",
     "The stored workload whose jobs are simulated, instead of those of the file.", false},
    {"no-wait", 0, OPTION_FLAG, NULL, "Do not wait for the result.", false},
    OPTIONS_END};
static const struct option_group group = {"Options", options};

/* NULL: recorded. */
static json_t *read_request(struct invocation *invocation)
{
    const char *workload = argument_text(invocation->arguments, "workload");
    json_t *request = invocation_read_document(invocation, invocation_word(invocation, 0));
    if (request != NULL && workload != NULL && json_is_object(request)) {
        (void)json_object_set_new(request, "workload", json_string(workload));
        (void)json_object_del(request, "jobs");
    }
    return request;
}

/* Tables of its result alone; the other forms have the whole operation. */
static bool write_result(struct invocation *invocation, const json_t *operation)
{
    struct section sections[SIMULATION_SECTIONS];
    json_t *rows = simulation_sections(json_at(operation, "result"), sections);
    const bool good = invocation_write_report(invocation, sections, COUNT(sections), operation);
    json_decref(rows);
    return good;
}

static int show_end(struct invocation *invocation, const char *id)
{
    json_t *operation = operation_follow(invocation, id);
    int status = EXIT_FAILED;
    if (operation == NULL)
        return invocation_failed(invocation);
    if (operation_outcome(invocation, operation) == EXIT_DONE &&
        write_result(invocation, operation))
        status = EXIT_DONE;
    json_decref(operation);
    return status == EXIT_DONE ? status : invocation_failed(invocation);
}

static int show(struct invocation *invocation, const json_t *begun)
{
    const char *id = json_text_at(begun, "id", "");
    if (!argument_given(invocation->arguments, "no-wait"))
        return show_end(invocation, id);
    if (!operation_write(invocation, begun))
        return invocation_failed(invocation);
    invocation_say(invocation, "`provisor operations watch %s` follows it.", id);
    return EXIT_DONE;
}

static int run(struct invocation *invocation)
{
    struct remote_reply reply = {.status = 0};
    if (!invocation_begin(invocation, FORMS_OF_TABLES))
        return invocation_failed(invocation);
    json_t *request = read_request(invocation);
    const bool good =
        request != NULL && post_document(invocation, "/v1/simulations", request, true, &reply);
    const int status = good ? show(invocation, reply.json) : invocation_failed(invocation);
    remote_reply_clear(&reply);
    return status;
}

const struct command command_simulate = {
    .name = "simulate",
    .summary = "Compare policies by simulating jobs.",
    .description =
        "Reads a request from a JSON or YAML file, or from standard input (-), as POST "
        "/v1/simulations takes it: the cluster, the policies, and jobs or the id of a stored "
        "workload (see `provisor workloads`). Shows what every policy comes to at every load, and "
        "which one is best. The work is an operation of the service; its progress is shown on a "
        "terminal. Interrupted with Ctrl-C, it goes on.",
    .positional = "FILE",
    .positional_min = 1,
    .positional_max = 1,
    .examples = "  provisor simulate schedulers.yaml\n"
                "  provisor simulate schedulers.yaml -o csv\n"
                "  provisor simulate schedulers.yaml --workload "
                "01a1fe22-0f10-77d6-90cd-a8090c9280f2 --no-wait",
    .groups = {&group},
    .run = run};
