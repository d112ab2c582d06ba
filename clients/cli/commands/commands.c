#include "cli/commands/commands.h"

#include <stddef.h>

const struct command *const all_commands[] = {
    &command_login, &command_advise, &command_gate, &command_submit,
    &command_apps,  &command_help,   &command_man,  NULL};
