#ifndef BASE_COUNTER_MAP_H
#define BASE_COUNTER_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/code.h"

/*
 * How often each of many 64-bit keys was seen: an open table that grows, 16 bytes an entry. Keys
 * are taken for well mixed (hashes). {0} is an empty one.
 */
struct counter_map {
    struct counter *entries;
    size_t capacity; /* a power of two, or 0 */
    size_t n;
};

void counter_map_fini(struct counter_map *map);

/* Count the key once more; *before is how often it had been counted. PV_E_MEMORY: nothing changed.
 */
enum pv_code counter_map_add(struct counter_map *map, uint64_t key, uint64_t *before) PV_MUSTCHECK;

#endif
