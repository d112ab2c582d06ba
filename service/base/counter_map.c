#include "base/counter_map.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 64 };

struct counter {
    uint64_t key;
    uint64_t count; /* 0: free */
};

void counter_map_fini(struct counter_map *map)
{
    free(map->entries);
    *map = (struct counter_map){NULL, 0, 0};
}

static struct counter *find_slot(struct counter entries[], size_t capacity, uint64_t key)
{
    size_t at = (size_t)key & (capacity - 1);
    while (entries[at].count != 0 && entries[at].key != key)
        at = (at + 1) & (capacity - 1);
    return &entries[at];
}

/* Kept at most half full, so that a free place is always near. */
static enum pv_code counter_map_reserve(struct counter_map *map)
{
    if (map->n < map->capacity / 2)
        return PV_OK;
    size_t capacity = map->capacity == 0 ? FIRST_CAPACITY : map->capacity * 2;
    struct counter *bigger = calloc(capacity, sizeof *bigger);
    if (bigger == NULL || capacity < map->capacity) {
        free(bigger);
        return PV_E_MEMORY;
    }
    for (size_t i = 0; i < map->capacity; i++)
        if (map->entries[i].count != 0)
            *find_slot(bigger, capacity, map->entries[i].key) = map->entries[i];
    free(map->entries);
    map->entries = bigger;
    map->capacity = capacity;
    return PV_OK;
}

enum pv_code counter_map_add(struct counter_map *map, uint64_t key, uint64_t *before)
{
    PV_TRY(counter_map_reserve(map));
    struct counter *entry = find_slot(map->entries, map->capacity, key);
    *before = entry->count;
    map->n += entry->count == 0;
    *entry = (struct counter){key, entry->count + 1};
    return PV_OK;
}
