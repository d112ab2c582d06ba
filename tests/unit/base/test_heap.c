#include "base/heap.h"

#include <criterion/criterion.h>

/* Pairs leave by key, equal keys by value, whatever the order they came in. */
Test(heap, sorts)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct heap heap;
    enum { N = 1000 };
    cr_assert(heap_init(&heap, &arena, N));
    uint64_t state = 7;
    for (size_t i = 0; i < N; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        heap_push(&heap, (double)(state >> 33) / 1e9 < 1 ? 0.5 : (double)(state >> 57),
                  state >> 40);
    }
    struct heap_item last = {-1, 0};
    for (size_t i = 0; i < N; i++) {
        struct heap_item top = heap_top(&heap);
        struct heap_item item = heap_pop(&heap);
        cr_assert(top.key == item.key && top.value == item.value);
        cr_assert(last.key < item.key || (last.key == item.key && last.value <= item.value));
        last = item;
    }
    cr_assert_eq(heap.n, 0);
    arena_fini(&arena);
}

/* Pushes and pops in turn agree with a plain search for the least. */
Test(heap, agrees_with_a_plain_list)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct heap heap;
    enum { N = 40 };
    cr_assert(heap_init(&heap, &arena, N));
    struct heap_item list[N];
    size_t n = 0;
    uint64_t state = 9;
    for (size_t step = 0; step < 20000; step++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        if (n < N && (n == 0 || (state >> 60) < 9)) {
            list[n] = (struct heap_item){(double)(state >> 40 & 15), step % 5};
            heap_push(&heap, list[n].key, list[n].value);
            n++;
            continue;
        }
        size_t least = 0;
        for (size_t i = 1; i < n; i++)
            if (list[i].key < list[least].key ||
                (list[i].key == list[least].key && list[i].value < list[least].value))
                least = i;
        struct heap_item got = heap_pop(&heap);
        cr_assert(got.key == list[least].key && got.value == list[least].value);
        list[least] = list[--n];
    }
    arena_fini(&arena);
}

/* An arena at its limit makes no heap. */
Test(heap, no_memory)
{
    struct arena arena;
    arena_init(&arena, 64);
    struct heap heap;
    cr_assert_not(heap_init(&heap, &arena, 1000));
    cr_assert_not(heap_init(&heap, &arena, SIZE_MAX / 2));
    arena_fini(&arena);
}
