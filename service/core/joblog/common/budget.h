#ifndef CORE_JOBLOG_COMMON_BUDGET_H
#define CORE_JOBLOG_COMMON_BUDGET_H

#include <stddef.h>

#include "base/error.h"
#include "base/ledger.h"

/* What a reader may hold. Every byte it allocates is counted here. */
struct budget {
    size_t used;
    size_t limit;
    struct ledger_account *account; /* counted there as well; borrowed; NULL: nowhere else */
};

/*
 * Make room for at least `need` items in a growing array: `items` and `capacity` are an lvalue
 * each, of a pointer and of a size_t; on failure both stay as they are. PV_E_LIMIT when the budget
 * does not allow it, PV_E_MEMORY, also where the account does not.
 */
#define budget_grow(budget, items, capacity, need, err)                                            \
    budget_grow_bytes((budget), (void *)&(items), &(capacity), (need), sizeof *(items), (err))

/* What the macro stands for; items_address is the address of the pointer to the items. */
enum pv_code budget_grow_bytes(struct budget *budget,
                               void *items_address,
                               size_t *capacity,
                               size_t need,
                               size_t size,
                               struct pv_error *err) PV_MUSTCHECK;

/* Give back an array of `capacity` items. NULL is fine. */
void budget_free(struct budget *budget, void *items, size_t capacity, size_t size);

#endif
