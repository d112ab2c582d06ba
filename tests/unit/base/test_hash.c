#include "base/hash.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* Vectors of 64-bit FNV-1a from the authors' test suite. */
Test(hash, published_values)
{
    cr_assert_eq(hash_bytes(HASH_START, "", 0), UINT64_C(0xcbf29ce484222325));
    cr_assert_eq(hash_bytes(HASH_START, "a", 1), UINT64_C(0xaf63dc4c8601ec8c));
    cr_assert_eq(hash_bytes(HASH_START, "foobar", 6), UINT64_C(0x85944171f73967e8));
}

Test(hash, a_text_is_its_bytes_and_its_end)
{
    cr_assert_eq(hash_text(HASH_START, "team"), hash_bytes(HASH_START, "team", sizeof "team"));
    cr_assert_eq(hash_text(HASH_START, ""), hash_bytes(HASH_START, "", 1));
    cr_assert_neq(hash_text(hash_text(HASH_START, "ab"), "c"),
                  hash_text(hash_text(HASH_START, "a"), "bc"));
}

/* Ids that differ little, as those of teams made one after the other. */
Test(hash, similar_ids_are_spread_over_buckets)
{
    enum { IDS = 4096, BUCKETS = 256 };
    size_t n[BUCKETS] = {0};
    for (unsigned i = 0; i < IDS; i++) {
        char id[37];
        (void)snprintf(id, sizeof id, "018f3b2a-0000-7000-8000-%012x", i);
        n[hash_text(HASH_START, id) % BUCKETS]++;
    }
    for (size_t i = 0; i < BUCKETS; i++)
        cr_assert(n[i] > 0 && n[i] < 4 * IDS / BUCKETS, "%zu in bucket %zu", n[i], i);
}

Test(hash, a_number_is_its_eight_bytes_the_least_first)
{
    const unsigned char bytes[] = {0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11};
    cr_assert_eq(hash_number(HASH_START, UINT64_C(0x1122334455667788)),
                 hash_bytes(HASH_START, bytes, sizeof bytes));
}
