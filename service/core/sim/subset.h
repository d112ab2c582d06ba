#ifndef CORE_SIM_SUBSET_H
#define CORE_SIM_SUBSET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/rng.h"

/*
 * Random samples of 0 .. n - 1 without replacement, many of them from the same n: a draw costs O(k)
 * for k numbers, whatever n is, and depends on its stream alone, not on earlier draws.
 */
struct subset {
    uint32_t *items; /* 0 .. n - 1, but for what the last draw moved */
    uint32_t *moved; /* where to, one for each number drawn */
    uint32_t n;
    uint32_t drawn;
};

/* 8 n bytes of the arena. false: out of memory. */
bool subset_init(struct subset *subset, uint32_t n, struct arena *arena);

/* k <= n different numbers in random order; they are valid until the next draw. */
const uint32_t *subset_draw(struct subset *subset, struct rng *rng, uint32_t k);

/* From the next draw on, samples are of 0 .. n - 1; n at most what it was at first. O(numbers of the
 * last draw). */
void subset_resize(struct subset *subset, uint32_t n);

#endif
