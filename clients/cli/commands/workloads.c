#include <stdio.h>

#include "cli/commands/commands.h"
#include "cli/commands/file_body.h"
#include "cli/commands/invocation.h"
#include "cli/commands/query.h"
#include "threads/clock.h"

enum { WORKLOADS_LIMIT = 50 };

#define EXAMPLE_ID "01a21805-b370-711c-bd34-57f5e52d380a"

static const struct column columns[] = {
    {"workload", "id", CELL_ID, NULL},
    {"name", "name", CELL_TEXT, NULL},
    {"format", "format", CELL_TEXT, NULL},
    {"jobs", "jobs", CELL_COUNT, NULL},
    {"tasks", "tasks", CELL_COUNT, NULL},
    {"stored", "stored_bytes", CELL_BYTES, NULL},
    {"created", "created_at", CELL_MINUTE, NULL},
};

static const struct column record[] = {
    {"workload", "id", CELL_ID, NULL},
    {"name", "name", CELL_TEXT, NULL},
    {"format", "format", CELL_TEXT, NULL},
    {"created", "created_at", CELL_INSTANT, NULL},
    {"jobs", "jobs", CELL_COUNT, NULL},
    {"tasks", "tasks", CELL_COUNT, NULL},
    {"reduces among them", "reduce_tasks", CELL_COUNT, NULL},
    {"stored", "stored_bytes", CELL_BYTES, NULL},
    {"first arrival", "summary.first_arrival_s", CELL_SECONDS, NULL},
    {"last arrival", "summary.last_arrival_s", CELL_SECONDS, NULL},
    {"work", "summary.work_s", CELL_SECONDS, NULL},
    {"slots kept busy", "summary.offered_slots", CELL_NUMBER, NULL},
    {"tasks a job, median", "summary.tasks_per_job.p50", CELL_NUMBER, NULL},
    {"tasks a job, at most", "summary.tasks_per_job.max", CELL_NUMBER, NULL},
    {"task, median", "summary.each_task_s.p50", CELL_SECONDS, NULL},
    {"task, 99%", "summary.each_task_s.p99", CELL_SECONDS, NULL},
    {"reduce, median", "summary.each_reduce_s.p50", CELL_SECONDS, NULL},
    {"reduce, 99%", "summary.each_reduce_s.p99", CELL_SECONDS, NULL},
    {"tail index of sizes", "summary.tail_index", CELL_NUMBER, NULL},
    {"work of the largest 1%", "summary.largest_1_percent_share", CELL_SHARE, NULL},
    {"work of the largest 10%", "summary.largest_10_percent_share", CELL_SHARE, NULL},
    {"tasks with recorded durations", "summary.durations_from.recorded", CELL_COUNT, NULL},
    {"  drawn from the kept spread", "summary.durations_from.from_sketches", CELL_COUNT, NULL},
    {"  with the mean of their stage", "summary.durations_from.from_means", CELL_COUNT, NULL},
};

static bool write_workload(struct invocation *invocation, const json_t *workload)
{
    if (!invocation_write_record(invocation, workload, record, COUNT(record)))
        return false;
    const json_t *warnings = json_object_get(json_object_get(workload, "summary"), "warnings");
    for (size_t i = 0; i < json_array_size(warnings); i++)
        invocation_say(invocation, "Warning: %s",
                       json_text_at(json_array_get(warnings, i), "message", ""));
    return true;
}

/* --- looking --- */

static const struct option_spec list_options[] = {OPTION_LIMIT, OPTION_IDS, OPTIONS_END};
static const struct option_group list_group = {"Options", list_options};

static int run(struct invocation *invocation)
{
    static struct query query;
    if (!invocation_begin(invocation, FORMS_OF_TABLES))
        return invocation_failed(invocation);
    query_begin(&query, invocation);
    if (argument_given(invocation->arguments, "ids"))
        return query_ids(&query, "/v1/workloads", WORKLOADS_LIMIT);
    return query_list(&query, "/v1/workloads", WORKLOADS_LIMIT, "workloads", columns,
                      COUNT(columns));
}

