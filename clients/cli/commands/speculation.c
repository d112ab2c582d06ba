#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity_text.h"
#include "cli/commands/commands.h"
#include "cli/commands/decisions.h"
#include "cli/commands/findings.h"
#include "cli/commands/query.h"

/* `speculation`: which slow task deserves a copy, and where. */

static enum style style_of_straggler(const json_t *cell)
{
    return json_is_true(cell) ? STYLE_WARNING : STYLE_PLAIN;
}

static const struct column line_columns[] = {
    {"line", "line", CELL_COUNT, NULL},
    {"task", "action.task", CELL_TEXT, NULL},
    {"of node", "action.node", CELL_TEXT, NULL},
    {"copy on", "action.host", CELL_TEXT, NULL},
    {"from level", "action.min_level", CELL_COUNT, NULL},
    {"value", "action.value_s", CELL_SECONDS, NULL},
    {"differs", "differs", CELL_YES, NULL},
};

static const struct column esplash_columns[] = {
    {"task", "task", CELL_TEXT, NULL},
    {"node", "node", CELL_TEXT, NULL},
    {"copy from level", "min_level", CELL_COUNT, NULL},
    {"a copy takes", "shortest_s", CELL_SECONDS, NULL},
    {"value", "value_s", CELL_SECONDS, NULL},
    {"not known because of", "reason", CELL_TEXT, NULL},
};
static const struct column late_columns[] = {
    {"task", "task", CELL_TEXT, NULL},
    {"node", "node", CELL_TEXT, NULL},
    {"still takes", "remaining_s", CELL_SECONDS, NULL},
    {"a copy takes", "copy_s", CELL_SECONDS, NULL},
    {"gains", "value_s", CELL_SECONDS, NULL},
};
static const struct column recheck_columns[] = {
    {"task", "task", CELL_TEXT, NULL},         {"node", "node", CELL_TEXT, NULL},
    {"worth waiting", "keep", CELL_YES, NULL}, {"copy from level", "min_level", CELL_COUNT, NULL},
    {"value", "value_s", CELL_SECONDS, NULL},  {"not known because of", "reason", CELL_TEXT, NULL},
};
static const struct column node_columns[] = {
    {"node", "name", CELL_NAME, NULL},
    {"level", "level", CELL_COUNT, NULL},
    {"straggler", "straggler", CELL_YES, style_of_straggler},
    {"straggler value", "straggler_value", CELL_NUMBER, NULL},
};
static const struct column normal_columns[] = {
    {"level", "level", CELL_COUNT, NULL},
    {"type", "type", CELL_TEXT, NULL},
    {"finished", "tasks", CELL_COUNT, NULL},
    {"mean", "mean_s", CELL_SECONDS, NULL},
    {"deviation", "deviation_s", CELL_SECONDS, NULL},
    {"progress/s", "progress_rate_per_s", CELL_NUMBER, NULL},
};

/* --- the sentence --- */

/* The candidate that the action names; NULL: none. */
static const json_t *chosen(const json_t *decision)
{
    const char *task = json_text_at(decision, "action.task", NULL);
    const json_t *candidates = json_object_get(decision, "candidates");
    for (size_t i = 0; task != NULL && i < json_array_size(candidates); i++) {
        const json_t *candidate = json_array_get(candidates, i);
        if (strcmp(json_text_at(candidate, "task", ""), task) == 0)
            return candidate;
    }
    return NULL;
}

static void describe_late(const json_t *decision, char *out, size_t room)
{
    const json_t *candidate = chosen(decision);
    (void)snprintf(
        out, room,
        "%s on %s gets a copy, on any node with room: at its speed so far it still takes "
        "%s, a copy %s.",
        json_text_at(decision, "action.task", ""), json_text_at(decision, "action.node", ""),
        quantity_duration(json_number_at(candidate, "remaining_s", 0)).text,
        quantity_duration(json_number_at(candidate, "copy_s", 0)).text);
}

static void describe_esplash(const json_t *decision, char *out, size_t room)
{
    const char *task = json_text_at(decision, "action.task", "");
    const char *node = json_text_at(decision, "action.node", "");
    const char *host = json_text_at(decision, "action.host", NULL);
    double level = json_number_at(decision, "action.min_level", 0);
    if (host != NULL)
        (void)snprintf(out, room, "%s on %s, a straggler, gets a copy on %s.", task, node, host);
    else
        (void)snprintf(out, room,
                       "%s on %s, a straggler, deserves a copy, which has to wait: for a container "
                       "on a node of level %.0f or above that is no straggler.",
                       task, node, level);
}

