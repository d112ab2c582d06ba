#ifndef CORE_JOBLOG_COMMON_IDMAP_H
#define CORE_JOBLOG_COMMON_IDMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/joblog/common/budget.h"

/*
 * Integers to integers, by open addressing. Keys come from the log, so nobody may be able to make
 * it slow by choosing them: a probe longer than a fixed bound makes the table grow, and its growth
 * ends at the budget.
 */
struct idmap_slot {
    int64_t key;
    uint32_t value;
    bool taken;
};

struct idmap {
    struct idmap_slot *slots;
    size_t capacity; /* 0 or a power of two */
    size_t n;
};

/* The place of a key's value, or NULL. Valid until the next insertion. */
uint32_t *idmap_find(const struct idmap *map, int64_t key);

/* The key must not be there. PV_E_LIMIT, PV_E_MEMORY. */
enum pv_code idmap_insert(struct idmap *map,
                          struct budget *budget,
                          int64_t key,
                          uint32_t value,
                          struct pv_error *err) PV_MUSTCHECK;

/* Take a key out that is there. Others may move. */
void idmap_remove(struct idmap *map, int64_t key);

void idmap_fini(struct idmap *map, struct budget *budget);

/* A key for a text (64-bit FNV-1a). */
int64_t idmap_key_of(const char *text, size_t n);

#endif
