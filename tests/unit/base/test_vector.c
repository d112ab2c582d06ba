#include "base/vector.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>

struct pair {
    int left;
    double right;
};

/* Items stay as they were while the array moves; new ones are cleared. */
static void add_and_compare(struct arena *arena)
{
    VECTOR(struct pair) pairs = {0};
    for (int i = 0; i < 1000; i++) {
        struct pair *pair = vector_add(arena, &pairs);
        cr_assert(pair != NULL && pair == &pairs.items[i]);
        cr_assert(pair->left == 0 && pair->right == 0);
        *pair = (struct pair){i, i / 2.0};
    }
    cr_assert_eq(pairs.n, 1000);
    cr_assert(pairs.capacity >= 1000 && pairs.capacity < 2048);
    for (int i = 0; i < 1000; i++)
        cr_assert(pairs.items[i].left == i && pairs.items[i].right == i / 2.0);
    if (arena == NULL)
        free(pairs.items);
}

Test(vector, grows_in_an_arena)
{
    struct arena arena;
    arena_init(&arena, 0);
    add_and_compare(&arena);
    arena_fini(&arena);
}

Test(vector, grows_on_the_heap)
{
    add_and_compare(NULL);
}

/* An arena that is full leaves the array as it was. */
Test(vector, stays_whole_without_memory)
{
    struct arena arena;
    arena_init(&arena, 8192);
    VECTOR(uint64_t) numbers = {0};
    uint64_t *number;
    while ((number = vector_add(&arena, &numbers)) != NULL)
        *number = numbers.n;
    size_t n = numbers.n;
    cr_assert(n > 0 && n == numbers.capacity);
    cr_assert(vector_add(&arena, &numbers) == NULL);
    cr_assert(numbers.n == n && numbers.items[n - 1] == n);
    arena_fini(&arena);
}

Test(vector, refuses_sizes_that_overflow)
{
    struct pair *items = NULL;
    size_t capacity = 0;
    cr_assert(!vector_reserve(NULL, items, capacity, SIZE_MAX));
    cr_assert(!vector_reserve(NULL, items, capacity, SIZE_MAX / sizeof *items));
    cr_assert(items == NULL && capacity == 0);
    cr_assert(vector_reserve(NULL, items, capacity, 3));
    cr_assert(items != NULL && capacity >= 3);
    free(items);
}
