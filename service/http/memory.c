#include "http/memory.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/registry.h"

enum { TRIM_BYTES = 64 * 1024 * 1024 };

METRIC_GAUGE(used_bytes,
             "provisor_request_memory_bytes",
             "Memory that requests hold together: bodies, work, replies until they are read.",
             "");
METRIC_GAUGE(max_bytes,
             "provisor_request_memory_max_bytes",
             "Memory that requests may hold together.",
             "");

struct team_memory {
    struct memory_share share; /* first: accounts know the share only */
    struct team_memory *in_bucket;
    size_t holders; /* under the lock */
    char team[37];
};

void http_memory_init(struct http_memory *memory, size_t max)
{
    *memory = (struct http_memory){.ledger = {.max = max}};
    (void)pthread_mutex_init(&memory->lock, NULL);
}

void http_memory_fini(struct http_memory *memory)
{
    (void)pthread_mutex_destroy(&memory->lock);
}

static struct team_memory **bucket_of(struct http_memory *memory, const char *team)
{
    size_t hash = 5381;
    for (const char *c = team; *c != '\0'; c++)
        hash = hash * 33 + (unsigned char)*c;
    return &memory->buckets[hash % (sizeof memory->buckets / sizeof *memory->buckets)];
}

static struct team_memory *hold_locked(struct http_memory *memory, const char *team)
{
    struct team_memory **bucket = bucket_of(memory, team);
    struct team_memory *found = *bucket;
    while (found != NULL && strcmp(found->team, team) != 0)
        found = found->in_bucket;
    if (found == NULL) {
        found = calloc(1, sizeof *found);
        if (found == NULL)
            return NULL;
        found->share.ledger = &memory->ledger;
        (void)snprintf(found->team, sizeof found->team, "%s", team);
        found->in_bucket = *bucket;
        *bucket = found;
    }
    found->holders++;
    return found;
}

static void release_locked(struct http_memory *memory, struct team_memory *held)
{
    if (held == NULL || --held->holders > 0)
        return;
    struct team_memory **at = bucket_of(memory, held->team);
    while (*at != held)
        at = &(*at)->in_bucket;
    *at = held->in_bucket;
    free(held);
}

bool http_memory_open(struct http_memory *memory, struct memory_account *account, const char *team)
{
    (void)pthread_mutex_lock(&memory->lock);
    struct team_memory *before = (struct team_memory *)account->share;
    struct team_memory *held = hold_locked(memory, team);
    if (held != NULL) {
        memory_move(account, &held->share);
        release_locked(memory, before);
    }
    (void)pthread_mutex_unlock(&memory->lock);
    return held != NULL;
}

void http_memory_close(struct http_memory *memory, struct memory_account *account)
{
    memory_give(account, account->used);
    (void)pthread_mutex_lock(&memory->lock);
    release_locked(memory, (struct team_memory *)account->share);
    (void)pthread_mutex_unlock(&memory->lock);
    account->share = NULL;
}

void http_memory_trim(struct http_memory *memory)
{
    size_t used = atomic_load(&memory->ledger.used);
    if (used > memory->highest)
        memory->highest = used;
    if (memory->highest - used < TRIM_BYTES)
        return;
    memory->highest = used;
    (void)malloc_trim(0);
}

void http_memory_collect(const struct http_memory *memory)
{
    metric_set(&used_bytes, (double)atomic_load(&memory->ledger.used), NULL);
    metric_set(&max_bytes, (double)memory->ledger.max, NULL);
}
