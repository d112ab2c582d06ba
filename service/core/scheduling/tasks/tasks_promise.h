#ifndef CORE_SCHEDULING_TASKS_TASKS_PROMISE_H
#define CORE_SCHEDULING_TASKS_TASKS_PROMISE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/*
 * Work that is promised to workers, and who has least of it: a tournament of pairs whose winners
 * meet. Of equal ones, within rounding, the one of the lower number wins its pair.
 */
struct promises {
    double *work_s;    /* of each worker */
    uint32_t *winners; /* of each pair, [1] of all; the workers themselves begin at `leaves` */
    uint32_t n;
    uint32_t leaves; /* a power of two */
};

/* n >= 1 workers, at most 2^31, that have nothing. false: out of memory. O(n). */
bool promises_init(struct promises *promises, uint32_t n, struct arena *arena);

/* Bytes at most. */
double promises_memory(uint32_t n);

/* O(log n). */
void promises_set(struct promises *promises, uint32_t worker, double work_s);

static inline uint32_t promises_least(const struct promises *promises)
{
    return promises->winners[1];
}

#endif
