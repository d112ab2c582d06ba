#include "http/token_cache.h"

#include <criterion/criterion.h>
#include <sodium.h>
#include <stdio.h>

/* A right that was taken away must be gone when the time is over, counted from the question. */
Test(token_cache, forgets_in_time, .timeout = 5)
{
    cr_assert_geq(sodium_init(), 0);
    struct token_cache *cache = token_cache_create(1000, 1000);
    const struct principal put = {.team_id = "t", .scopes = SCOPE_READ};
    struct principal got = {0};
    cr_assert_eq(token_cache_get(cache, "prv_a", 10, &got, NULL), TOKEN_UNKNOWN);
    token_cache_put(cache, "prv_a", 100, &put);
    cr_assert_eq(token_cache_get(cache, "prv_a", 599, &got, NULL), TOKEN_VALID);
    cr_assert_str_eq(got.team_id, "t");
    cr_assert_eq(got.scopes, SCOPE_READ);
    cr_assert_eq(token_cache_get(cache, "prv_b", 200, &got, NULL), TOKEN_UNKNOWN);
    cr_assert_eq(token_cache_get(cache, "prv_a", 1100, &got, NULL), TOKEN_LAPSED);
    token_cache_destroy(cache);
}

/* One caller at a time asks again, and the others go on meanwhile. */
Test(token_cache, is_renewed_by_one_before_it_lapses, .timeout = 5)
{
    cr_assert_geq(sodium_init(), 0);
    struct token_cache *cache = token_cache_create(1600, 1000);
    const struct principal put = {.team_id = "t", .scopes = SCOPE_READ};
    struct principal got = {0};
    token_cache_put(cache, "prv_a", 100, &put);
    cr_assert_eq(token_cache_get(cache, "prv_a", 899, &got, NULL), TOKEN_VALID);
    cr_assert_eq(token_cache_get(cache, "prv_a", 900, &got, NULL), TOKEN_DUE);
    cr_assert_str_eq(got.team_id, "t");
    cr_assert_eq(token_cache_get(cache, "prv_a", 900, &got, NULL), TOKEN_VALID);
    cr_assert_eq(token_cache_get(cache, "prv_a", 999, &got, NULL), TOKEN_VALID);
    cr_assert_eq(token_cache_get(cache, "prv_a", 1000, &got, NULL), TOKEN_DUE, "nobody answered");
    token_cache_put(cache, "prv_a", 1000, &put);
    cr_assert_eq(token_cache_get(cache, "prv_a", 1799, &got, NULL), TOKEN_VALID);
    cr_assert_eq(token_cache_get(cache, "prv_a", 2600, &got, NULL), TOKEN_LAPSED);
    token_cache_destroy(cache);
}

/* Not a time to live later, and by the clock that nobody sets. */
Test(token_cache, forgets_a_token_when_it_expires, .timeout = 5)
{
    cr_assert_geq(sodium_init(), 0);
    struct token_cache *cache = token_cache_create(1000, 1000);
    const struct principal soon = {.team_id = "t", .scopes = SCOPE_READ, .expires_ns = 300};
    const struct principal late = {.team_id = "t", .scopes = SCOPE_READ, .expires_ns = 5000};
    struct principal got = {0};
    token_cache_put(cache, "prv_a", 100, &soon);
    token_cache_put(cache, "prv_b", 100, &late);
    cr_assert_eq(token_cache_get(cache, "prv_a", 199, &got, NULL), TOKEN_VALID);
    cr_assert_eq(token_cache_get(cache, "prv_a", 299, &got, NULL), TOKEN_DUE);
    cr_assert_eq(token_cache_get(cache, "prv_a", 300, &got, NULL), TOKEN_LAPSED);
    cr_assert_eq(token_cache_get(cache, "prv_b", 599, &got, NULL), TOKEN_VALID);
    cr_assert_eq(token_cache_get(cache, "prv_b", 1100, &got, NULL), TOKEN_LAPSED);
    token_cache_destroy(cache);
}

Test(token_cache, can_be_switched_off, .timeout = 5)
{
    cr_assert_geq(sodium_init(), 0);
    struct token_cache *cache = token_cache_create(0, 0);
    struct principal who = {.scopes = SCOPE_READ};
    token_cache_put(cache, "prv_a", 100, &who);
    cr_assert_eq(token_cache_get(cache, "prv_a", 100, &who, NULL), TOKEN_LAPSED);
    token_cache_put_false(cache, "prv_b", 100, "no more");
    cr_assert_eq(token_cache_get(cache, "prv_b", 100, &who, NULL), TOKEN_UNKNOWN);
    token_cache_destroy(cache);
}

/* A false token is false for its time; one that was valid before is neither valid nor lapsed. */
Test(token_cache, remembers_what_is_false, .timeout = 5)
{
    cr_assert_geq(sodium_init(), 0);
    struct token_cache *cache = token_cache_create(1000, 500);
    struct principal who = {.team_id = "t"};
    token_cache_put(cache, "prv_a", 100, &who);
    token_cache_put_false(cache, "prv_a", 200, "no more");
    cr_assert_eq(token_cache_get(cache, "prv_a", 699, &who, NULL), TOKEN_FALSE);
    cr_assert_eq(token_cache_get(cache, "prv_a", 700, &who, NULL), TOKEN_UNKNOWN);
    token_cache_destroy(cache);
}

/* However many false tokens come, they push out no valid one. */
Test(token_cache, false_tokens_push_out_no_valid_one, .timeout = 5)
{
    cr_assert_geq(sodium_init(), 0);
    struct token_cache *cache = token_cache_create(1000, 500);
    struct principal who = {.team_id = "t"};
    token_cache_put(cache, "prv_valid", 100, &who);
    for (int i = 0; i < 100000; i++) {
        char token[32];
        (void)snprintf(token, sizeof token, "prv_%d", i);
        token_cache_put_false(cache, token, 100, "no more");
    }
    cr_assert_eq(token_cache_get(cache, "prv_valid", 200, &who, NULL), TOKEN_VALID);
    token_cache_destroy(cache);
}

/* Who asks again gets the same answer. */
Test(token_cache, keeps_the_reason, .timeout = 5)
{
    cr_assert_geq(sodium_init(), 0);
    struct token_cache *cache = token_cache_create(1000, 1000);
    struct principal got = {0};
    char why[TOKEN_REASON] = "";
    token_cache_put_false(cache, "prv_a", 100, "the token has expired");
    cr_assert_eq(token_cache_get(cache, "prv_a", 200, &got, why), TOKEN_FALSE);
    cr_assert_str_eq(why, "the token has expired");
    token_cache_destroy(cache);
}
