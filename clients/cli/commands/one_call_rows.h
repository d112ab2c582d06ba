#ifndef CLI_COMMANDS_ONE_CALL_ROWS_H
#define CLI_COMMANDS_ONE_CALL_ROWS_H

#include "cli/commands/one_call.h"
#include "cli/commands/query.h"

/* Short forms for the tables of commands that are one call. */

/* One part of a reply: its title or NULL, its path in the reply, and its columns. */
#define PART(title, path, columns)                                                                 \
    {                                                                                              \
        title, path, NULL, columns, COUNT(columns)                                                 \
    }

#define POSITIONAL(words, n) .positional = (words), .positional_min = (n), .positional_max = (n)

/* The command's call. */
#define CALLS(call) .run = one_call_run, .context = &(call)

#endif
