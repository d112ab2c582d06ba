#ifndef HTTP_TOKEN_CACHE_H
#define HTTP_TOKEN_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/principal.h"

/*
 * What is known of bearer tokens, so that most requests ask nobody. Only keyed hashes of tokens are
 * kept, by a key of this process. A revoked token dies within the time to live, which counts from the
 * moment the question was asked; one that expires dies when it does.
 *
 * After half of its time one caller at a time is to renew it (http/token_lookup.h): a token that is
 * used lapses only where the database does not answer, so no request waits for the renewal.
 *
 * A token that was false is kept for a while, too, in a place of its own: false tokens push out no
 * valid one, and the same one again and again costs one question. Nobody can know a token before it is
 * made, so one that has just been made was never refused.
 *
 * Fixed size: a newer token takes the place of an older one. Safe from any thread.
 */
struct token_cache;

enum token_verdict {
    TOKEN_UNKNOWN,
    TOKEN_VALID,
    TOKEN_DUE,    /* valid; this caller is to renew it */
    TOKEN_LAPSED, /* it was valid when it was last asked for, which is too long ago */
    TOKEN_FALSE
};

/* ttl_ns 0: no token is TOKEN_VALID ever; false_ttl_ns 0: none is TOKEN_FALSE. NULL when memory is
 * exhausted. */
struct token_cache *token_cache_create(uint64_t ttl_ns, uint64_t false_ttl_ns);
void token_cache_destroy(struct token_cache *cache);

/* who is written where the token is or was valid; why, unless NULL, where it is false: the reason that
 * was given for it. */
enum { TOKEN_REASON = 48 };
enum token_verdict token_cache_get(struct token_cache *cache,
                                   const char *token,
                                   uint64_t now_ns,
                                   struct principal *who,
                                   char why[TOKEN_REASON]);
void token_cache_put(struct token_cache *cache,
                     const char *token,
                     uint64_t asked_ns,
                     const struct principal *who);
void token_cache_put_false(struct token_cache *cache,
                           const char *token,
                           uint64_t asked_ns,
                           const char *why);

#endif
