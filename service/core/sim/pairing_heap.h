#ifndef CORE_SIM_PAIRING_HEAP_H
#define CORE_SIM_PAIRING_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Pairing heaps (M. Fredman et al., "The pairing heap: a new form of self-adjusting heap",
 * Algorithmica 1, 1986) whose nodes are items of an array of the caller's: memory does not depend on
 * the number of heaps, and nothing fails. Adding and looking at the first cost O(1), taking out any
 * node O(log n) amortized.
 *
 * A heap is the number of its first node. An item is in one heap at most and begins with its link.
 * Everything is inline, so that the order is compiled in where it is known.
 */
#define PAIRING_HEAP_EMPTY UINT32_MAX

struct pairing_link {
    uint32_t child;   /* the first one; PAIRING_HEAP_EMPTY: none, likewise below */
    uint32_t sibling; /* the next one */
    uint32_t back;    /* the sibling before it, of a first child the parent */
};

struct pairing_items {
    void *items;
    size_t size; /* of one */
    /* A total order. */
    bool (*before)(const void *context, uint32_t a, uint32_t b);
    const void *context;
};

static inline struct pairing_link *pairing_link_of(const struct pairing_items *all, uint32_t item)
{
    return (struct pairing_link *)(void *)((char *)all->items + item * all->size);
}

/* Two heaps, of which either may be empty, become one; their first items have no siblings. */
static inline uint32_t pairing_heap_join(const struct pairing_items *all, uint32_t a, uint32_t b)
{
    if (a == PAIRING_HEAP_EMPTY || b == PAIRING_HEAP_EMPTY)
        return a == PAIRING_HEAP_EMPTY ? b : a;
    uint32_t first = all->before(all->context, a, b) ? a : b;
    uint32_t other = first == a ? b : a;
    uint32_t child = pairing_link_of(all, first)->child;
    pairing_link_of(all, other)->sibling = child;
    pairing_link_of(all, other)->back = first;
    if (child != PAIRING_HEAP_EMPTY)
        pairing_link_of(all, child)->back = other;
    pairing_link_of(all, first)->child = other;
    return first;
}

static inline uint32_t pairing_heap_detach(const struct pairing_items *all, uint32_t item)
{
    struct pairing_link *link = pairing_link_of(all, item);
    uint32_t next = link->sibling;
    link->sibling = PAIRING_HEAP_EMPTY;
    link->back = PAIRING_HEAP_EMPTY;
    return next;
}

/* Siblings become one heap: pairs from the first to the last, then from the last pair back. */
static inline uint32_t pairing_heap_join_siblings(const struct pairing_items *all, uint32_t item)
{
    uint32_t pairs = PAIRING_HEAP_EMPTY; /* the last one first, linked by their siblings */
    uint32_t joined = PAIRING_HEAP_EMPTY;
    while (item != PAIRING_HEAP_EMPTY) {
        uint32_t other = pairing_heap_detach(all, item);
        uint32_t next =
            other != PAIRING_HEAP_EMPTY ? pairing_heap_detach(all, other) : PAIRING_HEAP_EMPTY;
        uint32_t pair = pairing_heap_join(all, item, other);
        pairing_link_of(all, pair)->sibling = pairs;
        pairs = pair;
        item = next;
    }
    while (pairs != PAIRING_HEAP_EMPTY) {
        uint32_t next = pairing_heap_detach(all, pairs);
        joined = pairing_heap_join(all, joined, pairs);
        pairs = next;
    }
    return joined;
}

/* An item that is in no heap joins one. Returns the heap. */
static inline uint32_t
pairing_heap_add(const struct pairing_items *all, uint32_t heap, uint32_t item)
{
    *pairing_link_of(all, item) =
        (struct pairing_link){PAIRING_HEAP_EMPTY, PAIRING_HEAP_EMPTY, PAIRING_HEAP_EMPTY};
    return pairing_heap_join(all, heap, item);
}

/* An item leaves the heap that it is in. Returns the heap. */
static inline uint32_t
pairing_heap_remove(const struct pairing_items *all, uint32_t heap, uint32_t item)
{
    const struct pairing_link link = *pairing_link_of(all, item);
    uint32_t below = pairing_heap_join_siblings(all, link.child);
    if (heap == item)
        return below;
    if (pairing_link_of(all, link.back)->child == item)
        pairing_link_of(all, link.back)->child = link.sibling;
    else
        pairing_link_of(all, link.back)->sibling = link.sibling;
    if (link.sibling != PAIRING_HEAP_EMPTY)
        pairing_link_of(all, link.sibling)->back = link.back;
    return pairing_heap_join(all, heap, below);
}

#endif
