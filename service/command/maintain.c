#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#include "command/args.h"
#include "command/command.h"
#include "maintenance/pass.h"
#include "store/store.h"

/* One pass of the housekeeping, now, as the service's own role. */

static void print_tally(const struct maintenance_tally *tally)
{
    for (size_t i = 0; i < maintenance_kinds_n; i++)
        printf("%s %" PRIu64 "\n", maintenance_kinds[i].name,
               maintenance_count(tally, &maintenance_kinds[i]));
}

static enum pv_code
maintain(const struct config *config, struct maintenance_tally *tally, struct pv_error *err)
{
    static const atomic_bool never;
    struct store *store = NULL;
    PV_TRY(store_open(
        &(struct store_options){.conninfo = config->database_url,
                                .connections_max = 1,
                                .wait_ms = (unsigned)config->database_wait_ms,
                                .statement_timeout_ms = (unsigned)config->statement_timeout_ms},
        &store, err));
    enum pv_code code = store_ready(store, NULL, err);
    if (code == PV_OK)
        code = maintenance_pass(store, config, NULL, 0, &never, tally, err);
    store_close(store);
    return code;
}

int command_maintain(int argc, char *argv[])
{
    struct arg_option options[] = {{.name = NULL}};
    struct config config;
    size_t n;
    if (!args_read(argc, argv, options, NULL, 0, &n, &config))
        return COMMAND_USAGE;
    struct pv_error err = {.code = PV_OK};
    struct maintenance_tally tally = {.done = false};
    enum pv_code code = maintain(&config, &tally, &err);
    if (code == PV_OK && !tally.done)
        code = pv_fail(&err, PV_E_CONFLICT, "another process is doing this just now");
    if (tally.done)
        print_tally(&tally);
    if (code != PV_OK) {
        fprintf(stderr, "provisord: maintain: %s\n", err.detail);
        args_explain_unreachable(&config, false, &err);
        return COMMAND_FAILED;
    }
    return fflush(stdout) == 0 ? COMMAND_DONE : COMMAND_FAILED;
}