static void describe(const json_t *decision, bool late, char *out, size_t room)
{
    if (json_text_at(decision, "action.task", NULL) == NULL)
        (void)snprintf(out, room, "No task gets a copy now.");
    else if (late)
        describe_late(decision, out, room);
    else
        describe_esplash(decision, out, room);
}

/* --- candidates --- */

/* The shortest of the expected durations, which are by level, as a member of its own. */
static bool add_shortest(json_t *candidate)
{
    const json_t *expected = json_object_get(candidate, "expected_s");
    const json_t *shortest = NULL;
    for (size_t i = 0; i < json_array_size(expected); i++) {
        json_t *item = json_array_get(expected, i);
        if (json_is_number(item) &&
            (shortest == NULL || json_number_value(item) < json_number_value(shortest)))
            shortest = item;
    }
    return shortest == NULL ||
           json_object_set_new(candidate, "shortest_s", json_deep_copy(shortest)) == 0;
}

static int order_by_value(const void *a, const void *b)
{
    const json_t *const *x = a;
    const json_t *const *y = b;
    double first = json_number_at(*x, "value_s", -HUGE_VAL);
    double second = json_number_at(*y, "value_s", -HUGE_VAL);
    return (first < second) - (first > second);
}

/* Candidates by descending value, of LATE, whose candidates are all tasks, those that gain. A new
 * array; NULL: no memory. */
static json_t *ranked(const json_t *candidates, bool late)
{
    size_t n = 0;
    json_t *list = json_array();
    json_t **items = calloc(json_array_size(candidates) + 1, sizeof *items);
    for (size_t i = 0; items != NULL && i < json_array_size(candidates); i++) {
        json_t *item = json_array_get(candidates, i);
        if (!late || json_number_at(item, "value_s", 0) > 0)
            items[n++] = item;
    }
    bool good = list != NULL && items != NULL;
    if (good)
        qsort(items, n, sizeof(json_t *), order_by_value);
    for (size_t i = 0; good && i < n; i++) {
        json_t *copy = json_copy(items[i]);
        good = copy != NULL && add_shortest(copy) && json_array_append(list, copy) == 0;
        json_decref(copy);
    }
    free(items);
    if (good)
        return list;
    json_decref(list);
    return NULL;
}

/* --- the answer --- */

static bool write_decision(struct invocation *invocation, const json_t *decision)
{
    char words[1024];
    bool late = strcmp(json_text_at(decision, "kind", ""), "late") == 0;
    json_t *candidates = ranked(json_object_get(decision, "candidates"), late);
    if (candidates == NULL)
        return fail_memory(&invocation->failure);
    describe(decision, late, words, sizeof words);
    const struct section sections[] = {
        {.text = words},
        {.title = late ? "Tasks that gain by a copy" : "Tasks on stragglers",
         .value = candidates,
         .columns = late ? late_columns : esplash_columns,
         .n_columns = late ? COUNT(late_columns) : COUNT(esplash_columns)},
        {.title = "Copies that wait for a container",
         .value = json_object_get(decision, "rechecks"),
         .columns = recheck_columns,
         .n_columns = COUNT(recheck_columns)},
        {.title = "Nodes",
         .value = json_object_get(decision, "nodes"),
         .columns = node_columns,
         .n_columns = COUNT(node_columns)},
        {.title = "What is normal on each level",
         .value = json_object_get(decision, "table"),
         .columns = normal_columns,
         .n_columns = COUNT(normal_columns)},
        findings_warnings(decision)};
    bool good = invocation_write_report(invocation, sections, COUNT(sections), decision);
    json_decref(candidates);
    return good;
}

static const struct decision_kind speculation = {"/v1/speculation-decisions", line_columns,
                                                 COUNT(line_columns), write_decision};

static int run(struct invocation *invocation)
{
    return decisions_run(invocation, &speculation);
}

const struct command command_speculation = {
    .name = "speculation",
    .summary = "Say which slow task deserves a copy, and on which node.",
    .description =
        "Reads the state of the nodes from a JSON or YAML file, or from standard input (-), as "
        "POST /v1/speculation-decisions takes it, and says which task gets a copy now, on which "
        "node, and why: by eSplash, which compares nodes that are alike, or by LATE, as Hadoop "
        "does.\n\n"
        "With --log the file has many states, one a line. Each is decided on, and where a line "
        "has `taken`, the task that really got a copy, it is compared with the decision. Lines at "
        "fault are listed, and the exit status is then 2.\n\n"
        "What copies would have made of a run of Spark that is stored: `provisor stragglers`.",
    .positional = "FILE",
    .positional_min = 1,
    .positional_max = 1,
    .examples = "  provisor speculation nodes.yaml\n"
                "  provisor speculation --log last-night.ndjson.zst --lines different\n"
                "  provisor speculation --log last-night.ndjson -o csv",
    .groups = {&decision_options},
    .run = run};
