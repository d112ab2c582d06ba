#ifndef CORE_SCHEDULING_SLOTS_SLOTS_CANDIDATES_H
#define CORE_SCHEDULING_SLOTS_SLOTS_CANDIDATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/*
 * Jobs that wait for slots of one kind, in groups (queues, tenants), each job in one group at most;
 * the first of a group is the one with the least key, of equal ones any.
 *
 * Pairing heaps (core/sim/pairing_heap.h) whose nodes are the jobs': adding and looking at the first
 * cost O(1), taking out O(log n) amortized, and nothing fails after the beginning.
 */
struct slots_candidate;

struct slots_candidates {
    struct slots_candidate *nodes; /* by job */
    uint32_t *firsts;              /* by group */
};

/* Nobody waits. false: out of memory. n_jobs < 2^32 - 1. */
bool slots_candidates_init(struct slots_candidates *candidates,
                           size_t n_jobs,
                           size_t n_groups,
                           struct arena *arena);

/* The job is in this group with this key from now on, and in no other. */
void slots_candidates_put(struct slots_candidates *candidates,
                          size_t job,
                          size_t group,
                          uint64_t key);

/* Nothing happens where it is in no group. */
void slots_candidates_remove(struct slots_candidates *candidates, size_t job);

/* SLOTS_NOBODY: there is none. */
size_t slots_candidates_first(const struct slots_candidates *candidates, size_t group);

/* The key of a job that is in a group. */
uint64_t slots_candidates_key(const struct slots_candidates *candidates, size_t job);

#endif
