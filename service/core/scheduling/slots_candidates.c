#include "core/scheduling/slots_candidates.h"

#include <assert.h>

#include "core/scheduling/slots_workload.h"

#define NONE UINT32_MAX

struct slots_candidate {
    uint64_t key;
    uint32_t group;   /* NONE: in no group */
    uint32_t child;   /* the first one */
    uint32_t sibling; /* the next one */
    uint32_t
        back; /* the sibling before it, of a first child the parent; NONE: first of its group */
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

/* Two heaps, of which either may be empty, become one; their first jobs have no siblings. */
static uint32_t join(struct slots_candidate *nodes, uint32_t a, uint32_t b)
{
    if (a == NONE || b == NONE)
        return a == NONE ? b : a;
    uint32_t first = nodes[a].key < nodes[b].key ? a : b;
    uint32_t other = first == a ? b : a;
    uint32_t child = nodes[first].child;
    nodes[other].sibling = child;
    nodes[other].back = first;
    if (child != NONE)
        nodes[child].back = other;
    nodes[first].child = other;
    return first;
}

static uint32_t detach(struct slots_candidate *nodes, uint32_t node)
{
    uint32_t next = nodes[node].sibling;
    nodes[node].sibling = NONE;
    nodes[node].back = NONE;
    return next;
}

/* Siblings become one heap: pairs from the first to the last, then from the last pair back. */
static uint32_t join_siblings(struct slots_candidate *nodes, uint32_t node)
{
    uint32_t pairs = NONE; /* the last one first, linked by their siblings */
    uint32_t joined = NONE;
    while (node != NONE) {
        uint32_t other = detach(nodes, node);
        uint32_t next = other != NONE ? detach(nodes, other) : NONE;
        uint32_t pair = join(nodes, node, other);
        nodes[pair].sibling = pairs;
        pairs = pair;
        node = next;
    }
    while (pairs != NONE) {
        uint32_t next = detach(nodes, pairs);
        joined = join(nodes, joined, pairs);
        pairs = next;
    }
    return joined;
}

void slots_candidates_remove(struct slots_candidates *candidates, size_t job)
{
    struct slots_candidate *nodes = candidates->nodes;
    struct slots_candidate *node = &nodes[job];
    if (node->group == NONE)
        return;
    uint32_t below = join_siblings(nodes, node->child);
    if (node->back == NONE) {
        candidates->firsts[node->group] = below;
    } else {
        if (nodes[node->back].child == job)
            nodes[node->back].child = node->sibling;
        else
            nodes[node->back].sibling = node->sibling;
        if (node->sibling != NONE)
            nodes[node->sibling].back = node->back;
        candidates->firsts[node->group] = join(nodes, candidates->firsts[node->group], below);
    }
    node->group = NONE;
}

void slots_candidates_put(struct slots_candidates *candidates,
                          size_t job,
                          size_t group,
                          uint64_t key)
{
    struct slots_candidate *node = &candidates->nodes[job];
    if (node->group == group && node->key == key)
        return;
    slots_candidates_remove(candidates, job);
    *node = (struct slots_candidate){key, (uint32_t)group, NONE, NONE, NONE};
    candidates->firsts[group] = join(candidates->nodes, candidates->firsts[group], (uint32_t)job);
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
