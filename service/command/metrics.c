#include "metrics/registry.h"

#include <string.h>

#include "command/command.h"

/* The table of docs/metrics.md, which a test compares. */
int command_metrics(int argc, char *argv[])
{
    if (argc > 1 || (argc == 1 && strcmp(argv[0], "--markdown") != 0)) {
        fputs("usage: provisord metrics [--markdown]\n", stderr);
        return COMMAND_USAGE;
    }
    metrics_print_markdown(stdout);
    return fflush(stdout) == 0 ? COMMAND_DONE : COMMAND_FAILED;
}
