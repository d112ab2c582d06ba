#include "base/heap.h"

#include <assert.h>

enum { ARITY = 4 };

bool heap_init(struct heap *heap, struct arena *arena, size_t capacity)
{
    struct heap_item *items = arena_array(arena, capacity, sizeof *items);
    if (items == NULL)
        return false;
    *heap = (struct heap){.items = items, .capacity = capacity};
    return true;
}

static bool before(struct heap_item a, struct heap_item b)
{
    return a.key < b.key || (a.key == b.key && a.value < b.value);
}

void heap_push(struct heap *heap, double key, uint64_t value)
{
    assert(heap->n < heap->capacity);
    struct heap_item item = {key, value};
    size_t at = heap->n++;
    while (at > 0) {
        size_t up = (at - 1) / ARITY;
        if (!before(item, heap->items[up]))
            break;
        heap->items[at] = heap->items[up];
        at = up;
    }
    heap->items[at] = item;
}

struct heap_item heap_pop(struct heap *heap)
{
    assert(heap->n > 0);
    struct heap_item top = heap->items[0];
    struct heap_item last = heap->items[--heap->n];
    size_t n = heap->n;
    size_t at = 0;
    for (;;) {
        size_t child = at * ARITY + 1;
        if (child >= n)
            break;
        size_t end = child + ARITY < n ? child + ARITY : n;
        size_t least = child;
        for (size_t i = child + 1; i < end; i++)
            if (before(heap->items[i], heap->items[least]))
                least = i;
        if (!before(heap->items[least], last))
            break;
        heap->items[at] = heap->items[least];
        at = least;
    }
    heap->items[at] = last;
    return top;
}
