#include "command/command.h"
#include "config/config.h"

/* README's table: a test compares the two. */
int command_settings(int argc, char *argv[])
{
    (void)argv;
    if (argc != 0) {
        fputs("provisord: settings takes no words\n", stderr);
        return COMMAND_USAGE;
    }
    config_print_markdown(stdout);
    return fflush(stdout) == 0 ? COMMAND_DONE : COMMAND_FAILED;
}
