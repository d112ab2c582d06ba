#ifndef CORE_JOBLOG_COMMON_BUDGET_H
#define CORE_JOBLOG_COMMON_BUDGET_H

#include <stddef.h>

#include "base/error.h"

/* What a reader may hold. Every byte it allocates is counted here. */
struct budget {
    size_t used;
    size_t limit;
};

/*
 * Make room for at least `need` items of `size` bytes in the growing array *items with *capacity
 * items; on failure both stay as they are. PV_E_LIMIT when the budget does not allow it,
 * PV_E_MEMORY.
 */
enum pv_code budget_grow(struct budget *budget,
                         void **items,
                         size_t *capacity,
                         size_t need,
                         size_t size,
                         struct pv_error *err) PV_MUSTCHECK;

/* Give back an array of `capacity` items. NULL is fine. */
void budget_free(struct budget *budget, void *items, size_t capacity, size_t size);

#endif
