#ifndef OPERATION_PARTS_H
#define OPERATION_PARTS_H

#include "operation/operation.h"

/*
 * Work of an operation that falls into parts which do not depend on each other, done side by side
 * on threads of its own. Which thread does which part is left to chance: a result that is put
 * together part by part is the same for any number of threads.
 *
 * The thread of the operation reports the progress, hears when to stop, and waits while other
 * operations have their turn; so long the parts stand still where they report. What the threads
 * hold is counted as held by the operation.
 */
struct operation_part;

/* This part is so far: `done` of its share of the total. false: return PV_E_CANCELLED soon. May
 * return after minutes only. As often as every microsecond of work. */
bool operation_part_goes_on(struct operation_part *part, int64_t done);

struct operation_parts {
    size_t n;
    size_t threads; /* >= 1, at most */
    int64_t before; /* done before the parts began */
    int64_t total;  /* of the whole work */
    const char *unit;
    size_t scratch_bytes_max; /* of the memory that a thread works with; 0: no limit */
    /*
     * Do a part, in memory that is cleared before the next one. Called on several threads at a
     * time: what `context` refers to is only read, but for what belongs to the part. *done: its
     * share of the total.
     */
    enum pv_code (*work)(void *context,
                         size_t index,
                         struct operation_part *part,
                         struct arena *scratch,
                         int64_t *done,
                         struct pv_error *err);
    void *context;
};

/* Do all parts. Where some fail, the error is that of the first one by index, on any number of
 * threads: parts before one that failed are done to their ends, those after it are left. (How much
 * memory can be had depends on what others hold.)
 * PV_E_CANCELLED, and PV_E_UNAVAILABLE where no thread can be started. */
enum pv_code operation_parts_run(struct operation_run *run,
                                 const struct operation_parts *parts,
                                 struct pv_error *err) PV_MUSTCHECK;

#endif
