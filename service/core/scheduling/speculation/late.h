#ifndef CORE_SCHEDULING_SPECULATION_LATE_H
#define CORE_SCHEDULING_SPECULATION_LATE_H

#include "base/arena.h"
#include "base/error.h"
#include "core/scheduling/speculation/speculation.h"

/*
 * Speculation as YARN does it (J. Wang, dissertation, UMass Boston 2017, eqs 5.1 and 5.2): the task
 * whose end a new copy is expected to beat by most gets one, whatever node it runs on.
 */
/* NAN: not known. */
struct late_candidate {
    struct speculation_place place;
    double remaining_s; /* eq. 5.1 less now; NAN at progress 0 */
    double copy_s;      /* eq. 5.2 less now: mean of all finished tasks of the type */
    double value_s;     /* remaining_s - copy_s */
};

struct late_decision {
    struct late_candidate *candidates; /* every running task, in order of nodes, then of tasks */
    size_t n_candidates;
    size_t action; /* the candidate that gets a copy; SPECULATION_NONE: none */
};

/* Which task gets a copy now. The decision is of `arena`. PV_E_MEMORY. O(types + finished + running). */
enum pv_code late_decide(const struct speculation_cluster *cluster,
                         struct arena *arena,
                         struct late_decision *decision,
                         struct pv_error *err) PV_MUSTCHECK;

#endif
