#include <string.h>

#include "base/nearest.h"
#include "cli/arguments/help.h"
#include "cli/commands/commands.h"
#include "cli/commands/invocation.h"

/* `help` and `man`: the tables of commands as text. */

static const struct command *
find(struct invocation *invocation, const struct command *const commands[], const char *name)
{
    struct nearest nearest = {.word = NULL};
    for (; commands != NULL && *commands != NULL; commands++) {
        if (strcmp((*commands)->name, name) == 0)
            return *commands;
        if (!(*commands)->hidden)
            nearest_try(&nearest, name, (*commands)->name);
    }
    (void)fail(&invocation->failure, EXIT_USAGE, "there is no command '%.100s'", name);
    if (nearest.word != NULL)
        (void)fail_next(&invocation->failure, "did you mean %s?", nearest.word);
    return NULL;
}

static int run_help(struct invocation *invocation)
{
    const struct command *path[COMMAND_DEPTH_MAX];
    const struct command *const *level = invocation->commands;
    size_t depth = 0;
    for (; depth < invocation->arguments->n_positional && depth < COMMAND_DEPTH_MAX; depth++) {
        path[depth] = find(invocation, level, invocation_word(invocation, depth));
        if (path[depth] == NULL)
            return invocation_failed(invocation);
        level = path[depth]->subcommands;
    }
    if (depth == 0)
        help_overview(stdout, invocation->commands);
    else
        help_command(stdout, path, depth);
    return EXIT_DONE;
}

static int run_man(struct invocation *invocation)
{
    if (invocation->arguments->n_positional == 0) {
        help_manual(stdout, invocation->commands, PROVISOR_VERSION);
        return EXIT_DONE;
    }
    const struct command *command =
        find(invocation, invocation->commands, invocation_word(invocation, 0));
    if (command == NULL)
        return invocation_failed(invocation);
    help_manual_of(stdout, command, PROVISOR_VERSION);
    return EXIT_DONE;
}

const struct command command_help = {.name = "help",
                                     .summary = "Explain a command.",
                                     .positional = "[COMMAND...]",
                                     .positional_max = COMMAND_DEPTH_MAX,
                                     .run = run_help};

const struct command command_man = {
    .name = "man",
    .summary = "Print a manual page as roff: `provisor man gate | man -l -`.",
    .positional = "[COMMAND]",
    .positional_max = 1,
    .run = run_man,
    .hidden = true};
