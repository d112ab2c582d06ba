#include "core/sim/subset.h"

#include <assert.h>

#include "core/sim/variates.h"

bool subset_init(struct subset *subset, uint32_t n, struct arena *arena)
{
    *subset = (struct subset){.n = n,
                              .items = arena_array(arena, n, sizeof *subset->items),
                              .moved = arena_array(arena, n, sizeof *subset->moved)};
    for (uint32_t i = 0; subset->items != NULL && i < n; i++)
        subset->items[i] = i;
    return subset->items != NULL && subset->moved != NULL;
}

/* Every number stands where it stood at first. */
static void put_back(struct subset *subset)
{
    for (uint32_t i = 0; i < subset->drawn; i++) {
        subset->items[i] = i;
        subset->items[subset->moved[i]] = subset->moved[i];
    }
    subset->drawn = 0;
}

void subset_resize(struct subset *subset, uint32_t n)
{
    put_back(subset);
    subset->n = n;
}

const uint32_t *subset_draw(struct subset *subset, struct rng *rng, uint32_t k)
{
    assert(k <= subset->n);
    put_back(subset);
    for (uint32_t i = 0; i < k; i++) {
        uint32_t other = i + (uint32_t)variate_index(rng, subset->n - i);
        uint32_t item = subset->items[i];
        subset->items[i] = subset->items[other];
        subset->items[other] = item;
        subset->moved[i] = other;
    }
    subset->drawn = k;
    return subset->items;
}
