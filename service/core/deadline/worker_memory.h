#ifndef CORE_DEADLINE_WORKER_MEMORY_H
#define CORE_DEADLINE_WORKER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

/*
 * The memory of one worker among the applications that run there: each has a heap of its own, and
 * what no heap takes is shared evenly, as off-heap memory, by those that use it (S. Ripamonti,
 * xSpark, thesis, Politecnico di Milano 2017, section 3.4 and table 3.1; docs/design.md, "Memory
 * plans"). All sizes are bytes, 0 to 2^53 - 1.
 */
struct worker_memory_application {
    int64_t heap_bytes; /* >= 1 */
    double deadline_s;  /* NAN: none */
    bool off_heap;      /* it uses off-heap memory */
};

enum worker_memory_order { WORKER_MEMORY_GIVEN, WORKER_MEMORY_EARLIEST_DEADLINE };

enum { WORKER_MEMORY_NONE = -1 };

struct worker_memory_share {
    bool starts;            /* else it waits, and the sizes are WORKER_MEMORY_NONE */
    int64_t off_heap_bytes; /* 0: it uses none */
    int64_t total_bytes;    /* heap and off-heap */
    /* Off-heap memory of every remaining user once it has ended; WORKER_MEMORY_NONE: none remains. */
    int64_t after_end_bytes;
};

struct worker_memory {
    size_t running;
    size_t users;             /* of off-heap memory, among them */
    int64_t heap_bytes;       /* theirs together */
    int64_t pool_bytes;       /* what no heap takes */
    int64_t each_bytes;       /* off-heap memory of each user; WORKER_MEMORY_NONE: there is none */
    int64_t equal_heap_bytes; /* of each application, were the whole memory heap and cut evenly */
};

struct worker_memory_newcomer {
    bool starts;
    /* Off-heap memory of each user then; WORKER_MEMORY_NONE: it does not start, or none uses any. */
    int64_t each_bytes;
};

/*
 * Launch n >= 1 applications in their order: whose heap fits in what is left starts, the others
 * wait. Equal deadlines: the earlier index first. shares[i] belongs to applications[i].
 *
 * scratch is back at its mark when the call returns; nothing is written but on PV_OK. PV_E_MEMORY.
 * O(n log n) time, O(n) for the order as given.
 */
enum pv_code worker_memory_share_out(int64_t system_bytes,
                                     enum worker_memory_order order,
                                     const struct worker_memory_application applications[],
                                     size_t n,
                                     struct arena *scratch,
                                     struct worker_memory_share shares[],
                                     struct worker_memory *plan,
                                     struct pv_error *err) PV_MUSTCHECK;

/* What one more application finds, and leaves to all users. */
struct worker_memory_newcomer
worker_memory_admit(const struct worker_memory *plan, int64_t heap_bytes, bool off_heap);

#endif
