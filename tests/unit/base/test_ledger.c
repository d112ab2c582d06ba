#include "base/ledger.h"

#include <criterion/criterion.h>
#include <stdint.h>

#include "base/arena.h"

enum { MB = 1 << 20 };

struct two {
    struct ledger ledger;
    struct ledger_share shares[2];
    struct ledger_account a, b;
};

static void set_up(struct two *two, size_t max)
{
    *two = (struct two){.ledger = {.max = max}};
    two->shares[0].ledger = two->shares[1].ledger = &two->ledger;
    ledger_move(&two->a, &two->shares[0]);
    ledger_move(&two->b, &two->shares[1]);
}

static size_t take_all(struct ledger_account *account, size_t step)
{
    size_t before = account->used;
    while (ledger_take(account, step))
        ;
    return account->used - before;
}

Test(ledger, one_alone_comes_to_three_quarters)
{
    struct two two;
    set_up(&two, 100 * MB);
    cr_assert_eq(take_all(&two.a, MB), 75 * MB);
    cr_assert(two.a.refused);
    cr_assert_not(ledger_is_shared(&two.a));
    cr_assert_eq(take_all(&two.b, MB), 18 * MB, "three quarters of what was left");
    cr_assert(ledger_is_shared(&two.a));
}

Test(ledger, two_come_to_equal_shares_as_memory_goes_back)
{
    struct two two;
    set_up(&two, 70 * MB);
    (void)take_all(&two.a, MB);
    for (int i = 0; i < 200; i++) { /* a's requests end, and both ask for more */
        ledger_give(&two.a, MB);
        (void)ledger_take(&two.b, MB);
        (void)ledger_take(&two.a, MB);
    }
    cr_assert_eq(two.b.used, 30 * MB, "%zu", two.b.used);
    cr_assert_leq(two.a.used, 30 * MB);
}

Test(ledger, the_bound_holds_to_the_byte)
{
    struct two two;
    set_up(&two, 8);
    cr_assert(ledger_take(&two.a, 6));
    cr_assert_not(ledger_take(&two.a, 1));
    cr_assert_eq(two.ledger.used, 6u, "what is refused is not counted");
    cr_assert_not(ledger_take(&two.b, (size_t)-1), "no sum wraps round");
    cr_assert_not(ledger_take(&two.a, (size_t)-1), "nor that of who has some");
    cr_assert_eq(two.ledger.used, 6u);
    ledger_give(&two.a, 6);
    cr_assert_eq(two.ledger.used, 0u);
    cr_assert_eq(two.shares[0].used, 0u);
}

Test(ledger, what_is_there_already_is_counted_beyond_the_share)
{
    struct two two;
    set_up(&two, 100);
    two.ledger.unit = 1;
    ledger_take_anyway(&two.a, 75);
    cr_assert(ledger_is_within(&two.a));
    ledger_take_anyway(&two.a, 10);
    cr_assert_not(ledger_is_within(&two.a));
    cr_assert_eq(two.ledger.used, 85u);
    cr_assert_not(ledger_take(&two.a, 1));
    cr_assert(ledger_is_within(&two.b), "who holds nothing");
    ledger_take_anyway(&two.b, 15);
    cr_assert_not(ledger_is_within(&two.b), "nothing is left");
    ledger_give(&two.b, 14);
    cr_assert(ledger_is_within(&two.b));
    ledger_give(&two.a, 14);
    cr_assert(ledger_is_within(&two.a), "71 of 72, beside 28 that are free");
}

Test(ledger, a_request_moves_to_its_team)
{
    struct two two;
    set_up(&two, 100);
    cr_assert(ledger_take(&two.a, 10));
    ledger_move(&two.a, &two.shares[1]);
    cr_assert_eq(two.shares[0].used, 0u);
    cr_assert_eq(two.shares[1].used, 10u);
    cr_assert_eq(two.ledger.used, 10u);
}

Test(ledger, none_counts_nothing)
{
    struct ledger_account nobody = {.share = NULL};
    cr_assert(ledger_take(NULL, 5));
    ledger_give(NULL, 5);
    cr_assert(ledger_take(&nobody, 5));
    ledger_give(&nobody, 5);
    cr_assert_eq(nobody.used, 0u);
}

Test(ledger, blocks_of_arenas_are_counted)
{
    struct two two;
    set_up(&two, 8 * MB);
    struct arena arena, beside;
    arena_init(&arena, 0);
    arena.account = &two.a;
    arena_init_beside(&beside, &arena, 0);
    cr_assert_not_null(arena_alloc(&arena, MB));
    struct arena_mark mark = arena_mark(&arena);
    cr_assert_not_null(arena_alloc(&arena, MB));
    cr_assert_geq(two.a.used, 2u * MB);
    cr_assert_null(arena_alloc(&beside, 5 * MB));
    cr_assert(two.a.refused);
    cr_assert_not(beside.limited, "it was not the arena's own limit");
    arena_rewind(&arena, mark);
    cr_assert_lt(two.a.used, MB + 8192u);
    cr_assert_not_null(arena_alloc(&beside, MB / 2));
    arena_fini(&beside);
    arena_fini(&arena);
    cr_assert_eq(two.ledger.used, 0u);
}

/* Places are few: whoever has none comes to one as long as there is one. */
Test(ledger, the_last_place_is_for_who_has_none)
{
    struct two two;
    set_up(&two, 4);
    two.ledger.unit = 1;
    cr_assert_eq(take_all(&two.a, 1), 3u);
    cr_assert_eq(take_all(&two.b, 1), 1u);
    ledger_give(&two.a, 3);
    ledger_give(&two.b, 1);
    two.ledger.max = 1;
    cr_assert_eq(take_all(&two.a, 1), 1u);
    cr_assert_eq(take_all(&two.b, 1), 0u);
}

/* Whoever is refused learns whether it is worth coming back. */
Test(ledger, what_was_refused_fits_alone_or_never)
{
    struct two two;
    set_up(&two, 100);
    cr_assert(ledger_take(&two.b, 40));
    cr_assert(ledger_take(&two.a, 10));
    cr_assert_not(ledger_take(&two.a, 60));
    cr_assert(ledger_fits_alone(&two.a), "70 of 100, were there nobody else");
    cr_assert_not(ledger_take(&two.a, 70));
    cr_assert_not(ledger_fits_alone(&two.a), "80 are more than three quarters");
    cr_assert_not(ledger_take(&two.a, SIZE_MAX));
    cr_assert_not(ledger_fits_alone(&two.a));
}
