#ifndef CORE_SCHEDULING_SLOTS_SLOTS_EVIDENCE_H
#define CORE_SCHEDULING_SLOTS_SLOTS_EVIDENCE_H

#include "base/vector.h"
#include "core/scheduling/slots/slots_workload.h"
#include "core/scheduling/speculation/speculation.h"

/*
 * What nodes have finished, as decisions on speculation see it: by node and type of tasks, which are
 * a job's maps or its reduces, how many, their mean and their deviation.
 */
struct slots_evidence_type {
    size_t job;
    enum slots_kind kind;
    size_t first; /* of its figures */
    size_t nodes; /* that have finished such tasks */
    bool seen;    /* since slots_evidence_begin */
};

struct slots_evidence_figures;

struct slots_evidence {
    struct arena *arena;
    size_t n_nodes;
    bool levels_given; /* else types that all nodes have finished say what levels they are on */
    size_t (*types_of)[SLOTS_KINDS];          /* by job: place in types; SPECULATION_NONE: none */
    VECTOR(struct slots_evidence_type) types; /* in order of first sight */
    VECTOR(struct slots_evidence_figures) figures;
    uint32_t *table; /* by hash: one more than the place of figures; 0: none */
    size_t capacity; /* of the table, a power of two */
};

/* Nothing is known yet. Lives in the arena. false: out of memory. */
bool slots_evidence_init(struct slots_evidence *evidence,
                         size_t n_nodes,
                         size_t n_jobs,
                         bool levels_given,
                         struct arena *arena);

/* Tasks have ended on a node that each took this long. false: out of memory. O(1), amortized. */
bool slots_evidence_add(struct slots_evidence *evidence,
                        size_t node,
                        size_t job,
                        enum slots_kind kind,
                        double task_s,
                        size_t count);

/* Types are numbered anew, without those that are no longer needed, and none is seen yet. O(types). */
void slots_evidence_begin(struct slots_evidence *evidence);

/* The number of a type, among evidence->types.n, until the next slots_evidence_begin; it is seen.
 * SPECULATION_NONE: out of memory. O(1). */
size_t slots_evidence_type(struct slots_evidence *evidence, size_t job, enum slots_kind kind);

/* Its types are no longer needed, unless levels are found by them. O(1). */
void slots_evidence_job_ended(struct slots_evidence *evidence, size_t job);

/* Fill in what each node has finished, in the arena; types in order of first sight, and where levels
 * are given only those that were seen, as a decision goes by the types of tasks that run. false: out of
 * memory. O(nodes + types + figures of these). */
bool slots_evidence_take(struct slots_evidence *evidence,
                         struct arena *arena,
                         struct speculation_node nodes[]);

#endif
