#ifndef CORE_SCHEDULING_NETWORK_KEY_TABLE_H
#define CORE_SCHEDULING_NETWORK_KEY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/*
 * What belongs to pairs of numbers: an open table whose entries come and go, 12 bytes each, half full
 * at most. It grows and does not shrink.
 */
#define KEY_TABLE_NONE UINT32_MAX

struct key_table {
    struct arena *arena;
    uint64_t *keys;
    uint32_t *values;
    size_t capacity; /* a power of two */
    size_t n;
};

/* Of two numbers, not both UINT32_MAX. */
static inline uint64_t key_table_key(size_t first, size_t second)
{
    return (uint64_t)first << 32 | (uint64_t)second;
}

/* false: out of memory. */
bool key_table_init(struct key_table *table, struct arena *arena);

/* KEY_TABLE_NONE: it is not there. */
uint32_t key_table_find(const struct key_table *table, uint64_t key);

/* A key that is not there. false: out of memory. */
bool key_table_add(struct key_table *table, uint64_t key, uint32_t value);

/* A key that is there. */
void key_table_remove(struct key_table *table, uint64_t key);

#endif
