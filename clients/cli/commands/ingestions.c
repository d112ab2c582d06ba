#include <stdio.h>
#include <string.h>

#include "cli/commands/commands.h"
#include "cli/commands/invocation.h"
#include "cli/commands/query.h"
#include "cli/output/json_text.h"

/* `ingestions`: which logs came in, and which were refused. */

enum { INGESTIONS_LIMIT = 50 };

static enum style style_of_outcome(const json_t *cell)
{
    return json_is_string(cell) && strcmp(json_string_value(cell), "refused") == 0 ? STYLE_BAD
                                                                                   : STYLE_PLAIN;
}

static const struct option_spec list_options[] = {
    {"open", 0, OPTION_FLAG, NULL, "Only refused logs that have not come in since.", false},
    {"outcome", 0, OPTION_CHOICE, "stored|replaced|duplicate|refused", "Only logs of this outcome.",
     false},
    {"application", 0, OPTION_TEXT, "APPLICATION", "Only logs of this application.", false},
    OPTION_SINCE,
    OPTION_LIMIT,
    OPTIONS_END};
static const struct option_group list_group = {"Options", list_options};

/* For each refused log a paragraph: no column of a table has room for it. */
static void draw_refusals(FILE *out, const struct terminal *terminal, const void *items)
{
    char text[2048];
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);
        const char *application = json_text_at(item, "application", "a log without a name");
        if (json_text_at(item, "reason", NULL) == NULL)
            continue;
        (void)snprintf(text, sizeof text, "%s: %s. %s", json_text_at(item, "source", application),
                       json_text_at(item, "reason", ""), json_text_at(item, "cure", ""));
        table_write_wrapped(out, terminal, 2, text);
    }
}

static const struct column columns[] = {
    {"last sent", "last_at", CELL_MINUTE, NULL},
    {"by", "actor", CELL_TEXT, NULL},
    {"log", "source", CELL_TEXT, NULL},
    {"application", "application", CELL_NAME, NULL},
    {"outcome", "outcome", CELL_VERDICT, style_of_outcome},
    {"times", "attempts", CELL_COUNT, NULL},
    {"open", "open", CELL_YES, NULL},
    {"reason", "reason", CELL_TEXT, NULL},
    {"what to do", "cure", CELL_TEXT, NULL},
};

static bool write_ingestions(struct invocation *invocation, const json_t *items)
{
    const bool people = invocation_for_people(invocation);
    bool refused = false;
    for (size_t i = 0; i < json_array_size(items); i++)
        refused = refused || json_text_at(json_array_get(items, i), "reason", NULL) != NULL;
    const struct section sections[] = {
        {.value = items, .columns = columns, .n_columns = COUNT(columns) - (people ? 2 : 0)},
        {.title = "Refused", .draw = draw_refusals, .context = items}};
    return invocation_write_report(invocation, sections, people && refused ? 2 : 1, items);
}

static int run_list(struct invocation *invocation)
{
    static struct query query;
    bool more = false;
    if (!invocation_begin(invocation, FORMS_OF_TABLES))
        return invocation_failed(invocation);
    query_begin(&query, invocation);
    query_option(&query, "outcome", "outcome");
    query_option(&query, "application", "application");
    query_instant(&query, "since", "since");
    if (argument_given(invocation->arguments, "open"))
        query_add(&query, "open", "true");
    json_t *items = query_items(&query, "/v1/ingestions", INGESTIONS_LIMIT, &more);
    if (items == NULL)
        return invocation_failed(invocation);
    const bool good = write_ingestions(invocation, items);
    if (json_array_size(items) == 0 && invocation_for_people(invocation))
        invocation_say(invocation, "No log matches.");
    if (good && more)
        invocation_say(invocation, "There are more ingestions: --limit shows more.");
    json_decref(items);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

const struct command command_ingestions = {
    .name = "ingestions",
    .summary = "List which logs were sent, and why some were refused.",
    .description =
        "The latest first. A refused log is open until a log with the same content, Spark "
        "application id or source is accepted; if the last two are unknown, until a log of the "
        "same application is. Equal refusals are one line, which counts them.",
    .examples = "  provisor ingestions --open\n"
                "  provisor ingestions --outcome refused --since 7d -o json",
    .groups = {&list_group},
    .run = run_list};
