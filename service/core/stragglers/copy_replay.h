#ifndef CORE_STRAGGLERS_COPY_REPLAY_H
#define CORE_STRAGGLERS_COPY_REPLAY_H

#include "base/arena.h"
#include "base/error.h"
#include "core/scheduling/speculation/esplash.h"

/*
 * A stage run again on the nodes it ran on, without copies of slow tasks or with them, by a rule
 * that decides on copies. Each task runs where it ran, in order of tasks, for as long as it took; a
 * copy runs on another node for as long as is given. Whichever ends first ends the other.
 */
struct copy_stage {
    const double *duration_s; /* by task, >= 0 */
    const double *copy_s;     /* by task: what a copy takes on an ordinary node, > 0 */
    const size_t *node;       /* by task */
    size_t n_tasks;
    const size_t *slots;   /* by node: tasks at once, >= 1 */
    const double *factors; /* by node: how much longer it takes than an ordinary one, > 0 */
    size_t n_nodes;
};

enum copy_rule {
    COPY_NONE,
    COPY_SPARK, /* once `quantile` of the tasks are done, each that has run longer than `multiplier`
                     times their median; the one that has run longest first */
    COPY_LATE,  /* late.h */
    COPY_ESPLASH, /* esplash.h */
    COPY_RULES
};

struct copy_terms {
    double quantile; /* 0 to 1 */
    double multiplier;
    const struct node_levels *levels; /* of the nodes, for COPY_ESPLASH */
    struct esplash_terms esplash;
    double looks_max; /* a replay that comes to more is given up; 0: no limit */
};

struct copy_outcome {
    double makespan_s;
    size_t copies;
    size_t useful;   /* copies that ended first */
    double wasted_s; /* time of attempts that were ended by the other one */
    double looks;    /* of decisions at nodes and running tasks: what the replay costs */
    bool given_up;   /* too many of them: all else is that of a part */
};

/*
 * COPY_SPARK decides at the very instant that a task becomes slow. COPY_LATE and COPY_ESPLASH decide
 * when a task has ended, at most once a second as YARN does, and know the progress of tasks, which
 * is taken as even. A copy takes a slot that no task of its node waits for: where `host` is not
 * given by the rule, on the node with most idle slots (the first of these), never that of the task.
 *
 * scratch is back at its mark. PV_E_MEMORY. O(tasks (log tasks + nodes + slots)) at most.
 */
enum pv_code copy_replay(const struct copy_stage *stage,
                         enum copy_rule rule,
                         const struct copy_terms *terms,
                         struct arena *scratch,
                         struct copy_outcome *outcome,
                         struct pv_error *err) PV_MUSTCHECK;

#endif
