#include "core/joblog/common/budget.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 8 };

enum pv_code budget_grow_bytes(struct budget *budget,
                               void *items_address,
                               size_t *capacity,
                               size_t need,
                               size_t size,
                               struct pv_error *err)
{
    if (need <= *capacity)
        return PV_OK;
    size_t wanted = *capacity < FIRST_CAPACITY ? FIRST_CAPACITY : *capacity;
    if (wanted < need)
        wanted = wanted > SIZE_MAX / 2 || wanted * 2 < need ? need : wanted * 2;
    size_t bytes;
    size_t held = budget->used - *capacity * size;
    if (__builtin_mul_overflow(wanted, size, &bytes) || bytes > budget->limit ||
        held > budget->limit - bytes)
        return pv_fail(err, PV_E_LIMIT, "reading the log takes more than %zu bytes of memory",
                       budget->limit);
    if (!ledger_take(budget->account, bytes))
        return pv_no_memory(err);
    void *items; /* copied as bytes: the pointer's own type is not known here */
    memcpy(&items, items_address, sizeof items);
    void *grown = realloc(items, bytes);
    ledger_give(budget->account, grown == NULL ? bytes : *capacity * size);
    if (grown == NULL)
        return pv_no_memory(err);
    budget->used = held + bytes;
    memcpy(items_address, &grown, sizeof grown);
    *capacity = wanted;
    return PV_OK;
}

void budget_free(struct budget *budget, void *items, size_t capacity, size_t size)
{
    budget->used -= capacity * size;
    ledger_give(budget->account, capacity * size);
    free(items);
}
