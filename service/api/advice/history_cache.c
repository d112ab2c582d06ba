#include "api/advice/history_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/registry.h"

METRIC_GAUGE(entries,
             "provisor_history_cache_entries",
             "Applications whose history is in memory.",
             "");
METRIC_COUNTER(
    lookups,
    "provisor_history_cache_lookups_total",
    "Lookups of a history in memory: hit, stale (its version was asked for again) or miss.",
    "outcome");

/* Names are at most 255 characters, up to 4 bytes each (docs/design.md, "Words and units"). */
enum { NAME_BYTES = 255 * 4 + 1, BUCKETS_PER_ENTRY = 2 };

struct shared_item {
    struct history_item item; /* first: a holder's pointer is one to this */
    atomic_size_t holders;
};

struct slot {
    struct slot *next_in_bucket;
    struct slot *newer; /* ring of use: cache->newest is used last */
    struct slot *older;
    struct shared_item *shared;
    uint64_t confirmed_ns;
    uint64_t hash;
    char team_id[37];
    char application[NAME_BYTES];
    int64_t numbers[4];
    unsigned char labels[32];
};

struct history_cache {
    pthread_mutex_t lock;
    struct slot **buckets;
    size_t n_buckets;
    struct slot *newest;
    struct slot *oldest;
    size_t entries;
    size_t entries_max;
    uint64_t max_age_ns;
    uint64_t epoch;
    struct history_cache_statistics counts;
};

/* --- items --- */

struct history_item *history_item_create(size_t memory_max)
{
    struct shared_item *shared = calloc(1, sizeof *shared);
    if (shared == NULL)
        return NULL;
    arena_init(&shared->item.arena, memory_max);
    atomic_init(&shared->holders, 1);
    return &shared->item;
}

/* Items are handed out as const; counting holders is the one thing that changes. */
static struct shared_item *shared_of(const struct history_item *item)
{
    union {
        const struct history_item *item;
        struct shared_item *shared;
    } pointer = {.item = item};
    return pointer.shared;
}

static void history_cache_hold(struct shared_item *shared)
{
    (void)atomic_fetch_add_explicit(&shared->holders, 1, memory_order_relaxed);
}

void history_item_release(const struct history_item *item)
{
    if (item == NULL)
        return;
    struct shared_item *shared = shared_of(item);
    if (atomic_fetch_sub_explicit(&shared->holders, 1, memory_order_acq_rel) == 1) {
        arena_fini(&shared->item.arena);
        free(shared);
    }
}

/* --- table --- */

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211); /* FNV-1a */
    return hash;
}

static void key_numbers(const struct history_key *key, int64_t numbers[4])
{
    numbers[0] = key->problem_size;
    numbers[1] = key->cores_per_executor;
    numbers[2] = key->min_executors;
    numbers[3] = key->max_executors;
}

static uint64_t hash_key(const struct history_key *key)
{
    int64_t numbers[4];
    key_numbers(key, numbers);
    uint64_t hash = UINT64_C(14695981039346656037);
    hash = hash_bytes(hash, key->team_id, strlen(key->team_id) + 1);
    hash = hash_bytes(hash, key->application, strlen(key->application) + 1);
    hash = hash_bytes(hash, key->labels, sizeof key->labels);
    return hash_bytes(hash, numbers, sizeof numbers);
}

static bool is_of(const struct slot *slot, const char *team_id, const char *application)
{
    return strcmp(slot->team_id, team_id) == 0 && strcmp(slot->application, application) == 0;
}

static struct slot *
find_slot(const struct history_cache *cache, const struct history_key *key, uint64_t hash)
{
    int64_t numbers[4];
    key_numbers(key, numbers);
    struct slot *slot = cache->buckets[hash % cache->n_buckets];
    while (slot != NULL &&
           !(slot->hash == hash && memcmp(slot->numbers, numbers, sizeof numbers) == 0 &&
             memcmp(slot->labels, key->labels, sizeof slot->labels) == 0 &&
             is_of(slot, key->team_id, key->application)))
        slot = slot->next_in_bucket;
    return slot;
}

static void unlink_use(struct history_cache *cache, struct slot *slot)
{
    if (slot->newer != NULL)
        slot->newer->older = slot->older;
    else
        cache->newest = slot->older;
    if (slot->older != NULL)
        slot->older->newer = slot->newer;
    else
        cache->oldest = slot->newer;
}

static void link_newest(struct history_cache *cache, struct slot *slot)
{
    slot->newer = NULL;
    slot->older = cache->newest;
    if (cache->newest != NULL)
        cache->newest->newer = slot;
    cache->newest = slot;
    if (cache->oldest == NULL)
        cache->oldest = slot;
}

static void drop_slot(struct history_cache *cache, struct slot *slot)
{
    struct slot **at = &cache->buckets[slot->hash % cache->n_buckets];
    while (*at != slot)
        at = &(*at)->next_in_bucket;
    *at = slot->next_in_bucket;
    unlink_use(cache, slot);
    cache->entries--;
    history_item_release(&slot->shared->item);
    free(slot);
}

