#include "core/scheduling/network/key_table.h"

#include <criterion/criterion.h>

#include "core/sim/variates.h"

enum { NUMBERS = 40 };

/* Entries come and go by chance; what is there is known from a plain table. */
Test(key_table, finds_what_was_added_and_nothing_else)
{
    static const uint64_t purpose[] = {1};
    static uint32_t plain[NUMBERS][NUMBERS];
    struct rng rng = variate_stream(1, purpose, 1);
    struct arena arena;
    struct key_table table;
    size_t n = 0;
    arena_init(&arena, 0);
    cr_assert(key_table_init(&table, &arena));
    for (size_t change = 1; change < 20000; change++) {
        size_t a = (size_t)variate_uniform(&rng, 0, NUMBERS);
        size_t b = (size_t)variate_uniform(&rng, 0, NUMBERS);
        uint32_t found = key_table_find(&table, key_table_key(a, b));
        cr_assert_eq(found, plain[a][b] == 0 ? KEY_TABLE_NONE : plain[a][b]);
        if (plain[a][b] != 0) {
            key_table_remove(&table, key_table_key(a, b));
            plain[a][b] = 0;
            n--;
        } else {
            cr_assert(key_table_add(&table, key_table_key(a, b), (uint32_t)change));
            plain[a][b] = (uint32_t)change;
            n++;
        }
        cr_assert_eq(table.n, n);
    }
    for (size_t a = 0; a < NUMBERS; a++)
        for (size_t b = 0; b < NUMBERS; b++)
            cr_expect_eq(key_table_find(&table, key_table_key(a, b)),
                         plain[a][b] == 0 ? KEY_TABLE_NONE : plain[a][b]);
    arena_fini(&arena);
}
