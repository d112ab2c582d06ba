#include "base/tally.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 64 };

struct tally_entry {
    uint64_t key;
    uint64_t count; /* 0: free */
};

void tally_fini(struct tally *tally)
{
    free(tally->entries);
    *tally = (struct tally){NULL, 0, 0};
}

static struct tally_entry *place_of(struct tally_entry entries[], size_t capacity, uint64_t key)
{
    size_t at = (size_t)key & (capacity - 1);
    while (entries[at].count != 0 && entries[at].key != key)
        at = (at + 1) & (capacity - 1);
    return &entries[at];
}

/* Kept at most half full, so that a free place is always near. */
static enum pv_code make_room(struct tally *tally)
{
    if (tally->n < tally->capacity / 2)
        return PV_OK;
    size_t capacity = tally->capacity == 0 ? FIRST_CAPACITY : tally->capacity * 2;
    struct tally_entry *bigger = calloc(capacity, sizeof *bigger);
    if (bigger == NULL || capacity < tally->capacity) {
        free(bigger);
        return PV_E_MEMORY;
    }
    for (size_t i = 0; i < tally->capacity; i++)
        if (tally->entries[i].count != 0)
            *place_of(bigger, capacity, tally->entries[i].key) = tally->entries[i];
    free(tally->entries);
    tally->entries = bigger;
    tally->capacity = capacity;
    return PV_OK;
}

enum pv_code tally_add(struct tally *tally, uint64_t key, uint64_t *before)
{
    enum pv_code code = make_room(tally);
    if (code != PV_OK)
        return code;
    struct tally_entry *entry = place_of(tally->entries, tally->capacity, key);
    *before = entry->count;
    tally->n += entry->count == 0;
    *entry = (struct tally_entry){key, entry->count + 1};
    return PV_OK;
}
