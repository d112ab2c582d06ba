#ifndef CORE_SCHEDULING_SLOTS_SLOTS_SPANS_H
#define CORE_SCHEDULING_SLOTS_SLOTS_SPANS_H

#include "base/arena.h"
#include "core/scheduling/slots/slots_workload.h"

/* When slots were held, and by whom: for a picture of a simulation (a Gantt chart). */

/* Tasks of a job that held slots of a node together. */
struct slots_span {
    size_t job;
    enum slots_kind kind; /* of the tasks */
    size_t node;          /* 0 where the cluster has none */
    size_t count;
    double given_s; /* the slots */
    double begun_s; /* to work; NAN: never */
    double end_s;
    bool is_copy;
    bool finished; /* and not stopped, or lost with the node */
};

/* Kept up to so many tasks; those that end later are counted only. */
struct slots_spans {
    struct slots_span *items; /* room for `most` */
    size_t n;
    size_t most; /* tasks */
    size_t tasks;
    size_t omitted; /* tasks */
};

/* Room for this many tasks, in the arena. false: out of memory. */
bool slots_spans_init(struct slots_spans *spans, size_t most, struct arena *arena);

void slots_spans_add(struct slots_spans *spans, const struct slots_span *span);

/* One task in one slot; slots of a node and kind are numbered from 0. */
struct slots_bar {
    const struct slots_span *span;
    size_t slot;
};

/*
 * A slot for each task, in order of when they were given: one that no other held at that time, first
 * those that came free last. shared: slots have no fixed kind. bars has room for spans->tasks. scratch
 * is back at its mark. false: out of memory. O(n log n + nodes).
 */
bool slots_spans_place(struct slots_spans *spans,
                       size_t n_nodes,
                       bool shared,
                       struct arena *scratch,
                       struct slots_bar bars[]);

#endif
