#include <stdint.h>
#include <string.h>

#include "base/quantity_text.h"
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

/* Properties that do what advice says, one a line, in whole: a list of nodes that is cut would exclude
 * fewer of them. */
static void
write_properties(FILE *out, const json_t *properties, const char *before, const char *behind)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)properties, key, value)
    {
        fputs(before, out);
        print_safely(out, key);
        fputc('=', out);
        print_safely(out, json_string_value(value));
        fputs(behind, out);
    }
}

/* Advice in sentences, each with its properties. */
static void draw_advice(FILE *out, const struct terminal *terminal, const void *context)
{
    const json_t *items = context;
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);
        table_write_wrapped(out, terminal, 2, json_text_at(item, "finding.message", ""));
        write_properties(out, json_object_get(item, "properties"), "    --conf ", "\n");
    }
}

static void mark_advice(FILE *out, const void *context)
{
    const json_t *items = context;
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);
        fputs("- ", out);
        markdown_write_cell(out, json_text_at(item, "finding.message", ""));
        fputc('\n', out);
        write_properties(out, json_object_get(item, "properties"), "  - `--conf ", "`\n");
    }
}

static const struct column warning_columns[] = {{"warning", "message", CELL_TEXT, NULL}};

static const struct column node_columns[] = {
    {"node", "name", CELL_NAME, NULL},
    {"verdict", "verdict", CELL_VERDICT, style_of_verdict},
    {"factor", "slowdown", CELL_NUMBER, NULL},
    {"from", "interval.0", CELL_NUMBER, NULL},
    {"to", "interval.1", CELL_NUMBER, NULL},
    {"tasks", "tasks", CELL_COUNT, NULL},
    {"slow runs", "slow_runs", CELL_COUNT, NULL},
    {"of", "runs", CELL_COUNT, NULL},
    {"since", "slow_since_at", CELL_MINUTE, NULL},
};

static const struct column stage_columns[] = {
    {"stage", "stage_id", CELL_COUNT, NULL},
    {"tasks", "tasks", CELL_COUNT, NULL},
    {"slow", "slow_tasks", CELL_COUNT, NULL},
    {"longer by", "extra_s", CELL_SECONDS, NULL},
    {"by data", "extra_by_read_s", CELL_SECONDS, NULL},
    {"by node", "extra_by_node_s", CELL_SECONDS, NULL},
    {"unexplained", "extra_unexplained_s", CELL_SECONDS, NULL},
    {"name", "stage_name", CELL_TEXT, NULL},
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
    const json_t *advice = json_object_get(reply, "advice");
    char copies[240];
    (void)snprintf(copies, sizeof copies,
                   "What copies of slow tasks would have saved (stages without: replayed %s, "
                   "measured %s)",
                   quantity_duration(json_number_at(reply, "speculation.replayed_s", 0)).text,
                   quantity_duration(json_number_at(reply, "speculation.measured_s", 0)).text);
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
        {.title = "What to do",
         .draw = json_array_size(advice) > 0 ? draw_advice : NULL,
         .context = advice,
         .mark = json_array_size(advice) > 0 ? mark_advice : NULL},
        {.title = "What the figures do not say",
         .value = warnings,
         .columns = warning_columns,
         .n_columns = COUNT(warning_columns),
         .draw = json_array_size(warnings) > 0 ? findings_draw : NULL,
         .context = warnings}};
    return report_write(out, form, terminal, sections, COUNT(sections), reply, failure);
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
