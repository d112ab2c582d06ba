#include <string.h>

#include "cli/commands/commands.h"
#include "cli/commands/findings.h"
#include "cli/commands/invocation.h"
#include "cli/commands/query.h"

static const struct option_spec options[] = {
    {"runs", 0, OPTION_COUNT, "N", "How many of the newest runs are looked at (5).", false},
    {"run", 0, OPTION_TEXT, "RUN", "One run alone, in place of the newest.", false},
    OPTIONS_END};
static const struct option_group group = {"Options", options};

static enum style style_of_verdict(const json_t *cell)
{
    return strcmp(json_string_value(cell), "straggler") == 0 ? STYLE_WARNING : STYLE_PLAIN;
}

/* Advice in sentences, each with the properties that do it. */
static void draw_advice(FILE *out, const struct terminal *terminal, const void *context)
{
    const json_t *items = context;
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);
        const char *key;
        json_t *value;
        table_write_wrapped(out, terminal, 2, json_text_at(item, "finding.message", ""));
        json_object_foreach(json_object_get(item, "properties"), key, value)
        {
            char words[4096];
            (void)snprintf(words, sizeof words, "--conf %s=%s", key, json_string_value(value));
            text_defuse(words);
            fprintf(out, "    %s\n", words);
        }
    }
}

static const struct column node_columns[] = {
    {"node", "name", CELL_TEXT, NULL},
    {"verdict", "verdict", CELL_TEXT, style_of_verdict},
    {"takes times", "slowdown", CELL_NUMBER, NULL},
    {"from", "interval.0", CELL_NUMBER, NULL},
    {"to", "interval.1", CELL_NUMBER, NULL},
    {"tasks", "tasks", CELL_COUNT, NULL},
    {"slow runs", "slow_runs", CELL_COUNT, NULL},
    {"of", "runs", CELL_COUNT, NULL},
    {"since", "slow_since_at", CELL_MINUTE, NULL},
};

static const struct column stage_columns[] = {
    {"stage", "stage_id", CELL_COUNT, NULL},
    {"name", "stage_name", CELL_TEXT, NULL},
    {"tasks", "tasks", CELL_COUNT, NULL},
    {"slow", "slow_tasks", CELL_COUNT, NULL},
    {"longer by", "extra_s", CELL_SECONDS, NULL},
    {"for what they read", "extra_by_read_s", CELL_SECONDS, NULL},
    {"for their node", "extra_by_node_s", CELL_SECONDS, NULL},
    {"unexplained", "extra_unexplained_s", CELL_SECONDS, NULL},
};

static const struct column rule_columns[] = {
    {"rule", "rule", CELL_TEXT, NULL},
    {"saves at best", "optimistic.saved_s", CELL_SECONDS, NULL},
    {"copies", "optimistic.copies_started", CELL_COUNT, NULL},
    {"useful", "optimistic.useful_copies", CELL_COUNT, NULL},
    {"saves at worst", "pessimistic.saved_s", CELL_SECONDS, NULL},
    {"copies", "pessimistic.copies_started", CELL_COUNT, NULL},
    {"useful", "pessimistic.useful_copies", CELL_COUNT, NULL},
};

static const struct column group_columns[] = {
    {"stages", "stage_ids", CELL_TEXT, NULL},   {"as it ran", "rule_of_run", CELL_TEXT, NULL},
    {"took", "replayed_s", CELL_SECONDS, NULL}, {"best", "best_rule", CELL_TEXT, NULL},
    {"saves", "saved_s", CELL_SECONDS, NULL},
};

static bool write_stragglers(FILE *out,
                             enum output_form form,
                             const struct terminal *terminal,
                             void *context,
                             struct failure *failure)
{
    const json_t *reply = context;
    bool people = form == FORM_TABLE;
    const json_t *advice = json_object_get(reply, "advice");
    char replayed[32];
    char measured[32];
    char copies[160];
    cell_seconds(json_number_at(reply, "speculation.replayed_s", 0), replayed, sizeof replayed);
    cell_seconds(json_number_at(reply, "speculation.measured_s", 0), measured, sizeof measured);
    (void)snprintf(copies, sizeof copies,
                   "What copies of slow tasks would have saved (stages without: replayed %s, "
                   "measured %s)",
                   replayed, measured);
    const json_t *warnings = json_object_get(reply, "warnings");
    const struct section sections[] = {
        {.title = "Nodes",
         .value = json_object_get(reply, "nodes"),
         .columns = node_columns,
         .n_columns = COUNT(node_columns)},
        {.title = "Stages of the last run with slow tasks",
         .value = json_object_get(reply, "stages"),
         .columns = stage_columns,
         .n_columns = COUNT(stage_columns)},
        {.title = copies,
         .value = json_at(reply, "speculation.rules"),
         .columns = rule_columns,
         .n_columns = COUNT(rule_columns)},
        {.title = "Stages at the same time, with the cores divided in another way",
         .value = json_object_get(reply, "concurrent_stages"),
         .columns = group_columns,
         .n_columns = COUNT(group_columns)},
        {.title = "What to do", .draw = draw_advice, .context = advice},
        {.title = "What the figures do not say", .draw = findings_draw, .context = warnings}};
    struct section shown[COUNT(sections)];
    size_t n = 0;
    for (size_t i = 0; i < COUNT(sections); i++)
        if (sections[i].draw == NULL || (people && json_array_size(sections[i].context) > 0))
            shown[n++] = sections[i];
    return report_write(out, form, terminal, shown, n, reply, failure);
}

static int run(struct invocation *invocation)
{
    static struct query query;
    char path[PATH_TEXT];
    if (!invocation_begin(invocation, FORMS_OF_TABLES) ||
        !path_of_word(invocation, "/v1/applications/", 0, "/stragglers", path))
        return invocation_failed(invocation);
    query_begin(&query, invocation);
    query_option(&query, "runs", "runs");
    query_option(&query, "run", "run_id");
    json_t *reply = remote_get(invocation->remote, path, query.n == 0 ? NULL : query.items,
                               &invocation->failure);
    bool good = reply != NULL &&
                outputs_write(&invocation->outputs, write_stragglers, reply, &invocation->failure);
    json_decref(reply);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

const struct command command_stragglers = {
    .name = "stragglers",
    .summary = "Show which nodes and tasks of an application are slow, and what copies would save.",
    .description =
        "Compares the nodes of the newest runs by how long the same stages' tasks take there, for "
        "what they read; says which tasks of the newest run were slow and why; and what copies of "
        "them would have saved by Spark's rule, LATE and eSplash, at best and at worst.",
    .positional = "APPLICATION",
    .positional_min = 1,
    .positional_max = 1,
    .examples = "  provisor stragglers nightly-etl\n"
                "  provisor stragglers nightly-etl --runs 10\n"
                "  provisor stragglers nightly-etl -o csv",
    .groups = {&group},
    .run = run};
