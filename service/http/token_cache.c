#include "http/token_cache.h"

#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { SHARDS = 64, SLOTS = 32, HASH_BYTES = 32 };

struct slot {
    unsigned char hash[HASH_BYTES];
    uint64_t expires_ns; /* 0: empty */
    struct principal who;
};

struct shard {
    pthread_mutex_t lock;
    struct slot slots[SLOTS];
};

struct token_cache {
    uint64_t ttl_ns;
    unsigned char key[crypto_generichash_KEYBYTES];
    struct shard shards[SHARDS];
};

struct token_cache *token_cache_create(uint64_t ttl_ns)
{
    struct token_cache *cache = calloc(1, sizeof *cache);
    if (cache == NULL)
        return NULL;
    cache->ttl_ns = ttl_ns;
    randombytes_buf(cache->key, sizeof cache->key);
    for (size_t i = 0; i < SHARDS; i++)
        (void)pthread_mutex_init(&cache->shards[i].lock, NULL);
    return cache;
}

void token_cache_destroy(struct token_cache *cache)
{
    if (cache == NULL)
        return;
    for (size_t i = 0; i < SHARDS; i++)
        (void)pthread_mutex_destroy(&cache->shards[i].lock);
    sodium_memzero(cache->key, sizeof cache->key);
    free(cache);
}

/* The keyed hash picks the place too: nobody outside can aim at one. */
static struct slot *
find_slot(struct token_cache *cache, const char *token, unsigned char hash[], struct shard **shard)
{
    (void)crypto_generichash(hash, HASH_BYTES, (const unsigned char *)token, strlen(token),
                             cache->key, sizeof cache->key);
    *shard = &cache->shards[hash[0] % SHARDS];
    return &(*shard)->slots[hash[1] % SLOTS];
}

bool token_cache_get(struct token_cache *cache,
                     const char *token,
                     uint64_t now_ns,
                     struct principal *who)
{
    if (cache->ttl_ns == 0)
        return false;
    unsigned char hash[HASH_BYTES];
    struct shard *shard;
    struct slot *slot = find_slot(cache, token, hash, &shard);
    (void)pthread_mutex_lock(&shard->lock);
    bool hit = now_ns < slot->expires_ns && sodium_memcmp(hash, slot->hash, HASH_BYTES) == 0;
    if (hit)
        *who = slot->who;
    (void)pthread_mutex_unlock(&shard->lock);
    return hit;
}

void token_cache_put(struct token_cache *cache,
                     const char *token,
                     uint64_t asked_ns,
                     const struct principal *who)
{
    if (cache->ttl_ns == 0)
        return;
    unsigned char hash[HASH_BYTES];
    struct shard *shard;
    struct slot *slot = find_slot(cache, token, hash, &shard);
    (void)pthread_mutex_lock(&shard->lock);
    memcpy(slot->hash, hash, HASH_BYTES);
    slot->expires_ns = asked_ns + cache->ttl_ns;
    if (who->expires_ns != 0 && who->expires_ns < slot->expires_ns)
        slot->expires_ns = who->expires_ns;
    slot->who = *who;
    (void)pthread_mutex_unlock(&shard->lock);
}
