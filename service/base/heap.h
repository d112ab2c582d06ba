#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/*
 * A min-heap of (key, value) pairs: the smallest key first, equal keys by the smaller value, so
 * that the order in which pairs leave depends on nothing but the pairs. Four children a node, 16
 * bytes a pair: a thousand pairs stay in the first-level cache.
 */
struct heap_item {
    double key; /* not NAN */
    uint64_t value;
};

struct heap {
    struct heap_item *items;
    size_t n;
    size_t capacity;
};

/* An empty heap for at most `capacity` pairs; its memory is the arena's. False: out of memory. */
bool heap_init(struct heap *heap, struct arena *arena, size_t capacity);

/* The smallest pair of a heap that is not empty. */
static inline struct heap_item heap_top(const struct heap *heap)
{
    return heap->items[0];
}

/* O(log n). Pushing beyond the capacity is the caller's mistake (asserted). */
void heap_push(struct heap *heap, double key, uint64_t value);

/* Take the smallest pair out of a heap that is not empty. O(log n). */
struct heap_item heap_pop(struct heap *heap);

#endif
