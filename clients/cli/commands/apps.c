#include "cli/commands/commands.h"
#include "cli/commands/invocation.h"

#define COUNT(columns) (sizeof(columns) / sizeof *(columns))

static int run(struct invocation *invocation)
{
    static const struct column columns[] = {
        {"application", "name", CELL_TEXT, NULL},
    };
    if (!invocation_begin(invocation, FORMS_OF_TABLES))
        return invocation_failed(invocation);
    json_t *items =
        remote_list(invocation->remote, "/v1/applications", NULL, 0, &invocation->failure);
    if (items == NULL)
        return invocation_failed(invocation);
    bool good = invocation_write_list(invocation, items, columns, COUNT(columns));
    json_decref(items);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

const struct command command_apps = {.name = "apps",
                                     .summary =
                                         "List the applications with their latest run and advice.",
                                     .run = run};
