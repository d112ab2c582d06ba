#include <stdio.h>

#include "base/plural.h"
#include "command/args.h"
#include "command/command.h"
#include "store/store.h"

int command_migrate(int argc, char *argv[])
{
    struct arg_option options[] = {{.name = NULL}};
    struct config config;
    size_t n;
    if (!args_read(argc, argv, options, NULL, 0, &n, &config))
        return COMMAND_USAGE;
    struct pv_error err = {.code = PV_OK};
    unsigned applied = 0;
    const struct store_migrate_options how = args_migrate_options(&config);
    if (store_migrate(&how, &applied, &err) != PV_OK) {
        fprintf(stderr, "provisord: migrate: %s\n", err.detail);
        args_explain_unreachable(&config, true, &err);
        return COMMAND_FAILED;
    }
    fprintf(stderr, "provisord: %u migration%s applied\n", applied, PLURAL(applied));
    return COMMAND_DONE;
}
