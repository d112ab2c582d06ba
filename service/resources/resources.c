#include "resources/resources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "metrics/registry.h"

METRIC_GAUGE(
    held,
    "provisor_resource_held",
    "What requests and operations hold of a resource that teams share: bytes of memory and "
    "spool, else places.",
    "resource");
METRIC_GAUGE(most, "provisor_resource_max", "What they may hold of it together.", "resource");
METRIC_COUNTER(refused,
               "provisor_resource_refused_total",
               "Requests refused for want of a resource: all of it was held (full), or the team "
               "had its share (share).",
               "resource,reason");

static const struct {
    const char *name; /* in metrics and RateLimit-Policy */
    const char *unit;
    const char *setting;
    const char *what;
    unsigned retry_after_s;
} rows[RESOURCE_COUNT] = {
    [RESOURCE_MEMORY] = {"memory", "content-bytes", "memory_bytes_max", "memory", 1},
    [RESOURCE_SPOOL] = {"spool", "content-bytes", "spool_total_bytes_max",
                        "disk for uploads and exports", 10},
    [RESOURCE_EXPORTS] = {"exports", "concurrent-requests", "exports_max", "places for exports", 5},
    [RESOURCE_IMPORTS] = {"imports", "concurrent-requests", "imports_max", "places for imports",
                          10},
    [RESOURCE_WAITS] = {"waits", "concurrent-requests", "operation_waits_max",
                        "places for held replies", 5},
    [RESOURCE_STREAMS] = {"streams", "concurrent-requests", "operation_streams_max",
                          "places for event streams", 5},
    [RESOURCE_CONNECTIONS] = {"connections", "concurrent-requests", "connections_max",
                              "places for connections", 1},
};

struct team_resources {
    struct ledger_share shares[RESOURCE_COUNT]; /* first: accounts know a share only */
    struct team_resources *in_bucket;
    size_t holders; /* under the lock */
    char team[37];
};

void resources_init(struct resources *resources, const struct config *config)
{
    *resources = (struct resources){
        .ledgers = {[RESOURCE_MEMORY] = {.max = (size_t)config->memory_bytes_max},
                    [RESOURCE_SPOOL] = {.max = (size_t)config->spool_total_bytes_max},
                    [RESOURCE_EXPORTS] = {.max = (size_t)config->exports_max, .unit = 1},
                    [RESOURCE_IMPORTS] = {.max = (size_t)config->imports_max, .unit = 1},
                    [RESOURCE_WAITS] = {.max = (size_t)config->operation_waits_max, .unit = 1},
                    [RESOURCE_STREAMS] = {.max = (size_t)config->operation_streams_max, .unit = 1},
                    [RESOURCE_CONNECTIONS] = {.max = (size_t)config->connections_max, .unit = 1}}};
    (void)pthread_mutex_init(&resources->lock, NULL);
}

void resources_fini(struct resources *resources)
{
    (void)pthread_mutex_destroy(&resources->lock);
}

static struct team_resources **bucket_of(struct resources *resources, const char *team)
{
    enum { BUCKETS = sizeof resources->buckets / sizeof *resources->buckets };
    return &resources->buckets[hash_text(HASH_START, team) % BUCKETS];
}

static struct team_resources *hold_locked(struct resources *resources, const char *team)
{
    struct team_resources **bucket = bucket_of(resources, team);
    struct team_resources *found = *bucket;
    while (found != NULL && strcmp(found->team, team) != 0)
        found = found->in_bucket;
    if (found == NULL) {
        found = calloc(1, sizeof *found);
        if (found == NULL)
            return NULL;
        for (size_t i = 0; i < RESOURCE_COUNT; i++)
            found->shares[i].ledger = &resources->ledgers[i];
        (void)snprintf(found->team, sizeof found->team, "%s", team);
        found->in_bucket = *bucket;
        *bucket = found;
    }
    found->holders++;
    return found;
}

/* Which share it is follows from the ledger. */
static void release_locked(struct resources *resources, struct ledger_share *share)
{
    if (share == NULL)
        return;
    struct ledger_share *first = share - (share->ledger - resources->ledgers);
    struct team_resources *team = (struct team_resources *)first;
    if (--team->holders > 0)
        return;
    struct team_resources **at = bucket_of(resources, team->team);
    while (*at != team)
        at = &(*at)->in_bucket;
    *at = team->in_bucket;
    free(team);
}

bool resources_open(struct resources *resources,
                    enum resource resource,
                    const char *team,
                    struct ledger_account *account)
{
    (void)pthread_mutex_lock(&resources->lock);
    struct ledger_share *before = account->share;
    struct team_resources *holder = hold_locked(resources, team);
    if (holder != NULL) {
        ledger_move(account, &holder->shares[resource]);
        release_locked(resources, before);
    }
    (void)pthread_mutex_unlock(&resources->lock);
    return holder != NULL;
}

void resources_close(struct resources *resources, struct ledger_account *account)
{
    if (account->share == NULL)
        return;
    ledger_give(account, account->used);
    (void)pthread_mutex_lock(&resources->lock);
    release_locked(resources, account->share);
    (void)pthread_mutex_unlock(&resources->lock);
    account->share = NULL;
}

enum pv_code
resources_refuse(const struct ledger_account *account, enum resource resource, struct pv_error *err)
{
    bool shared = ledger_is_shared(account);
    size_t max = account->share->ledger->max;
    metric_add(&refused, 1, METRIC_LABELS(rows[resource].name, shared ? "share" : "full"));
    pv_error_set_limit(err, rows[resource].name, rows[resource].unit, (int64_t)max,
                       rows[resource].retry_after_s);
    if (shared)
        return pv_fail(err, PV_E_QUOTA,
                       "the team holds its share of the %s, and others hold some, too (%s = %zu)",
                       rows[resource].what, rows[resource].setting, max);
    return pv_fail(err, PV_E_UNAVAILABLE, "the %s is used up for the moment (%s = %zu)",
                   rows[resource].what, rows[resource].setting, max);
}

enum pv_code resources_take(struct resources *resources,
                            enum resource resource,
                            const char *team,
                            struct ledger_account *account,
                            size_t n,
                            struct pv_error *err)
{
    if (!resources_open(resources, resource, team, account))
        return pv_no_memory(err);
    if (ledger_take(account, n))
        return PV_OK;
    enum pv_code code = resources_refuse(account, resource, err);
    resources_close(resources, account);
    return code;
}

void resources_collect(const struct resources *resources)
{
    for (size_t i = 0; i < RESOURCE_COUNT; i++) {
        const struct ledger *ledger = &resources->ledgers[i];
        metric_set(&held, (double)atomic_load(&ledger->used), METRIC_LABELS(rows[i].name));
        metric_set(&most, (double)ledger->max, METRIC_LABELS(rows[i].name));
    }
}
