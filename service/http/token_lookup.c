#include "http/token_lookup.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "http/state.h"
#include "http/token_cache.h"
#include "metrics/registry.h"
#include "threads/clock.h"

METRIC_COUNTER(token_lookups,
               "provisor_token_lookups_total",
               "Questions to the database who holds a token, by answer: valid, false or failed.",
               "answer");

enum pv_code token_look_up(struct http_server *server,
                           const char *token,
                           struct principal *who,
                           struct pv_error *err)
{
    uint64_t asked_ns = clock_monotonic_ns();
    enum pv_code code = server->options.authenticate(server->options.context, token, who, err);
    metric_add(&token_lookups, 1,
               METRIC_LABELS(code == PV_OK                  ? "valid"
                             : code == PV_E_UNAUTHENTICATED ? "false"
                                                            : "failed"));
    if (code == PV_OK)
        token_cache_put(server->tokens, token, asked_ns, who);
    if (code == PV_E_UNAUTHENTICATED)
        token_cache_put_false(server->tokens, token, asked_ns, err->detail);
    return code;
}

struct renewal {
    struct http_server *server;
    char token[];
};

static void discard(struct renewal *renewal)
{
    sodium_memzero(renewal->token, strlen(renewal->token));
    free(renewal);
}

static void run_renewal(void *argument)
{
    struct renewal *renewal = argument;
    struct principal who;
    struct pv_error err = {0};
    (void)(token_look_up(renewal->server, renewal->token, &who, &err) == PV_OK);
    discard(renewal);
}

void token_renew(struct http_server *server, const char *token, const char *team)
{
    const size_t n = strlen(token) + 1;
    struct renewal *renewal = malloc(sizeof *renewal + n);
    if (renewal == NULL)
        return;
    renewal->server = server;
    memcpy(renewal->token, token, n);
    const struct workers_job job = {.run = run_renewal, .argument = renewal, .owner = team};
    if (workers_submit(server->renewals, &job) != WORKERS_ACCEPTED)
        discard(renewal);
}
