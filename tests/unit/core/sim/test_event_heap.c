#include "core/sim/event_heap.h"

#include <criterion/criterion.h>
#include <math.h>

#include "base/rng.h"

static struct arena arena;

static struct event_heap heap_of(size_t capacity)
{
    struct event_heap heap;
    arena_init(&arena, 0);
    cr_assert(event_heap_init(&heap, capacity, &arena));
    return heap;
}

Test(event_heap, orders_by_time_kind_and_scheduling)
{
    static const struct event scheduled[] = {{2, 0, 1}, {1, 1, 2},  {1, 0, 3},
                                             {1, 1, 4}, {1, 63, 5}, {0, 7, 6}};
    static const uint64_t order[] = {6, 3, 2, 4, 5, 1};
    struct event_heap heap = heap_of(0);
    struct event event;
    for (size_t i = 0; i < 6; i++)
        cr_assert(
            event_heap_schedule(&heap, scheduled[i].at, scheduled[i].kind, scheduled[i].about));
    cr_expect_eq(event_heap_length(&heap), 6);
    for (size_t i = 0; i < 6; i++) {
        cr_assert(event_heap_pop(&heap, &event));
        cr_expect_eq(event.about, order[i]);
        cr_expect_eq(event.kind, scheduled[order[i] - 1].kind);
        cr_expect_eq(event_heap_length(&heap), 5 - i);
    }
    cr_expect_not(event_heap_pop(&heap, &event));
    cr_expect_eq(event_heap_next_at(&heap), HUGE_VAL);
    arena_fini(&arena);
}

/* The same events in the same order as from the queue that can cancel, however they are mixed. */
Test(event_heap, agrees_with_event_queue)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct event_heap heap = heap_of(seed);
        struct event_queue queue;
        struct rng rng = rng_make(seed, 0);
        struct event mine;
        struct event theirs;
        double now = 0;
        cr_assert(event_queue_init(&queue, &arena));
        for (uint64_t i = 0; i < 5000; i++) {
            if (rng_uniform(&rng) < (i < 2500 ? 0.6 : 0.4)) {
                const struct event event = {now + floor(8 * rng_uniform(&rng)),
                                            (uint32_t)(rng_next(&rng) % 3), i};
                cr_assert(event_heap_schedule(&heap, event.at, event.kind, event.about));
                cr_assert_neq(event_queue_schedule(&queue, &event), 0);
                continue;
            }
            bool any = event_queue_pop(&queue, &theirs);
            cr_assert_eq(event_heap_pop(&heap, &mine), any);
            if (!any)
                continue;
            cr_assert(mine.at == theirs.at && mine.kind == theirs.kind);
            cr_assert_eq(mine.about, theirs.about);
            now = mine.at;
        }
        cr_expect_eq(event_heap_length(&heap), event_queue_length(&queue));
        arena_fini(&arena);
    }
}

Test(event_heap, tells_when_memory_is_exhausted)
{
    struct event_heap heap;
    bool done = true;
    arena_init(&arena, 8192);
    cr_assert(event_heap_init(&heap, 1, &arena));
    for (int i = 0; i < 1000 && done; i++)
        done = event_heap_schedule(&heap, i, 0, 0);
    cr_expect_not(done);
    arena_fini(&arena);
}