static int run_show(struct invocation *invocation)
{
    char path[PATH_TEXT];
    if (!invocation_begin(invocation, FORMS_OF_TABLES) ||
        !path_of_word(invocation, "/v1/workloads/", 0, "", path))
        return invocation_failed(invocation);
    json_t *workload = remote_get(invocation->remote, path, NULL, &invocation->failure);
    bool good = workload != NULL && write_workload(invocation, workload);
    json_decref(workload);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

/* --- storing --- */

static const struct option_spec add_options[] = {
    {"name", 0, OPTION_TEXT, "NAME", "A name, for people.", false}, OPTIONS_END};
static const struct option_group add_group = {"Options", add_options};

static const struct option_spec rate_options[] = {
    {"map-bytes", 0, OPTION_NUMBER, NULL, "Input of each map; 64000000 without it.", false},
    {"reduce-bytes", 0, OPTION_NUMBER, NULL, "Shuffled bytes of each reduce; 256000000 without it.",
     false},
    {"map-bytes-per-s", 0, OPTION_NUMBER, NULL, "That a map reads; 10000000 without it.", false},
    {"shuffle-bytes-per-s", 0, OPTION_NUMBER, NULL, "That a reduce fetches; 10000000 without it.",
     false},
    {"output-bytes-per-s", 0, OPTION_NUMBER, NULL, "That a reduce writes; 20000000 without it.",
     false},
    {"task-overhead", 0, OPTION_NUMBER, NULL, "Seconds of every task; 1 without it.", false},
    OPTIONS_END};
static const struct option_group rate_group = {"Options, for a trace of SWIM", rate_options};

static void ask_for_rates(struct query *query)
{
    query_option(query, "map-bytes", "map_bytes");
    query_option(query, "reduce-bytes", "reduce_bytes");
    query_option(query, "map-bytes-per-s", "map_bytes_per_s");
    query_option(query, "shuffle-bytes-per-s", "shuffle_bytes_per_s");
    query_option(query, "output-bytes-per-s", "output_bytes_per_s");
    query_option(query, "task-overhead", "task_overhead_s");
}

/* With a key it may be repeated, also when no reply came. */
static bool send_trace(struct invocation *invocation,
                       const struct remote_parameter query[],
                       const struct remote_body *body)
{
    char id[37];
    char key[40];
    clock_uuid7(id);
    (void)snprintf(key, sizeof key, "\"%s\"", id);
    const struct remote_request request = {.method = "POST",
                                           .path = "/v1/workloads",
                                           .query = query,
                                           .body = body,
                                           .content_type = "application/octet-stream",
                                           .idempotency_key = key};
    struct remote_reply reply = {.status = 0};
    bool good = remote_call(invocation->remote, &request, &reply, &invocation->failure) &&
                write_workload(invocation, reply.json);
    remote_reply_clear(&reply);
    return good;
}

static int run_add(struct invocation *invocation)
{
    static struct query query;
    struct file_body file;
    if (!invocation_begin(invocation, FORMS_OF_TABLES))
        return invocation_failed(invocation);
    query_begin(&query, invocation);
    query_add(&query, "format", invocation_word(invocation, 0));
    query_option(&query, "name", "name");
    ask_for_rates(&query);
    if (query.failed)
        return invocation_failed(invocation);
    invocation_catch_signals();
    bool good = file_body_open(invocation, invocation_word(invocation, 1), &file) &&
                send_trace(invocation, query.items, &file.body);
    file_body_close(&file);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

/* --- from runs --- */

static const struct option_spec runs_options[] = {
    OPTION_SINCE,
    OPTION_UNTIL,
    {"name", 0, OPTION_TEXT, "NAME", "A name, for people.", false},
    OPTIONS_END};
static const struct option_group runs_group = {"Options", runs_options};

static bool add_instant(struct invocation *invocation, json_t *body, const char *option)
{
    char instant[QUERY_TEXT];
    const char *text = argument_text(invocation->arguments, option);
    if (text == NULL)
        return true;
    return read_instant(invocation, option, text, false, instant) &&
           json_object_set_new(body, option, json_string(instant)) == 0;
}

static json_t *request_for_runs(struct invocation *invocation)
{
    const struct arguments *arguments = invocation->arguments;
    const char *name = argument_text(arguments, "name");
    json_t *applications = json_array();
    for (size_t i = 0; i < arguments->n_positional; i++)
        (void)json_array_append_new(applications, json_string(invocation_word(invocation, i)));
    json_t *body = json_pack("{s:s, s:o}", "from", "runs", "applications", applications);
    if (name != NULL)
        (void)json_object_set_new(body, "name", json_string(name));
    if (add_instant(invocation, body, "since") && add_instant(invocation, body, "until"))
        return body;
    json_decref(body);
    return NULL;
}

static int run_from_runs(struct invocation *invocation)
{
    struct remote_reply reply = {.status = 0};
    if (!invocation_begin(invocation, FORMS_OF_TABLES))
        return invocation_failed(invocation);
    json_t *body = request_for_runs(invocation);
    bool good = body != NULL && post_document(invocation, "/v1/workloads", body, true, &reply) &&
                write_workload(invocation, reply.json);
    remote_reply_clear(&reply);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

/* --- deleting --- */

static const struct option_spec delete_options[] = {OPTION_YES, OPTIONS_END};
static const struct option_group delete_group = {"Options", delete_options};

static int run_delete(struct invocation *invocation)
{
    if (!invocation_begin(invocation, 1U << FORM_TABLE))
        return invocation_failed(invocation);
    return delete_named(invocation, "/v1/workloads/", "workload");
}

static const struct command command_show = {.name = "show",
                                            .summary = "Show what a workload comes to.",
                                            .description =
                                                "Counts, arrivals, durations of tasks, and how the "
                                                "work is spread over jobs. JSON and YAML have all "
                                                "figures.",
                                            .positional = "WORKLOAD",
                                            .positional_min = 1,
                                            .positional_max = 1,
                                            .examples = "  provisor workloads show " EXAMPLE_ID,
                                            .run = run_show};

static const struct command command_add = {
    .name = "add",
    .summary = "Store a trace of jobs for simulations.",
    .description =
        "Sends a trace, plain or compressed; - is standard input. FORMAT is pigeon, swim, "
        "google_2011, google_2019 or provisor. The trace is stored as a whole or not at all: if a "
        "line is refused, it is named. Of a trace of SWIM, the rates say how tasks and durations "
        "follow from bytes.",
    .positional = "FORMAT FILE",
    .positional_min = 2,
    .positional_max = 2,
    .examples = "  provisor workloads add swim FB-2009_samples_24_times_1hr_0.tsv --name FB-2009\n"
                "  zcat task_events/part-*.csv.gz | provisor workloads add google_2011 -",
    .groups = {&add_group, &rate_group},
    .run = run_add};

static const struct command command_from_runs = {
    .name = "from-runs",
    .summary = "Store a workload whose jobs are recorded runs.",
    .description = "Each run of the applications that succeeded becomes a job, which arrives when "
                   "the run was submitted and has its tasks.",
    .positional = "APPLICATION...",
    .positional_min = 1,
    .positional_max = 100,
    .examples =
        "  provisor workloads from-runs nightly-etl hourly-report --since 30d --name last-month",
    .groups = {&runs_group},
    .run = run_from_runs};

static const struct command command_delete = {
    .name = "delete",
    .summary = "Delete a workload.",
    .description = "A simulation that has loaded it goes on.",
    .positional = "WORKLOAD",
    .positional_min = 1,
    .positional_max = 1,
    .examples = "  provisor workloads delete " EXAMPLE_ID " --yes",
    .groups = {&delete_group},
    .run = run_delete};

static const struct command *const subcommands[] = {&command_show, &command_add, &command_from_runs,
                                                    &command_delete, NULL};

const struct command command_workloads = {
    .name = "workloads",
    .summary = "List the workloads.",
    .description = "Workloads are traces of jobs on which schedulers are simulated.",
    .examples = "  provisor workloads\n"
                "  provisor workloads -o json",
    .groups = {&list_group},
    .subcommands = subcommands,
    .run = run};
