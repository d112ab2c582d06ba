#ifndef CLI_ARGUMENTS_HELP_H
#define CLI_ARGUMENTS_HELP_H

#include <stdio.h>

#include "cli/arguments/command.h"

/*
 * The tables of commands as text: for --help, and as manual pages (man(7)). Both hold the same words.
 */
/* All commands, with a line each. */
void help_overview(FILE *out, const struct command *const commands[]);

/* One command: path is that from the outermost command to it. */
void help_command(FILE *out, const struct command *const path[], size_t depth);

/* The manual page of the program, and that of one command with those inside it. */
void help_manual(FILE *out, const struct command *const commands[], const char *version);
void help_manual_of(FILE *out, const struct command *command, const char *version);

#endif
