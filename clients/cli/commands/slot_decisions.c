#include <stdio.h>
#include <string.h>

#include "cli/commands/commands.h"
#include "cli/commands/decisions.h"
#include "cli/commands/findings.h"
#include "cli/commands/query.h"

/* `slot-decisions`: what a slot that has come free serves. */

static const struct column line_columns[] = {
    {"line", "line", CELL_COUNT, NULL},     {"slot", "action.slot", CELL_TEXT, NULL},
    {"job", "action.job", CELL_TEXT, NULL}, {"rule", "action.rule", CELL_TEXT, NULL},
    {"differs", "differs", CELL_YES, NULL},
};

static const struct column fresh_job_columns[] = {
    {"job", "name", CELL_NAME, NULL},
    {"slots used on average", "consumption", CELL_NUMBER, NULL},
    {"map work left", "remaining_map_work_s", CELL_SECONDS, NULL},
    {"reduce work left", "remaining_reduce_work_s", CELL_SECONDS, NULL},
};
static const struct column fresh_columns[] = {
    {"slots", "figures.total_slots", CELL_COUNT, NULL},
    {"of these to serve maps", "figures.expected_map_slots", CELL_NUMBER, NULL},
    {"map work left", "figures.remaining_map_work_s", CELL_SECONDS, NULL},
    {"reduce work left", "figures.remaining_reduce_work_s", CELL_SECONDS, NULL},
    {"first to end its maps", "figures.first_to_end", CELL_TEXT, NULL},
    {"its maps done", "figures.progress", CELL_SHARE, NULL},
    {"divided for what comes after it", "figures.sudden_change", CELL_YES, NULL},
    {"fairness", "fairness", CELL_NUMBER, NULL},
};

static const struct column omo_job_columns[] = {
    {"job", "name", CELL_NAME, NULL},
    {"slots", "occupied_slots", CELL_COUNT, NULL},
    {"maps pending", "pending_maps", CELL_COUNT, NULL},
    {"reduces start at", "starts_at_pending_maps", CELL_COUNT, NULL},
    {"may start", "may_start", CELL_YES, NULL},
    {"shuffle", "shuffle_s", CELL_SECONDS, NULL},
    {"maps done in turn", "fair_s", CELL_SECONDS, NULL},
    {"others wait", "batch_s", CELL_SECONDS, NULL},
};
static const struct column omo_columns[] = {
    {"slots released a second", "release_frequency_per_s", CELL_NUMBER, NULL},
    {"slots available", "available_slots", CELL_NUMBER, NULL},
    {"active jobs", "active_jobs", CELL_COUNT, NULL},
};

/* Why, by the rule of the reply; rules that are not known here say their own name. */
static const char *reason_of(const char *rule)
{
    static const struct {
        const char *rule;
        const char *reason;
    } reasons[] = {
        {"expected_slots", "fewer slots serve this kind than the work that is left calls for"},
        {"other_kind", "no task of the kind that is to have more slots is pending"},
        {"consecutive_reduces", "some of its reduces have begun, and the others follow"},
        {"lazy_start", "if its reduces begin now, their shuffle ends with its last map"},
        {"batch_finish", "its last maps come first, so that its reduces need not wait"},
        {"fair", "it holds fewest slots"},
    };
    for (size_t i = 0; i < COUNT(reasons); i++)
        if (strcmp(rule, reasons[i].rule) == 0)
            return reasons[i].reason;
    return rule;
}

static void describe(const json_t *decision, char *out, size_t room)
{
    const char *job = json_text_at(decision, "action.job", NULL);
    if (job == NULL)
        (void)snprintf(out, room, "No task is pending: the slot stays free.");
    else
        (void)snprintf(out, room, "The slot serves a %s of %s: %s.",
                       json_text_at(decision, "action.slot", ""), job,
                       reason_of(json_text_at(decision, "action.rule", "")));
}

static bool write_decision(struct invocation *invocation, const json_t *decision)
{
    char words[512];
    bool omo = strcmp(json_text_at(decision, "kind", ""), "omo") == 0;
    describe(decision, words, sizeof words);
    const struct section sections[] = {
        {.text = words},
        {.title = "Jobs",
         .value = json_object_get(decision, "jobs"),
         .columns = omo ? omo_job_columns : fresh_job_columns,
         .n_columns = omo ? COUNT(omo_job_columns) : COUNT(fresh_job_columns)},
        {.title = "Figures",
         .value = decision,
         .columns = omo ? omo_columns : fresh_columns,
         .n_columns = omo ? COUNT(omo_columns) : COUNT(fresh_columns)},
        findings_warnings(decision)};
    return invocation_write_report(invocation, sections, COUNT(sections), decision);
}

static const struct decision_kind slot_decisions = {"/v1/slot-decisions", line_columns,
                                                    COUNT(line_columns), write_decision};

static int run(struct invocation *invocation)
{
    return decisions_run(invocation, &slot_decisions);
}

const struct command command_slot_decisions = {
    .name = "slot-decisions",
    .summary = "Say what a slot that has come free should serve.",
    .description =
        "Reads the state of a cluster whose slots may serve maps or reduces from a JSON or YAML "
        "file, or from standard input (-), as POST /v1/slot-decisions takes it, and says which "
        "task of which job gets the slot, by FRESH or OMO, with the figures behind it.\n\n"
        "With --log the file has many states, one a line. Each is decided on, and where a line "
        "has `taken`, what the scheduler did, it is compared with the decision. Lines at fault are "
        "listed, and the exit status is then 2.",
    .positional = "FILE",
    .positional_min = 1,
    .positional_max = 1,
    .examples = "  provisor slot-decisions state.yaml\n"
                "  provisor slot-decisions --log yesterday.ndjson.gz --lines different\n"
                "  provisor slot-decisions --log yesterday.ndjson -o csv",
    .groups = {&decision_options},
    .run = run};
