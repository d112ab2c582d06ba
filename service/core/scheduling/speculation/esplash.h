#ifndef CORE_SCHEDULING_SPECULATION_ESPLASH_H
#define CORE_SCHEDULING_SPECULATION_ESPLASH_H

#include "base/arena.h"
#include "base/error.h"
#include "core/scheduling/speculation/node_levels.h"
#include "core/scheduling/speculation/speculation.h"

/*
 * eSplash (J. Wang, dissertation, UMass Boston 2017, sections 5.2.2 and 5.2.3): a node whose tasks
 * are slow for its level is a straggler; the task there that gains most from a copy on other nodes
 * gets one, on a node of a minimum level. What differs from the paper: docs/design.md, "Speculative
 * copies".
 */
struct esplash_terms {
    double
        threshold; /* tau: straggler value from which on, exclusively, a node is a straggler; >= 0 */
    double duration_weight; /* of how far expected durations exceed the mean; >= 0 */
    double rate_weight;     /* of how far rates of progress fall behind; >= 0 */
    double deviation_floor; /* a deviation counts as at least this part of the mean; 0 < .. <= 1 */
    double ratio_cap;       /* what one ratio counts at most; >= 1 */
};

/* What is meant where nothing is said. */
extern const struct esplash_terms esplash_terms_default;

struct esplash_node {
    double straggler_value;
    bool straggler;
};

/* Statistics of one level and type of tasks of which something is known. */
struct esplash_statistics {
    size_t level;
    size_t type;
    size_t tasks;               /* finished */
    double mean_s;              /* NAN: none has finished */
    double deviation_s;         /* likewise */
    double progress_rate_per_s; /* mean of those known of running tasks; NAN: none is known */
};

enum esplash_reason {
    ESPLASH_ASSESSED,
    ESPLASH_NO_STATISTICS, /* no task of the type has finished anywhere */
    ESPLASH_NO_HOST /* no container from the task's level up on a node that is no straggler */
};

/* What a copy of a task would bring. */
struct esplash_candidate {
    struct speculation_place place;
    enum esplash_reason reason; /* unless ESPLASH_ASSESSED, what follows is NULL, 0 and NAN */
    const double *expected_s; /* of a copy from the task's level on, from the next one on, ...; NAN:
                                   no container there */
    size_t n_expected;        /* highest level - task's level + 1 */
    size_t min_level;         /* where expected_s is least */
    double value_s;           /* what is gained on average (Alg. 5.2.3) */
};

struct esplash_action {
    size_t candidate; /* that gets a copy; SPECULATION_NONE: none */
    size_t host;      /* node for the copy; SPECULATION_NONE: it has to wait for one */
};

struct esplash_decision {
    struct esplash_node *nodes;       /* by node */
    struct esplash_statistics *table; /* by level, then type */
    size_t n_table;
    struct esplash_candidate
        *candidates; /* tasks on stragglers, in order of nodes, then of tasks */
    size_t n_candidates;
    struct esplash_candidate *rechecks; /* tasks whose copy waits; to be kept while value_s is above
                                           0 (esplash_keeps) */
    size_t n_rechecks;
    struct esplash_action action;
};

/* Whether a copy that waits is still worth waiting for. O(1). */
bool esplash_keeps(const struct esplash_candidate *recheck);

/*
 * Which task gets a copy now, and what that is based on. All of the decision is of `arena`.
 * PV_E_MEMORY. O(nodes + finished + running + levels x (types that candidates have + candidates)).
 */
enum pv_code esplash_decide(const struct speculation_cluster *cluster,
                            const struct node_levels *levels,
                            const struct esplash_terms *terms,
                            struct arena *arena,
                            struct esplash_decision *decision,
                            struct pv_error *err) PV_MUSTCHECK;

#endif
