#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "command/args.h"
#include "command/command.h"
#include "sample/files.h"

static bool read_seed(const char *text, uint64_t *seed)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0)
        return false;
    *seed = value;
    return true;
}

int command_sample(int argc, char *argv[])
{
    struct arg_option options[] = {{.name = "out"}, {.name = "seed"}, {.name = NULL}};
    struct config config;
    size_t n;
    uint64_t seed = 1;
    if (!args_read(argc, argv, options, NULL, 0, &n, &config))
        return COMMAND_USAGE;
    if (options[0].value == NULL) {
        fputs("provisord: sample: --out=DIR is required\n", stderr);
        return COMMAND_USAGE;
    }
    if (options[1].value != NULL && !read_seed(options[1].value, &seed)) {
        fputs("provisord: sample: --seed is a whole number\n", stderr);
        return COMMAND_USAGE;
    }
    struct pv_error err = {.code = PV_OK};
    struct sample_counts counts;
    if (sample_write_files(options[0].value, seed, &counts, &err) != PV_OK) {
        fprintf(stderr, "provisord: sample: %s\n", err.detail);
        return COMMAND_FAILED;
    }
    fprintf(stderr, "provisord: %u event logs of %u applications, %.1f MB\n", counts.logs,
            counts.applications, (double)counts.bytes / 1e6);
    return COMMAND_DONE;
}
