#include "core/sim/subset.h"

#include <criterion/criterion.h>
#include <string.h>

static struct arena arena;

Test(subset, draws_different_numbers)
{
    struct subset subset;
    struct rng rng = rng_make(1, 1);
    arena_init(&arena, 0);
    cr_assert(subset_init(&subset, 30, &arena));
    for (uint32_t k = 0; k <= 30; k++) {
        bool seen[30] = {false};
        const uint32_t *drawn = subset_draw(&subset, &rng, k);
        for (uint32_t i = 0; i < k; i++) {
            cr_assert_lt(drawn[i], 30);
            cr_expect_not(seen[drawn[i]]);
            seen[drawn[i]] = true;
        }
    }
    arena_fini(&arena);
}

/* What was drawn before has no part in it. */
Test(subset, depends_on_its_stream_alone)
{
    struct subset subset;
    uint32_t first[12];
    arena_init(&arena, 0);
    cr_assert(subset_init(&subset, 40, &arena));
    struct rng rng = rng_make(2, 0);
    memcpy(first, subset_draw(&subset, &rng, 12), sizeof first);
    for (uint32_t k = 0; k <= 40; k += 5) {
        (void)subset_draw(&subset, &rng, k);
        struct rng again = rng_make(2, 0);
        cr_expect_eq(memcmp(first, subset_draw(&subset, &again, 12), sizeof first), 0);
    }
    arena_fini(&arena);
}

/* Each of ten numbers, at each of three places, in a tenth of 20,000 draws: within 5 deviations. */
Test(subset, is_uniform)
{
    struct subset subset;
    int counts[3][10] = {{0}};
    arena_init(&arena, 0);
    cr_assert(subset_init(&subset, 10, &arena));
    for (uint64_t i = 0; i < 20000; i++) {
        struct rng rng = rng_make(i, 5);
        const uint32_t *drawn = subset_draw(&subset, &rng, 3);
        for (int k = 0; k < 3; k++)
            counts[k][drawn[k]]++;
    }
    for (int k = 0; k < 3; k++)
        for (int n = 0; n < 10; n++)
            cr_expect(counts[k][n] > 1788 && counts[k][n] < 2212, "%d", counts[k][n]);
    arena_fini(&arena);
}

/* Fewer numbers, then all again, as though nothing had been drawn. */
Test(subset, has_as_many_numbers_as_it_is_given)
{
    struct subset subset;
    uint32_t first[12];
    arena_init(&arena, 0);
    cr_assert(subset_init(&subset, 12, &arena));
    struct rng rng = rng_make(3, 0);
    memcpy(first, subset_draw(&subset, &rng, 12), sizeof first);
    subset_resize(&subset, 5);
    const uint32_t *few = subset_draw(&subset, &rng, 5);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < 5; i++)
        seen |= 1U << few[i];
    cr_expect_eq(seen, 31);
    subset_resize(&subset, 12);
    struct rng again = rng_make(3, 0);
    cr_expect_eq(memcmp(first, subset_draw(&subset, &again, 12), sizeof first), 0);
    arena_fini(&arena);
}
