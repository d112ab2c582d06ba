#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 8 };

bool vector_reserve_bytes(
    struct arena *arena, void *items_address, size_t *capacity, size_t need, size_t item_size)
{
    if (need <= *capacity)
        return true;
    size_t wanted = *capacity == 0 ? FIRST_CAPACITY : *capacity;
    while (wanted < need)
        if (__builtin_mul_overflow(wanted, (size_t)2, &wanted))
            return false;
    size_t bytes;
    if (__builtin_mul_overflow(wanted, item_size, &bytes))
        return false;
    void *items; /* copied as bytes: the pointer's own type is not known here */
    memcpy(&items, items_address, sizeof items);
    void *grown = arena == NULL ? realloc(items, bytes) : arena_alloc(arena, bytes);
    if (grown == NULL)
        return false;
    if (arena != NULL && *capacity > 0)
        memcpy(grown, items, *capacity * item_size);
    memcpy(items_address, &grown, sizeof grown);
    *capacity = wanted;
    return true;
}

void *vector_clear_next(void *items, size_t index, size_t item_size)
{
    return memset((char *)items + index * item_size, 0, item_size);
}
