#include "api/advice/prediction_cache.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "metrics/registry.h"

METRIC_GAUGE(entries, "provisor_prediction_cache_entries", "Predicted curves in memory.", "");
METRIC_COUNTER(lookups,
               "provisor_prediction_cache_lookups_total",
               "Lookups of predicted curves in memory: hit, stale (the version of the history was "
               "asked for again) or miss.",
               "outcome");

/* Names are at most 255 characters, up to 4 bytes each (docs/design.md, "Words and units"). */
enum { NAME_BYTES = 255 * 4 + 1, BUCKETS_PER_ENTRY = 2 };

struct shared_item {
    struct prediction_item item; /* first: a holder's pointer is one to this */
    atomic_size_t holders;
};

struct slot {
    struct slot *next_in_bucket;
    struct slot *newer; /* ring of use: cache->newest is used last */
    struct slot *older;
    struct shared_item *shared;
    uint64_t confirmed_ns;
    uint64_t renewed_ns; /* when somebody was last asked to confirm it */
    uint64_t hash;
    char team_id[37];
    char application[NAME_BYTES];
    int64_t numbers[4];
    unsigned char labels[32];
};

struct prediction_cache {
    pthread_mutex_t lock;
    struct slot **buckets;
    size_t n_buckets;
    struct slot *newest;
    struct slot *oldest;
    size_t entries;
    size_t entries_max;
    uint64_t max_age_ns;
    uint64_t epoch;
    struct prediction_cache_statistics counts;
};

/* --- items --- */

struct prediction_item *prediction_item_create(size_t memory_max)
{
    struct shared_item *shared = calloc(1, sizeof *shared);
    if (shared == NULL)
        return NULL;
    arena_init(&shared->item.arena, memory_max);
    atomic_init(&shared->holders, 1);
    return &shared->item;
}

/* Items are handed out as const; counting holders is the one thing that changes. */
static struct shared_item *shared_of(const struct prediction_item *item)
{
    union {
        const struct prediction_item *item;
        struct shared_item *shared;
    } pointer = {.item = item};
    return pointer.shared;
}

static void prediction_cache_hold(struct shared_item *shared)
{
    (void)atomic_fetch_add_explicit(&shared->holders, 1, memory_order_relaxed);
}

void prediction_item_release(const struct prediction_item *item)
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

static void key_numbers(const struct prediction_key *key, int64_t numbers[4])
{
    /* Bytes are compared: 0 for one not asked, of which there are many NANs. */
    double size = isnan(key->problem_size) ? 0 : key->problem_size;
    memcpy(&numbers[0], &size, sizeof size);
    numbers[1] = key->cores_per_executor;
    numbers[2] = key->min_executors;
    numbers[3] = key->max_executors;
}

static uint64_t hash_key(const struct prediction_key *key)
{
    int64_t numbers[4];
    key_numbers(key, numbers);
    uint64_t hash = hash_text(hash_text(HASH_START, key->team_id), key->application);
    hash = hash_bytes(hash, key->labels, sizeof key->labels);
    return hash_bytes(hash, numbers, sizeof numbers);
}

static bool is_of(const struct slot *slot, const char *team_id, const char *application)
{
    return strcmp(slot->team_id, team_id) == 0 && strcmp(slot->application, application) == 0;
}

static struct slot *
find_slot(const struct prediction_cache *cache, const struct prediction_key *key, uint64_t hash)
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

static void unlink_use(struct prediction_cache *cache, struct slot *slot)
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

static void link_newest(struct prediction_cache *cache, struct slot *slot)
{
    slot->newer = NULL;
    slot->older = cache->newest;
    if (cache->newest != NULL)
        cache->newest->newer = slot;
    cache->newest = slot;
    if (cache->oldest == NULL)
        cache->oldest = slot;
}

static void drop_slot(struct prediction_cache *cache, struct slot *slot)
{
    struct slot **at = &cache->buckets[slot->hash % cache->n_buckets];
    while (*at != slot)
        at = &(*at)->next_in_bucket;
    *at = slot->next_in_bucket;
    unlink_use(cache, slot);
    cache->entries--;
    prediction_item_release(&slot->shared->item);
    free(slot);
}

