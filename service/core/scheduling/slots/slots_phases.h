#ifndef CORE_SCHEDULING_SLOTS_SLOTS_PHASES_H
#define CORE_SCHEDULING_SLOTS_SLOTS_PHASES_H

#include "core/scheduling/slots/slots_policy.h"

/*
 * FRESH's lists M, P and R (J. Wang, dissertation, UMass Boston 2017, section 3.3): at most k jobs are
 * in the map phase, M, and at most k in the reduce phase, R. Jobs enter M in order of arrival, wait
 * in P from the end of their maps, and enter R from its head. Policies that go by them keep this
 * beside their own state, and pass on what they are notified of.
 */

/* Jobs in order of entry; each enters once. */
struct slots_job_list {
    size_t *jobs;
    size_t first;
    size_t n; /* entered so far */
};

struct slots_phases {
    size_t concurrency;                         /* k >= 1 */
    bool *in_phase[SLOTS_KINDS];                /* by job: it is in M, in R */
    size_t n_in_phase[SLOTS_KINDS];             /* |M|, |R| */
    struct slots_job_list waiting[SLOTS_KINDS]; /* for M, and P */
    void (*entered)(void *state, enum slots_kind phase, size_t job);
    void *state;
};

/* Nobody is anywhere. `entered` is called whenever a job enters a phase. false: out of memory. */
bool slots_phases_init(struct slots_phases *phases,
                       size_t concurrency,
                       size_t n_jobs,
                       void (*entered)(void *state, enum slots_kind phase, size_t job),
                       void *state,
                       struct arena *arena);

/* As in struct slots_policy. A job without maps goes straight to P; one without reduces never. */
void slots_phases_arrived(struct slots_phases *phases, size_t job, bool has_maps);
void slots_phases_maps_ended(struct slots_phases *phases, size_t job, bool has_reduces);
void slots_phases_job_ended(struct slots_phases *phases, size_t job);

/* Who enters a phase next; SLOTS_NOBODY: nobody waits for it. */
size_t slots_phases_next(const struct slots_phases *phases, enum slots_kind phase);

#endif
