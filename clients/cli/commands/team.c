#include "cli/commands/commands.h"
#include "cli/commands/one_call_rows.h"

/* Usage, changes and name rules of a team, and profiles: `usage`, `audit`, `name-rules`, `profile`. */

/* --- usage --- */

static const struct column counted_columns[] = {{"counted at", "counted_at", CELL_INSTANT, NULL}};
static const struct column quota_columns[] = {
    {"quota", "name", CELL_NAME, NULL},
    {"used", "used", CELL_COUNT, NULL},
    {"limit", "limit", CELL_COUNT, NULL},
    {"unit", "unit", CELL_TEXT, NULL},
    {"of this team alone", "own", CELL_YES, NULL},
};
static const struct one_call usage = {
    .method = "GET",
    .path = "/v1/usage",
    .parts = {PART(NULL, "quotas", quota_columns), PART(NULL, "", counted_columns)}};

const struct command command_usage = {.name = "usage",
                                      .summary = "Show how much of its quotas your team has used.",
                                      .examples = "  provisor usage\n"
                                                  "  provisor usage -o csv",
                                      CALLS(usage)};

/* --- audit --- */

static const struct column audit_columns[] = {
    {"at", "at", CELL_MINUTE, NULL},
    {"by", "actor", CELL_WORD, NULL},
    {"action", "action", CELL_VERDICT, NULL},
    {"subject", "subject", CELL_NAME, NULL},
    {"request", "request_id", CELL_WORD, NULL},
};
static const struct one_call audit = {.method = "GET",
                                      .path = "/v1/audit",
                                      .noun = "changes",
                                      .is_list = true,
                                      .parts = {PART(NULL, "items", audit_columns)}};

const struct command command_audit = {
    .name = "audit",
    .summary = "List who changed what, newest first.",
    .description =
        "Lists the changes to what your team has stored. Your token needs the scope admin.",
    .examples = "  provisor audit\n"
                "  provisor audit --limit 500 -o csv",
    .groups = {&one_call_list_options},
    CALLS(audit)};

/* --- name rules --- */

#define RULES_PATH "/v1/name-rules"

static const struct column custom_columns[] = {{"set by the team", "customized", CELL_YES, NULL}};
static const struct column rule_columns[] = {
    {"rule", "name", CELL_NAME, NULL},
    {"matches", "pattern", CELL_TEXT, NULL},
    {"becomes", "application", CELL_TEXT, NULL},
    {"of the property", "property", CELL_NAME, NULL},
};
static const struct column preview_columns[] = {
    {"name", "name", CELL_NAME, NULL},
    {"application", "application", CELL_NAME, NULL},
    {"exists", "exists", CELL_YES, NULL},
    {"rules", "rules", CELL_TEXT, NULL},
    {"refused because", "refusal", CELL_TEXT, NULL},
};

#define RULES_PARTS                                                                                \
    {                                                                                              \
        PART(NULL, "rules", rule_columns), PART(NULL, "", custom_columns)                          \
    }

static const char *const read_only[] = {"customized", NULL};
static const struct one_call show_rules = {
    .method = "GET", .path = RULES_PATH, .parts = RULES_PARTS};
static const struct one_call set_rules = {.method = "PUT",
                                          .path = RULES_PATH,
                                          .has_file = true,
                                          .read_only = read_only,
                                          .parts = RULES_PARTS};
static const struct one_call reset_rules = {
    .method = "DELETE", .path = RULES_PATH, .noun = "name rules of the team"};
static const struct one_call preview_rules = {.method = "POST",
                                              .path = RULES_PATH "/preview",
                                              .has_file = true,
                                              .parts = {PART(NULL, "items", preview_columns)}};

static const struct command command_set = {
    .name = "set",
    .summary = "Replace the rules.",
    .description = "Reads `rules` from a JSON or YAML file, or from standard input (-). What "
                   "`provisor name-rules -o yaml` wrote can be set again.",
    POSITIONAL("FILE", 1),
    .examples = "  provisor name-rules -o yaml > rules.yaml\n"
                "  provisor name-rules set rules.yaml",
    CALLS(set_rules)};

static const struct command command_preview = {
    .name = "preview",
    .summary = "Show which application names of logs would become.",
    .description =
        "Reads `names`, and optionally `rules` that are not set yet, from a JSON or YAML "
        "file, or from standard input (-).",
    POSITIONAL("FILE", 1),
    .examples =
        "  echo '{names: [etl-2026-01-05, etl-2026-01-06]}' | provisor name-rules preview -",
    CALLS(preview_rules)};

static const struct command command_reset = {.name = "reset",
                                             .summary = "Use the rules of the service again.",
                                             .examples = "  provisor name-rules reset --yes",
                                             .groups = {&one_call_delete_options},
                                             CALLS(reset_rules)};

static const struct command *const rules_subcommands[] = {&command_set, &command_preview,
                                                          &command_reset, NULL};

const struct command command_name_rules = {
    .name = "name-rules",
    .summary = "Show how names in logs become names of applications.",
    .examples = "  provisor name-rules\n"
                "  provisor name-rules -o yaml",
    .subcommands = rules_subcommands,
    CALLS(show_rules)};

/* --- profile --- */

static const struct column profile_columns[] = {
    {"application", "application", CELL_NAME, NULL},
    {"stages of run", "run_id", CELL_ID, NULL},
    {"recent runs have other stages", "graph_changed", CELL_YES, NULL},
    {"average nominal rate", "average_nominal_rate_per_s", CELL_NUMBER, NULL},
};
static const struct column profile_stage_columns[] = {
    {"stage", "id", CELL_COUNT, NULL},
    {"name", "name", CELL_TEXT, NULL},
    {"after", "parents", CELL_TEXT, NULL},
    {"tasks", "tasks", CELL_NUMBER, NULL},
    {"a task", "task_duration_s", CELL_SECONDS, NULL},
    {"all tasks", "task_time_s", CELL_SECONDS, NULL},
    {"took", "duration_s", CELL_SECONDS, NULL},
    {"records a second", "nominal_rate_per_s", CELL_NUMBER, NULL},
    {"weight", "weight", CELL_NUMBER, NULL},
    {"skipped", "skipped", CELL_YES, NULL},
};
static const struct column source_columns[] = {
    {"run", "id", CELL_ID, NULL},
    {"size", "problem_size", CELL_NUMBER, NULL},
    {"executors", "executors", CELL_COUNT, NULL},
};
static const struct one_call profile = {
    .method = "GET",
    .path = "/v1/applications/{}/profile",
    .parts = {PART(NULL, "", profile_columns), PART("Stages", "stages", profile_stage_columns),
              PART("From the runs", "source_runs", source_columns)}};

const struct command command_profile = {
    .name = "profile",
    .summary = "Show the stages of an application and what its recent runs say of them.",
    POSITIONAL("APPLICATION", 1),
    .examples = "  provisor profile nightly-etl\n"
                "  provisor profile nightly-etl -o csv",
    CALLS(profile)};
