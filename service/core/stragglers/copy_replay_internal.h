#ifndef CORE_STRAGGLERS_COPY_REPLAY_INTERNAL_H
#define CORE_STRAGGLERS_COPY_REPLAY_INTERNAL_H

#include "base/heap.h"
#include "core/stragglers/copy_replay.h"

/* A task in a replay. */
struct replay_task {
    double began_s;
    double copy_began_s; /* NAN: it has no copy */
    double copy_takes_s;
    size_t host; /* of the copy */
    size_t at;   /* its place in `running`; SPECULATION_NONE: it is not there */
    bool done;
};

struct replay_node {
    size_t *queue; /* its tasks, in order */
    size_t n_queue;
    size_t next;
    size_t idle; /* slots that none of its tasks waits for */
    /* Of what has ended there. */
    size_t finished;
    double mean_s;
    double squares;
};

struct replay {
    const struct copy_stage *stage;
    const struct copy_terms *terms;
    double now_s;
    size_t done;
    size_t idle; /* over all nodes */
    struct replay_task *tasks;
    struct replay_node *nodes;
    size_t *running; /* tasks whose first attempt runs, in no order */
    size_t n_running;
    struct heap ends;  /* of attempts: 2 task, and 1 more for a copy */
    struct heap lower; /* durations of tasks done, by negative value: the lower half */
    struct heap upper;
    double decided_s; /* when a rule that waits a second decided last */
    struct copy_outcome outcome;
};

/* The node with most idle slots but that of the task; SPECULATION_NONE: there is none. */
size_t replay_find_host(const struct replay *replay, size_t task);

void replay_start_copy(struct replay *replay, size_t task, size_t host);

/* Copies by Spark's rule, now. Returns when the next task becomes slow; INFINITY: none does before
 * another ends. */
double replay_decide_spark(struct replay *replay);

/* Copies by a rule that sees the cluster, now (copy_decisions.c). */
enum pv_code replay_decide(struct replay *replay,
                           enum copy_rule rule,
                           struct arena *scratch,
                           struct pv_error *err) PV_MUSTCHECK;

#endif
