#include <string.h>

#include "command/command.h"
#include "config/config.h"

/* Every setting as text, or as the tables of docs/configuration.md, which a test compares. */
int command_settings(int argc, char *argv[])
{
    bool markdown = argc == 1 && strcmp(argv[0], "--markdown") == 0;
    if (argc != 0 && !markdown) {
        fputs("usage: provisord settings [--markdown]\n", stderr);
        return COMMAND_USAGE;
    }
    if (markdown)
        config_print_markdown(stdout);
    else
        config_print_help(stdout);
    return fflush(stdout) == 0 ? COMMAND_DONE : COMMAND_FAILED;
}
