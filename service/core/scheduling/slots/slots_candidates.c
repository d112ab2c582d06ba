#include "core/scheduling/slots/slots_candidates.h"

#include <assert.h>

#include "core/scheduling/slots/slots_workload.h"
#include "core/sim/pairing_heap.h"

#define NONE PAIRING_HEAP_EMPTY

struct slots_candidate {
    struct pairing_link link;
    uint32_t group; /* NONE: in no group */
    uint64_t key;
};

bool slots_candidates_init(struct slots_candidates *candidates,
                           size_t n_jobs,
                           size_t n_groups,
                           struct arena *arena)
{
    assert(n_jobs < NONE && n_groups < NONE);
    candidates->nodes = arena_array(arena, n_jobs, sizeof *candidates->nodes);
    candidates->firsts = arena_array(arena, n_groups, sizeof *candidates->firsts);
    if (candidates->nodes == NULL || candidates->firsts == NULL)
        return false;
    for (size_t i = 0; i < n_jobs; i++)
        candidates->nodes[i].group = NONE;
    for (size_t g = 0; g < n_groups; g++)
        candidates->firsts[g] = NONE;
    return true;
}

static bool has_less_key(const void *context, uint32_t a, uint32_t b)
{
    const struct slots_candidate *nodes = context;
    return nodes[a].key < nodes[b].key;
}

static inline struct pairing_items items_of(const struct slots_candidates *candidates)
{
    return (struct pairing_items){candidates->nodes, sizeof *candidates->nodes, has_less_key,
                                  candidates->nodes};
}

void slots_candidates_remove(struct slots_candidates *candidates, size_t job)
{
    const struct pairing_items items = items_of(candidates);
    struct slots_candidate *node = &candidates->nodes[job];
    if (node->group == NONE)
        return;
    uint32_t *first = &candidates->firsts[node->group];
    *first = pairing_heap_remove(&items, *first, (uint32_t)job);
    node->group = NONE;
}

void slots_candidates_put(struct slots_candidates *candidates,
                          size_t job,
                          size_t group,
                          uint64_t key)
{
    const struct pairing_items items = items_of(candidates);
    struct slots_candidate *node = &candidates->nodes[job];
    if (node->group == group && node->key == key)
        return;
    slots_candidates_remove(candidates, job);
    node->group = (uint32_t)group;
    node->key = key;
    candidates->firsts[group] = pairing_heap_add(&items, candidates->firsts[group], (uint32_t)job);
}

size_t slots_candidates_first(const struct slots_candidates *candidates, size_t group)
{
    uint32_t first = candidates->firsts[group];
    return first != NONE ? first : SLOTS_NOBODY;
}

uint64_t slots_candidates_key(const struct slots_candidates *candidates, size_t job)
{
    assert(candidates->nodes[job].group != NONE);
    return candidates->nodes[job].key;
}
