#ifndef HTTP_TOKEN_CACHE_H
#define HTTP_TOKEN_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/principal.h"

/*
 * Who holds a bearer token, remembered for a short while so that most requests ask nobody. Only
 * keyed hashes of tokens are kept. A revoked token dies within the time to live, which counts from
 * the moment the question was asked; one that expires dies when it does. Fixed size: a newer token takes the place of an older one.
 * Safe from any thread.
 */
struct token_cache;

/* ttl_ns 0: nothing is ever remembered. NULL when memory is exhausted. */
struct token_cache *token_cache_create(uint64_t ttl_ns);
void token_cache_destroy(struct token_cache *cache);

bool token_cache_get(struct token_cache *cache,
                     const char *token,
                     uint64_t now_ns,
                     struct principal *who);
void token_cache_put(struct token_cache *cache,
                     const char *token,
                     uint64_t asked_ns,
                     const struct principal *who);

#endif
