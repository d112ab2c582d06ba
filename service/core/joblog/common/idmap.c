#include "core/joblog/common/idmap.h"

#include <string.h>

#include "base/hash.h"

enum { FIRST_SLOTS = 64, LONGEST_PROBE = 128 };

/* Spread keys, which are often consecutive, over all bits (the finalizer of splitmix64). */
static size_t idmap_mix(int64_t key)
{
    uint64_t x = (uint64_t)key;
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (size_t)(x ^ (x >> 31));
}

int64_t idmap_key_of(const char *text, size_t n)
{
    return (int64_t)hash_bytes(HASH_START, text, n);
}

uint32_t *idmap_find(const struct idmap *map, int64_t key)
{
    if (map->capacity == 0)
        return NULL;
    size_t mask = map->capacity - 1;
    size_t at = idmap_mix(key) & mask;
    for (size_t i = 0; i < LONGEST_PROBE && map->slots[at].taken; i++) {
        if (map->slots[at].key == key)
            return &map->slots[at].value;
        at = (at + 1) & mask;
    }
    return NULL;
}

/* False when the way to a free slot is too long. */
static bool place(struct idmap *map, int64_t key, uint32_t value)
{
    size_t mask = map->capacity - 1;
    size_t at = idmap_mix(key) & mask;
    for (size_t i = 0; i < LONGEST_PROBE; i++, at = (at + 1) & mask) {
        if (map->slots[at].taken)
            continue;
        map->slots[at] = (struct idmap_slot){key, value, true};
        map->n++;
        return true;
    }
    return false;
}

static bool place_all(struct idmap *to, const struct idmap *from)
{
    for (size_t i = 0; i < from->capacity; i++) {
        const struct idmap_slot *slot = &from->slots[i];
        if (slot->taken && !place(to, slot->key, slot->value))
            return false;
    }
    return true;
}

/* Twice the slots, and twice again until every key finds its place. */
static enum pv_code idmap_grow(struct idmap *map, struct budget *budget, struct pv_error *err)
{
    size_t wanted = map->capacity == 0 ? FIRST_SLOTS : map->capacity * 2;
    for (;; wanted *= 2) {
        struct idmap grown = {NULL, 0, 0};
        PV_TRY(budget_grow(budget, grown.slots, grown.capacity, wanted, err));
        memset(grown.slots, 0, grown.capacity * sizeof *grown.slots);
        if (place_all(&grown, map)) {
            idmap_fini(map, budget);
            *map = grown;
            return PV_OK;
        }
        idmap_fini(&grown, budget);
    }
}

enum pv_code idmap_insert(
    struct idmap *map, struct budget *budget, int64_t key, uint32_t value, struct pv_error *err)
{
    while (map->n >= map->capacity / 2 || !place(map, key, value))
        PV_TRY(idmap_grow(map, budget, err));
    return PV_OK;
}

/* No mark stays behind: what a search would not find any more moves to the place that is free
 * (D. E. Knuth, "The Art of Computer Programming" 3, 6.4, algorithm R). */
void idmap_remove(struct idmap *map, int64_t key)
{
    size_t mask = map->capacity - 1;
    size_t hole = idmap_mix(key) & mask;
    while (map->slots[hole].key != key || !map->slots[hole].taken)
        hole = (hole + 1) & mask;
    map->slots[hole].taken = false;
    map->n--;
    for (size_t at = (hole + 1) & mask; map->slots[at].taken; at = (at + 1) & mask) {
        size_t home = idmap_mix(map->slots[at].key) & mask;
        if (((at - home) & mask) < ((at - hole) & mask))
            continue;
        map->slots[hole] = map->slots[at];
        map->slots[at].taken = false;
        hole = at;
    }
}

void idmap_fini(struct idmap *map, struct budget *budget)
{
    budget_free(budget, map->slots, map->capacity, sizeof *map->slots);
    *map = (struct idmap){NULL, 0, 0};
}
