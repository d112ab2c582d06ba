#include "cli/commands/commands.h"
#include "cli/commands/one_call_rows.h"
#include "cli/commands/registered.h"

/* `quota-loops`: which executor may use how many cores, so that stages end by their deadlines. */

#define LOOP_PATH "/v1/quota-loops/{}"

static const struct column list_columns[] = {
    {"loop", "name", CELL_NAME, NULL},
    {"strategy", "strategy", CELL_TEXT, NULL},
    {"sample", "sequence", CELL_COUNT, NULL},
    {"at", "at_s", CELL_SECONDS, NULL},
};
static const struct column loop_columns[] = {
    {"loop", "name", CELL_NAME, NULL},
    {"strategy", "strategy", CELL_TEXT, NULL},
    {"gamma", "gamma", CELL_NUMBER, NULL},
    {"average nominal rate", "average_nominal_rate", CELL_NUMBER, NULL},
    {"sampled every", "controller.sample_s", CELL_SECONDS, NULL},
    {"sample", "sequence", CELL_COUNT, NULL},
    {"at", "at_s", CELL_SECONDS, NULL},
    {"applications that ended", "ended", CELL_TEXT, NULL},
};
static const struct column worker_columns[] = {{"worker", "name", CELL_NAME, NULL},
                                               {"cores", "cores", CELL_NUMBER, NULL}};
static const struct column application_columns[] = {
    {"application", "name", CELL_NAME, NULL},
    {"begins", "release_s", CELL_SECONDS, NULL},
    {"deadline", "deadline_s", CELL_SECONDS, NULL},
    {"nominal rate", "nominal_rate", CELL_NUMBER, NULL},
};
static const struct column executor_columns[] = {
    {"executor", "id", CELL_NAME, NULL},   {"application", "application", CELL_TEXT, NULL},
    {"worker", "worker", CELL_TEXT, NULL}, {"stage", "stage", CELL_COUNT, NULL},
    {"tasks", "tasks", CELL_COUNT, NULL},  {"done", "completed_tasks", CELL_COUNT, NULL},
    {"cores", "cores", CELL_NUMBER, NULL}, {"cpu.max", "cpu_max", CELL_TEXT, NULL},
};
static const struct column grant_columns[] = {
    {"executor", "id", CELL_NAME, NULL},
    {"cores", "cores", CELL_NUMBER, NULL},
    {"requested", "requested_cores", CELL_NUMBER, NULL},
    {"should be done", "set_point", CELL_SHARE, NULL},
    {"is done", "progress", CELL_SHARE, NULL},
    {"time left", "time_to_complete_s", CELL_SECONDS, NULL},
    {"cpu.max", "cpu_max", CELL_TEXT, NULL},
};
static const struct column contention_columns[] = {
    {"worker", "name", CELL_NAME, NULL},
    {"too few cores", "contention", CELL_VERDICT, NULL},
    {"requested", "requested_cores", CELL_NUMBER, NULL},
    {"granted", "granted_cores", CELL_NUMBER, NULL},
};

#define LOOP_PARTS                                                                                 \
    {                                                                                              \
        PART(NULL, "", loop_columns), PART("Executors", "executors", executor_columns),            \
            PART("Applications", "applications", application_columns),                             \
            PART("Workers", "workers", worker_columns)                                             \
    }

/* Members of a loop that its settings do not have. */
static const char *const read_only[] = {"name",      "ended",    "sequence", "at_s",
                                        "executors", "warnings", NULL};

static const struct one_call list_call = {.method = "GET",
                                          .path = "/v1/quota-loops",
                                          .noun = "quota loops",
                                          .is_list = true,
                                          .parts = {PART(NULL, "items", list_columns)}};
static const struct one_call show_call = {.method = "GET", .path = LOOP_PATH, .parts = LOOP_PARTS};
static const struct one_call put_call = {.method = "PUT",
                                         .path = LOOP_PATH,
                                         .has_file = true,
                                         .read_only = read_only,
                                         .parts = LOOP_PARTS};
static const struct one_call delete_call = {
    .method = "DELETE", .path = LOOP_PATH, .noun = "quota loop"};
static const struct one_call sample_call = {
    .method = "POST",
    .path = LOOP_PATH "/samples",
    .has_file = true,
    .once = true,
    .parts = {PART("Cores until the next sample", "grants", grant_columns),
              PART("Workers", "workers", contention_columns)}};

static const struct command command_show = {
    .name = "show",
    .summary = "Show a quota loop with its executors.",
    POSITIONAL("LOOP", 1),
    .examples = "  provisor quota-loops show night\n"
                "  provisor quota-loops show night -o yaml > night.yaml",
    CALLS(show_call)};

static const struct command command_put = {
    .name = "put",
    .summary = "Create a quota loop, or replace its settings.",
    .description =
        "Reads the settings from a JSON or YAML file, or from standard input (-). The "
        "state of executors stays. What `provisor quota-loops show -o yaml` wrote can be "
        "put back.",
    POSITIONAL("LOOP FILE", 2),
    .examples = "  provisor quota-loops put night loop.yaml",
    CALLS(put_call)};

static const struct command command_sample = {
    .name = "sample",
    .summary = "Report the progress of executors, and get their cores.",
    .description =
        "Reads the sample from a JSON or YAML file, or from standard input (-), as POST "
        "/v1/quota-loops/{name}/samples takes it. A sample without `sequence` is not sent "
        "again if its reply is lost.",
    POSITIONAL("LOOP FILE", 2),
    .examples = "  provisor quota-loops sample night sample.yaml\n"
                "  provisor quota-loops sample night sample.yaml -o csv",
    CALLS(sample_call)};

static const struct command command_delete = {.name = "delete",
                                              .summary = "Delete a quota loop.",
                                              POSITIONAL("LOOP", 1),
                                              .examples =
                                                  "  provisor quota-loops delete night --yes",
                                              .groups = {&one_call_delete_options},
                                              CALLS(delete_call)};

static const struct command *const subcommands[] = {&command_show, &command_put, &command_sample,
                                                    &command_delete, NULL};

const struct command command_quota_loops = {
    .name = "quota-loops",
    .summary = "List the quota loops.",
    .description =
        "A quota loop grants cores to the executors of applications on shared workers, so "
        "that each stage ends by its deadline. `provisor-actuate` puts the cores into "
        "effect.",
    .examples = "  provisor quota-loops\n"
                "  provisor quota-loops -o json",
    .groups = {&one_call_list_options},
    .subcommands = subcommands,
    CALLS(list_call)};
