#include "base/arena.h"

#include <criterion/criterion.h>
#include <stdint.h>

Test(arena, blocks_are_aligned_and_apart)
{
    struct arena arena;
    arena_init(&arena, 0);
    char *last = NULL;
    for (size_t n = 1; n < 3000; n += 7) {
        char *at = arena_alloc(&arena, n);
        cr_assert_not_null(at);
        cr_assert_eq((uintptr_t)at % _Alignof(max_align_t), 0u);
        memset(at, (int)n, n);
        if (last != NULL)
            cr_assert_eq((unsigned char)last[0], (unsigned char)(n - 7),
                         "an earlier block was overwritten");
        last = at;
    }
    arena_fini(&arena);
}

Test(arena, a_rewind_gives_back_what_came_after_the_mark)
{
    struct arena arena;
    arena_init(&arena, 0);
    char *kept = arena_strdup(&arena, "kept");
    struct arena_mark mark = arena_mark(&arena);
    size_t total = arena.total;
    cr_assert_not_null(arena_alloc(&arena, 1 << 20));
    cr_assert_gt(arena.total, total);
    arena_rewind(&arena, mark);
    cr_assert_eq(arena.total, total);
    cr_assert_str_eq(kept, "kept");
    arena_fini(&arena);
    cr_assert_eq(arena.total, 0u);
}

Test(arena, the_limit_holds_and_is_told)
{
    struct arena arena;
    arena_init(&arena, 10000);
    cr_assert_not_null(arena_alloc(&arena, 4000));
    cr_assert_not(arena.limited);
    cr_assert_null(arena_alloc(&arena, 20000));
    cr_assert(arena.limited);
    cr_assert_leq(arena.total, 10000u);
    arena_fini(&arena);
}

Test(arena, sizes_that_overflow_are_refused)
{
    struct arena arena;
    arena_init(&arena, 0);
    cr_assert_null(arena_alloc(&arena, SIZE_MAX));
    cr_assert_null(arena_array(&arena, SIZE_MAX / 2, 3));
    cr_assert_null(arena_calloc(&arena, SIZE_MAX, SIZE_MAX));
    cr_assert_null(arena_strndup(&arena, "", SIZE_MAX));
    cr_assert_not_null(arena_array(&arena, 0, SIZE_MAX));
    arena_fini(&arena);
}

Test(arena, copies_and_prints)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct strview copy = arena_copy(&arena, (struct strview){"abcdef", 3});
    cr_assert_eq(copy.n, 3u);
    cr_assert_str_eq(copy.at, "abc");
    cr_assert_str_eq(arena_printf(&arena, "%s-%d", "x", 42), "x-42");
    unsigned char *zeros = arena_calloc(&arena, 100, 3);
    for (size_t i = 0; i < 300; i++)
        cr_assert_eq(zeros[i], 0);
    arena_fini(&arena);
}
