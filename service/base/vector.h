#ifndef BASE_VECTOR_H
#define BASE_VECTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/*
 * Arrays that grow. Their memory is an arena's, or, where `arena` is NULL, the heap's: then the
 * caller frees `items`. Capacity doubles, so that adding n items one by one costs O(n); what an
 * arena's array leaves behind when it moves stays in the arena (as much again at most). Adding may
 * move the items: addresses of earlier ones do not survive it.
 */

/* The members of a growing array: `VECTOR(struct point) points;`. {0} is an empty one. */
#define VECTOR(type)                                                                               \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t n;                                                                                  \
        size_t capacity;                                                                           \
    }

/*
 * The address of a new item behind the last, cleared and counted in n; NULL when memory is
 * exhausted, and then nothing has changed. `vector` is evaluated more than once.
 */
#define vector_add(arena, vector)                                                                  \
    (vector_reserve((arena), (vector)->items, (vector)->capacity, (vector)->n + 1)                 \
         ? (__typeof__((vector)->items))vector_clear_next((vector)->items, (vector)->n++,          \
                                                          sizeof *(vector)->items)                 \
         : NULL)

/*
 * Room for `need` items in all, in an array whose parts have other names: `items` and `capacity`
 * are an lvalue each, of a pointer and of a size_t. False when memory is exhausted, and then
 * nothing has changed. Items beyond those that were there are not cleared.
 */
#define vector_reserve(arena, items, capacity, need)                                               \
    vector_reserve_bytes((arena), (void *)&(items), &(capacity), (need), sizeof *(items))

/* What the macros stand on; items_address is the address of the pointer to the items. */
bool vector_reserve_bytes(
    struct arena *arena, void *items_address, size_t *capacity, size_t need, size_t item_size);
void *vector_clear_next(void *items, size_t index, size_t item_size);

#endif