static struct slot *make_slot(const struct prediction_key *key, uint64_t hash)
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

struct prediction_cache *prediction_cache_create(size_t entries_max, int64_t max_age_ms)
{
    struct prediction_cache *cache = calloc(1, sizeof *cache);
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

void prediction_cache_destroy(struct prediction_cache *cache)
{
    if (cache == NULL)
        return;
    while (cache->oldest != NULL)
        drop_slot(cache, cache->oldest);
    pthread_mutex_destroy(&cache->lock);
    free(cache->buckets);
    free(cache);
}

/* Of those who find an item in the second half of its age one at a time is to confirm it. */
static enum prediction_state
state_of(const struct prediction_cache *cache, struct slot *slot, uint64_t now_ns)
{
    enum { TRIES = 8 };
    if (now_ns < slot->confirmed_ns)
        return PREDICTION_FRESH;
    const uint64_t age_ns = now_ns - slot->confirmed_ns;
    if (age_ns >= cache->max_age_ns)
        return PREDICTION_STALE;
    if (age_ns < cache->max_age_ns / 2 || now_ns < slot->renewed_ns + cache->max_age_ns / 2 / TRIES)
        return PREDICTION_FRESH;
    slot->renewed_ns = now_ns;
    return PREDICTION_STALE;
}

enum prediction_state prediction_cache_find(struct prediction_cache *cache,
                                            const struct prediction_key *key,
                                            uint64_t now_ns,
                                            const struct prediction_item **item)
{
    enum prediction_state state = PREDICTION_ABSENT;
    uint64_t hash = hash_key(key);
    pthread_mutex_lock(&cache->lock);
    struct slot *slot = find_slot(cache, key, hash);
    if (slot != NULL) {
        unlink_use(cache, slot);
        link_newest(cache, slot);
        prediction_cache_hold(slot->shared);
        *item = &slot->shared->item;
        state = state_of(cache, slot, now_ns);
    }
    cache->counts.misses += state == PREDICTION_ABSENT ? 1 : 0;
    cache->counts.hits += state == PREDICTION_FRESH ? 1 : 0;
    cache->counts.stale += state == PREDICTION_STALE ? 1 : 0;
    pthread_mutex_unlock(&cache->lock);
    return state;
}

void prediction_cache_confirm(struct prediction_cache *cache,
                              const struct prediction_item *item,
                              uint64_t read_ns)
{
    pthread_mutex_lock(&cache->lock);
    for (struct slot *slot = cache->newest; slot != NULL; slot = slot->older)
        if (&slot->shared->item == item && slot->confirmed_ns < read_ns)
            slot->confirmed_ns = read_ns;
    pthread_mutex_unlock(&cache->lock);
}

uint64_t prediction_cache_epoch(struct prediction_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    uint64_t epoch = cache->epoch;
    pthread_mutex_unlock(&cache->lock);
    return epoch;
}

void prediction_cache_publish(struct prediction_cache *cache,
                              const struct prediction_key *key,
                              struct prediction_item *item,
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
    prediction_cache_hold(slot->shared);
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

void prediction_cache_invalidate(struct prediction_cache *cache,
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

struct prediction_cache_statistics prediction_cache_statistics(struct prediction_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    struct prediction_cache_statistics statistics = cache->counts;
    statistics.entries = cache->entries;
    pthread_mutex_unlock(&cache->lock);
    return statistics;
}

void prediction_cache_collect_metrics(struct prediction_cache *cache)
{
    if (cache == NULL)
        return;
    struct prediction_cache_statistics now = prediction_cache_statistics(cache);
    metric_set(&entries, (double)now.entries, NULL);
    metric_set(&lookups, (double)now.hits, METRIC_LABELS("hit"));
    metric_set(&lookups, (double)now.stale, METRIC_LABELS("stale"));
    metric_set(&lookups, (double)now.misses, METRIC_LABELS("miss"));
}
