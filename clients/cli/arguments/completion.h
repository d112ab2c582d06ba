#ifndef CLI_ARGUMENTS_COMPLETION_H
#define CLI_ARGUMENTS_COMPLETION_H

#include <stdio.h>

#include "cli/arguments/command.h"

/*
 * Scripts that complete command lines in a shell, written from the tables of commands: commands,
 * options and their words; files where files are wanted; names of applications by asking the service,
 * for two seconds at most and without a word where that fails.
 */
void completion_bash(FILE *out, const struct command *const commands[]);
void completion_zsh(FILE *out, const struct command *const commands[]);
void completion_fish(FILE *out, const struct command *const commands[]);

#endif