static struct slot *make_slot(const struct history_key *key, uint64_t hash)
{
    struct slot *slot = calloc(1, sizeof *slot);
    size_t team = strlen(key->team_id), name = strlen(key->application);
    if (slot == NULL || team >= sizeof slot->team_id || name >= sizeof slot->application) {
        free(slot);
        return NULL;
    }
    memcpy(slot->team_id, key->team_id, team + 1);
    memcpy(slot->application, key->application, name + 1);
    key_numbers(key, slot->numbers);
    memcpy(slot->labels, key->labels, sizeof slot->labels);
    slot->hash = hash;
    return slot;
}

/* --- the cache --- */

struct history_cache *history_cache_create(size_t entries_max, int64_t max_age_ms)
{
    struct history_cache *cache = calloc(1, sizeof *cache);
    if (cache == NULL)
        return NULL;
    cache->entries_max = entries_max < 1 ? 1 : entries_max;
    cache->max_age_ns = (uint64_t)max_age_ms * 1000000U;
    cache->n_buckets = cache->entries_max * BUCKETS_PER_ENTRY + 1;
    cache->buckets = calloc(cache->n_buckets, sizeof(struct slot *));
    if (cache->buckets == NULL || pthread_mutex_init(&cache->lock, NULL) != 0) {
        free(cache->buckets);
        free(cache);
        return NULL;
    }
    return cache;
}

void history_cache_destroy(struct history_cache *cache)
{
    if (cache == NULL)
        return;
    while (cache->oldest != NULL)
        drop_slot(cache, cache->oldest);
    pthread_mutex_destroy(&cache->lock);
    free(cache->buckets);
    free(cache);
}

enum history_state history_cache_find(struct history_cache *cache,
                                      const struct history_key *key,
                                      uint64_t now_ns,
                                      const struct history_item **item)
{
    enum history_state state = HISTORY_ABSENT;
    uint64_t hash = hash_key(key);
    pthread_mutex_lock(&cache->lock);
    struct slot *slot = find_slot(cache, key, hash);
    if (slot != NULL) {
        unlink_use(cache, slot);
        link_newest(cache, slot);
        history_cache_hold(slot->shared);
        *item = &slot->shared->item;
        state = now_ns - slot->confirmed_ns < cache->max_age_ns || now_ns < slot->confirmed_ns
                    ? HISTORY_FRESH
                    : HISTORY_STALE;
    }
    cache->counts.misses += state == HISTORY_ABSENT ? 1 : 0;
    cache->counts.hits += state == HISTORY_FRESH ? 1 : 0;
    cache->counts.stale += state == HISTORY_STALE ? 1 : 0;
    pthread_mutex_unlock(&cache->lock);
    return state;
}

void history_cache_confirm(struct history_cache *cache,
                           const struct history_item *item,
                           uint64_t read_ns)
{
    pthread_mutex_lock(&cache->lock);
    for (struct slot *slot = cache->newest; slot != NULL; slot = slot->older)
        if (&slot->shared->item == item && slot->confirmed_ns < read_ns)
            slot->confirmed_ns = read_ns;
    pthread_mutex_unlock(&cache->lock);
}

uint64_t history_cache_epoch(struct history_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    uint64_t epoch = cache->epoch;
    pthread_mutex_unlock(&cache->lock);
    return epoch;
}

void history_cache_publish(struct history_cache *cache,
                           const struct history_key *key,
                           struct history_item *item,
                           uint64_t read_ns,
                           uint64_t epoch)
{
    uint64_t hash = hash_key(key);
    struct slot *slot = make_slot(key, hash);
    if (slot == NULL)
        return; /* not kept: the next one asks the database again */
    slot->shared = shared_of(item);
    slot->confirmed_ns = read_ns;
    pthread_mutex_lock(&cache->lock);
    if (cache->epoch != epoch) {
        pthread_mutex_unlock(&cache->lock);
        free(slot);
        return;
    }
    history_cache_hold(slot->shared);
    struct slot *old = find_slot(cache, key, hash);
    if (old != NULL)
        drop_slot(cache, old);
    else if (cache->entries == cache->entries_max)
        drop_slot(cache, cache->oldest);
    slot->next_in_bucket = cache->buckets[hash % cache->n_buckets];
    cache->buckets[hash % cache->n_buckets] = slot;
    link_newest(cache, slot);
    cache->entries++;
    pthread_mutex_unlock(&cache->lock);
}

void history_cache_invalidate(struct history_cache *cache,
                              const char *team_id,
                              const char *application)
{
    if (cache == NULL)
        return;
    pthread_mutex_lock(&cache->lock);
    cache->epoch++;
    for (struct slot *slot = cache->newest, *older; slot != NULL; slot = older) {
        older = slot->older;
        if (is_of(slot, team_id, application))
            drop_slot(cache, slot);
    }
    pthread_mutex_unlock(&cache->lock);
}

struct history_cache_statistics history_cache_statistics(struct history_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    struct history_cache_statistics statistics = cache->counts;
    statistics.entries = cache->entries;
    pthread_mutex_unlock(&cache->lock);
    return statistics;
}

void history_cache_collect_metrics(struct history_cache *cache)
{
    if (cache == NULL)
        return;
    struct history_cache_statistics now = history_cache_statistics(cache);
    metric_set(&entries, (double)now.entries, NULL);
    metric_set(&lookups, (double)now.hits, METRIC_LABELS("hit"));
    metric_set(&lookups, (double)now.stale, METRIC_LABELS("stale"));
    metric_set(&lookups, (double)now.misses, METRIC_LABELS("miss"));
}
