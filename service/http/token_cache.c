#include "http/token_cache.h"

#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARDS = 64, SLOTS = 32, FALSE_SLOTS = 128, HASH_BYTES = 32 };

struct slot {
    unsigned char hash[HASH_BYTES];
    uint64_t expires_ns; /* 0: empty */
    uint64_t due_ns;     /* the next caller from then on is to ask again */
    struct principal who;
};

struct false_slot {
    unsigned char hash[HASH_BYTES];
    uint64_t expires_ns;
    char why[TOKEN_REASON];
};

struct shard {
    pthread_mutex_t lock;
    struct slot slots[SLOTS];
    struct false_slot false_slots[FALSE_SLOTS];
};

struct token_cache {
    uint64_t ttl_ns;
    uint64_t false_ttl_ns;
    unsigned char key[crypto_generichash_KEYBYTES];
    struct shard shards[SHARDS];
};

struct token_cache *token_cache_create(uint64_t ttl_ns, uint64_t false_ttl_ns)
{
    struct token_cache *cache = calloc(1, sizeof *cache);
    if (cache == NULL)
        return NULL;
    cache->ttl_ns = ttl_ns;
    cache->false_ttl_ns = false_ttl_ns;
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
static struct shard *find_shard(struct token_cache *cache, const char *token, unsigned char hash[])
{
    (void)crypto_generichash(hash, HASH_BYTES, (const unsigned char *)token, strlen(token),
                             cache->key, sizeof cache->key);
    return &cache->shards[hash[0] % SHARDS];
}

static struct slot *slot_of(struct shard *shard, const unsigned char hash[])
{
    return &shard->slots[hash[1] % SLOTS];
}

static struct false_slot *false_slot_of(struct shard *shard, const unsigned char hash[])
{
    return &shard->false_slots[hash[1] % FALSE_SLOTS];
}

static enum token_verdict verdict_of(const struct token_cache *cache,
                                     struct shard *shard,
                                     const unsigned char hash[],
                                     uint64_t now_ns,
                                     struct principal *who,
                                     char *why)
{
    enum { TRIES = 8 }; /* of those who renew */
    struct slot *slot = slot_of(shard, hash);
    const struct false_slot *refused = false_slot_of(shard, hash);
    if (now_ns < refused->expires_ns && sodium_memcmp(hash, refused->hash, HASH_BYTES) == 0) {
        if (why != NULL)
            memcpy(why, refused->why, TOKEN_REASON);
        return TOKEN_FALSE;
    }
    if (slot->expires_ns == 0 || sodium_memcmp(hash, slot->hash, HASH_BYTES) != 0)
        return TOKEN_UNKNOWN;
    *who = slot->who;
    if (now_ns >= slot->expires_ns)
        return TOKEN_LAPSED;
    if (now_ns < slot->due_ns)
        return TOKEN_VALID;
    slot->due_ns = now_ns + cache->ttl_ns / 2 / TRIES;
    return TOKEN_DUE;
}

enum token_verdict token_cache_get(struct token_cache *cache,
                                   const char *token,
                                   uint64_t now_ns,
                                   struct principal *who,
                                   char why[TOKEN_REASON])
{
    unsigned char hash[HASH_BYTES];
    struct shard *shard = find_shard(cache, token, hash);
    (void)pthread_mutex_lock(&shard->lock);
    enum token_verdict verdict = verdict_of(cache, shard, hash, now_ns, who, why);
    (void)pthread_mutex_unlock(&shard->lock);
    return verdict;
}

void token_cache_put(struct token_cache *cache,
                     const char *token,
                     uint64_t asked_ns,
                     const struct principal *who)
{
    unsigned char hash[HASH_BYTES];
    struct shard *shard = find_shard(cache, token, hash);
    struct slot *slot = slot_of(shard, hash);
    (void)pthread_mutex_lock(&shard->lock);
    memcpy(slot->hash, hash, HASH_BYTES);
    slot->expires_ns = asked_ns + cache->ttl_ns;
    if (who->expires_ns != 0 && who->expires_ns < slot->expires_ns)
        slot->expires_ns = who->expires_ns;
    slot->due_ns = asked_ns + (slot->expires_ns - asked_ns) / 2;
    slot->who = *who;
    (void)pthread_mutex_unlock(&shard->lock);
}

void token_cache_put_false(struct token_cache *cache,
                           const char *token,
                           uint64_t asked_ns,
                           const char *why)
{
    unsigned char hash[HASH_BYTES];
    struct shard *shard = find_shard(cache, token, hash);
    struct slot *slot = slot_of(shard, hash);
    struct false_slot *refused = false_slot_of(shard, hash);
    (void)pthread_mutex_lock(&shard->lock);
    if (sodium_memcmp(hash, slot->hash, HASH_BYTES) == 0)
        slot->expires_ns = 0;
    memcpy(refused->hash, hash, HASH_BYTES);
    refused->expires_ns = asked_ns + cache->false_ttl_ns;
    (void)snprintf(refused->why, sizeof refused->why, "%s", why);
    (void)pthread_mutex_unlock(&shard->lock);
}
