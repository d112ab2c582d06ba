#include "core/scheduling/slots/slots_spans.h"

#include <criterion/criterion.h>

/* Two at once have slots 0 and 1; at 2 slot 1 comes free, then it is used first; kinds have slots of
 * their own unless these are shared. */
Test(slots_spans, slots_by_hand)
{
    static const struct slots_span given[] = {
        {.job = 0, .kind = SLOTS_MAP, .count = 2, .given_s = 0, .end_s = 3},
        {.job = 1, .kind = SLOTS_MAP, .count = 1, .given_s = 1, .end_s = 2},
        {.job = 1, .kind = SLOTS_REDUCE, .count = 1, .given_s = 2, .end_s = 4},
        {.job = 2, .kind = SLOTS_MAP, .count = 1, .given_s = 3, .end_s = 5}};
    static const size_t apart[] = {0, 1, 2, 0, 0};
    static const size_t shared[] = {0, 1, 2, 2, 0};
    struct slots_bar bars[5];
    struct slots_spans spans;
    struct arena arena;
    arena_init(&arena, 0);
    cr_assert(slots_spans_init(&spans, 5, &arena));
    for (size_t i = 4; i-- > 0;) /* in any order */
        slots_spans_add(&spans, &given[i]);
    cr_assert_eq(spans.tasks, 5);
    cr_assert(slots_spans_place(&spans, 0, false, &arena, bars));
    for (size_t i = 0; i < 5; i++)
        cr_expect(bars[i].slot == apart[i] || (i == 4 && bars[i].slot < 3));
    cr_assert(slots_spans_place(&spans, 0, true, &arena, bars));
    for (size_t i = 0; i < 4; i++)
        cr_expect_eq(bars[i].slot, shared[i]);
    cr_expect_leq(bars[4].slot, 1);
    arena_fini(&arena);
}

Test(slots_spans, what_has_no_room_is_counted)
{
    static const struct slots_span three = {.count = 3, .end_s = 1};
    struct slots_spans spans;
    struct arena arena;
    arena_init(&arena, 0);
    cr_assert(slots_spans_init(&spans, 5, &arena));
    slots_spans_add(&spans, &three);
    slots_spans_add(&spans, &three);
    cr_expect_eq(spans.tasks, 3);
    cr_expect_eq(spans.omitted, 3);
    arena_fini(&arena);
}
