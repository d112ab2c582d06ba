#include "base/counter_map.h"

#include <criterion/criterion.h>

/* Every key is counted by itself while the table grows many times over, also keys that meet at one
 * place of it. */
Test(tally, counts_each_key)
{
    enum { KEYS = 5000, TIMES = 3 };
    struct counter_map tally = {NULL, 0, 0};
    for (uint64_t round = 0; round < TIMES; round++) {
        for (uint64_t k = 0; k < KEYS; k++) {
            uint64_t key = k % 2 == 0 ? k << 32 : k * UINT64_C(0x9e3779b97f4a7c15);
            uint64_t before = 99;
            cr_assert_eq(counter_map_add(&tally, key, &before), PV_OK);
            cr_assert_eq(before, round);
        }
    }
    cr_assert_eq(tally.n, KEYS);
    counter_map_fini(&tally);
    cr_assert_eq(tally.capacity, 0);
}
