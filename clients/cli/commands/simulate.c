#include "cli/commands/commands.h"
#include "cli/commands/invocation.h"
#include "cli/commands/operation.h"
#include "cli/commands/query.h"
#include "cli/commands/simulation.h"

/* `simulate`: policies compared on the jobs of a file, or of a stored workload. */

static const struct option_spec options[] = {
    {"workload", 0, OPTION_TEXT, "ID",
     "The stored workload whose jobs are simulated, instead of those of the file.", false},
    {"load", 0, OPTION_NUMBER, "SHARE",
     "A share of the cluster, 0.8 say, that the jobs keep busy as they arrive at random; may be "
     "repeated.",
     true},
    {"repetitions", 0, OPTION_COUNT, NULL, "How often each policy is simulated at each load.",
     false},
    {"objective", 0, OPTION_CHOICE, "p50|p90|p95|p99|variability|makespan",
     "What the best policy has the least of: a percentile of the slowdowns (p95 without it), the "
     "95th over the median, or the makespan.",
     false},
    {"queues", 0, OPTION_FLAG, NULL,
     "Show how many tasks wait and run over time, and the load of the masters.", false},
    {"no-wait", 0, OPTION_FLAG, NULL, "Do not wait for the result.", false},
    OPTIONS_END};
static const struct option_group group = {"Options", options};

static const struct option_spec search_options[] = {
    {"search", 0, OPTION_FLAG, NULL,
     "Also search for the best policy and terms: among the candidates that `search` of the file "
     "lists, or without it among terms of the policies.",
     false},
    {"task-runs", 0, OPTION_COUNT, NULL, "Search, and simulate at most so many tasks for it.",
     false},
    {"error-chance", 0, OPTION_SHARE, NULL,
     "Search until the chance that another candidate is better is at most this; 5% without it.",
     false},
    {"all", 0, OPTION_FLAG, NULL,
     "Show all candidates of the search and its rounds, not the first 5 candidates alone.", false},
    OPTIONS_END};
static const struct option_group search_group = {"Search for the best terms", search_options};

/* --- the request --- */

static void set_loads(const struct arguments *arguments, json_t *request)
{
    size_t at = 0;
    double load = 0;
    json_t *loads = json_array();
    for (const char *text; (text = argument_next(arguments, "load", &at)) != NULL;)
        if (option_read_number(OPTION_NUMBER, text, &load))
            (void)json_array_append_new(loads, json_real(load));
    (void)json_object_set_new(request, "loads", loads);
}

/* The member of the request, made where there is none; what is something else is left to the service. */
static json_t *member(json_t *request, const char *key, json_t *made)
{
    json_t *found = json_object_get(request, key);
    if (found != NULL && !json_is_null(found)) {
        json_decref(made);
        return found;
    }
    (void)json_object_set_new(request, key, made);
    return made;
}

static void include_queues(json_t *request)
{
    json_t *include = member(request, "include", json_array());
    json_t *queues = json_string("queues");
    bool there = false;
    for (size_t i = 0; i < json_array_size(include); i++)
        there = there || json_equal(json_array_get(include, i), queues);
    if (there)
        json_decref(queues);
    else
        (void)json_array_append_new(include, queues);
}

static void set_search(const struct arguments *arguments, json_t *request)
{
    json_t *search = member(request, "search", json_object());
    if (argument_given(arguments, "task-runs"))
        (void)json_object_set_new(
            search, "task_runs",
            json_integer((json_int_t)argument_number(arguments, "task-runs", 0)));
    if (argument_given(arguments, "error-chance"))
        (void)json_object_set_new(search, "error_chance",
                                  json_real(argument_number(arguments, "error-chance", 0)));
}

/* What the options say is said instead of the file. */
static void apply_options(const struct arguments *arguments, json_t *request)
{
    const char *workload = argument_text(arguments, "workload");
    const char *objective = argument_text(arguments, "objective");
    if (workload != NULL) {
        (void)json_object_set_new(request, "workload", json_string(workload));
        (void)json_object_del(request, "jobs");
    }
    if (argument_given(arguments, "load"))
        set_loads(arguments, request);
    if (argument_given(arguments, "repetitions"))
        (void)json_object_set_new(
            request, "repetitions",
            json_integer((json_int_t)argument_number(arguments, "repetitions", 1)));
    if (objective != NULL)
        (void)json_object_set_new(request, "objective", json_string(objective));
    if (argument_given(arguments, "queues"))
        include_queues(request);
    if (argument_given(arguments, "search") || argument_given(arguments, "task-runs") ||
        argument_given(arguments, "error-chance"))
        set_search(arguments, request);
}

/* NULL: recorded. */
static json_t *read_request(struct invocation *invocation)
{
    json_t *request = invocation_read_document(invocation, invocation_word(invocation, 0));
    if (json_is_object(request))
        apply_options(invocation->arguments, request);
    return request;
}

/* --- the result --- */

/* Tables of its result alone; the other forms have the whole operation. */
static bool write_result(struct invocation *invocation, const json_t *operation)
{
    struct section sections[SIMULATION_SECTIONS];
    json_t *rows = simulation_sections(json_at(operation, "result"),
                                       argument_given(invocation->arguments, "all"), sections);
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
        "workload (see `provisor workloads`). Options override the file. Shows what "
        "the outcome of every policy at every load, which one is best and why, what a search "
        "found, and, "
        "with --queues, queues and masters. The work is an operation of the service; its progress "
        "is shown on a "
        "terminal. Interrupted with Ctrl-C, it goes on.",
    .positional = "FILE",
    .positional_min = 1,
    .positional_max = 1,
    .examples =
        "  provisor simulate schedulers.yaml\n"
        "  provisor simulate schedulers.yaml --load 0.7 --load 0.9 --repetitions 20 --search\n"
        "  provisor simulate schedulers.yaml -o csv\n"
        "  provisor simulate schedulers.yaml --workload "
        "01a1fe22-0f10-77d6-90cd-a8090c9280f2 --no-wait",
    .groups = {&group, &search_group},
    .run = run};
