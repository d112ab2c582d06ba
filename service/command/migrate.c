#include <stdio.h>

#include "base/plural.h"
#include "command/command.h"
#include "command/words.h"
#include "store/store.h"

int command_migrate(int argc, char *argv[])
{
    struct word_option options[] = {{.name = NULL}};
    struct config config;
    size_t n;
    if (!words_read(argc, argv, options, NULL, 0, &n, &config))
        return COMMAND_USAGE;
    const char *owner =
        config.database_owner_url[0] != '\0' ? config.database_owner_url : config.database_url;
    struct pv_error err = {.code = PV_OK};
    unsigned applied = 0;
    if (store_migrate(owner, &applied, &err) != PV_OK) {
        fprintf(stderr, "provisord: migrate: %s\n", err.detail);
        return COMMAND_FAILED;
    }
    fprintf(stderr, "provisord: %u migration%s applied\n", applied, PLURAL(applied));
    return COMMAND_DONE;
}
