#ifndef CORE_SCHEDULING_SLOTS_CONTAINER_LINES_H
#define CORE_SCHEDULING_SLOTS_CONTAINER_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "core/scheduling/slots/slots_workload.h"

/*
 * Jobs that wait for containers, in lines: one for each size of containers and what the policy tells
 * apart. A job stands in one line at most for its maps, and in one for its reduces; the first of a line
 * is the one with the least key, of equal ones the first in order of arrival.
 *
 * Pairing heaps, as in slots_candidates.h: nothing fails after the beginning.
 */
struct container_place;

struct container_lines {
    struct container_place *places; /* by job, then kind */
    uint32_t *firsts;               /* by line */
};

#define CONTAINER_NO_LINE UINT32_MAX

/* Nobody waits. false: out of memory. n_jobs < 2^31. */
bool container_lines_init(struct container_lines *lines,
                          size_t n_jobs,
                          size_t n_lines,
                          struct arena *arena);

/* For tasks of the kind the job stands in this line from now on; CONTAINER_NO_LINE: in none. O(log n)
 * amortized. */
void container_lines_put(
    struct container_lines *lines, size_t job, enum slots_kind kind, uint32_t line, uint64_t key);

/* SLOTS_NOBODY: none. */
size_t container_lines_first(const struct container_lines *lines, size_t line);

uint32_t container_lines_of(const struct container_lines *lines, size_t job, enum slots_kind kind);
uint64_t container_lines_key(const struct container_lines *lines, size_t job, enum slots_kind kind);

#endif
