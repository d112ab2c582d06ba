#include <string.h>

#include "cli/commands/commands.h"
#include "cli/commands/invocation.h"
#include "cli/commands/query.h"

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

static int run_list(struct invocation *invocation)
{
    static const struct column columns[] = {
        {"last sent", "last_at", CELL_MINUTE, NULL},
        {"by", "actor", CELL_TEXT, NULL},
        {"log", "source", CELL_TEXT, NULL},
        {"application", "application", CELL_TEXT, NULL},
        {"outcome", "outcome", CELL_TEXT, style_of_outcome},
        {"times", "attempts", CELL_NUMBER, NULL},
        {"open", "open", CELL_YES, NULL},
        {"reason", "reason", CELL_TEXT, NULL},
        {"what to do", "cure", CELL_TEXT, NULL},
    };
    static struct query query;
    if (!invocation_begin(invocation, FORMS_OF_TABLES))
        return invocation_failed(invocation);
    query_begin(&query, invocation);
    query_option(&query, "outcome", "outcome");
    query_option(&query, "application", "application");
    query_instant(&query, "since", "since");
    if (argument_given(invocation->arguments, "open"))
        query_add(&query, "open", "true");
    return query_list(&query, "/v1/ingestions", INGESTIONS_LIMIT, "ingestions", columns,
                      COUNT(columns));
}

const struct command command_ingestions = {
    .name = "ingestions",
    .summary = "List which logs were sent, and why some were refused.",
    .description =
        "The latest first. A refused log is open until a log with the same content, Spark "
        "application id or source is accepted. Equal refusals are one line, which counts them.",
    .examples = "  provisor ingestions --open\n"
                "  provisor ingestions --outcome refused --since 7d -o json",
    .groups = {&list_group},
    .run = run_list};
