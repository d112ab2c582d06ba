#ifndef CORE_STRAGGLERS_CONCURRENT_STAGES_H
#define CORE_STRAGGLERS_CONCURRENT_STAGES_H

#include "base/arena.h"
#include "base/error.h"

/*
 * Stages that ran side by side, run again on the same slots with these divided among them in another
 * way. A slot that comes free takes the next task of the stage that the rule chooses among those with
 * tasks left; of equals the first.
 */
enum share_rule {
    SHARE_FIFO,     /* the stage that came first, as Spark does unless told otherwise */
    SHARE_FAIR,     /* the one with the fewest running tasks, as Spark's FAIR mode does */
    SHARE_SHORTEST, /* the one with the least task time left to start */
    SHARE_LONGEST,  /* the one with the most */
    SHARE_RULES
};

struct shared_stage {
    const double *durations_s; /* of its tasks, in order; >= 0 */
    size_t n_tasks;            /* >= 1 */
    double released_s;         /* not before this, >= 0, ... */
    const size_t *parents;     /* ... nor before these have ended: earlier stages of the list */
    size_t n_parents;
};

struct share_outcome {
    double makespan_s; /* when the last stage has ended */
    double mean_end_s; /* of the stages */
};

/* stages: in order of their start. slots >= 1. scratch is back at its mark. PV_E_MEMORY.
 * O(tasks (stages + log tasks)). */
enum pv_code concurrent_replay(const struct shared_stage stages[],
                               size_t n,
                               size_t slots,
                               enum share_rule rule,
                               struct arena *scratch,
                               struct share_outcome *outcome,
                               struct pv_error *err) PV_MUSTCHECK;

#endif
