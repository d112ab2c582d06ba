#ifndef CLI_COMMANDS_COMMANDS_H
#define CLI_COMMANDS_COMMANDS_H

#include "cli/arguments/command.h"

/* The commands of the program, in the order of the help; ended by NULL. One file each. */
extern const struct command *const all_commands[];

extern const struct command command_advise;
extern const struct command command_apps;
extern const struct command command_gate;
extern const struct command command_help;
extern const struct command command_login;
extern const struct command command_man;
extern const struct command command_submit;

#endif
