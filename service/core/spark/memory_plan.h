#ifndef CORE_SPARK_MEMORY_PLAN_H
#define CORE_SPARK_MEMORY_PLAN_H

#include "base/arena.h"
#include "base/error.h"
#include "core/spark/memory_evidence.h"
#include "core/spark/property_value.h"

/*
 * How much memory executors are to have.
 *
 * Memory grows only if runs show that it is short: the heap by half after an OutOfMemoryError, or
 * after a tenth of the data was spilled to disk (by no more than was spilled), by a quarter after a
 * tenth of the time went to collecting garbage while the heap was filled; the overhead to twice as
 * much after executors were killed at the limit of their container. What sufficed for a run with at
 * least that load is enough. A peak near the heap is not a need: a JVM fills the heap that it has.
 * More cores per executor than the runs had get as much heap per core, if the peaks ask for it. No
 * executor grows above most_per_core, nor above what the cluster has for one.
 *
 * Memory is cut only if least_runs runs with at least that load sufficed with as much as now or
 * less: to their peaks and a fifth, but at most to one half in one step. The heap of a plugin that
 * computes off the heap is not cut. An overhead that was set in bytes is not cut either; one that
 * follows the heap is cut only as far as its use was measured.
 *
 * A plan is a proposal (PROPOSAL_MEMORY) unless the caller applies it. Only a heap that grows with more
 * cores per executor than ran is not: the same heap would not suffice for more tasks.
 */

/* Above 16 GiB a core, fewer cores per executor or more partitions help more than memory. */
#define MEMORY_PER_CORE_MAX (INT64_C(16) << 30)
/* After fewer runs nothing is cut. */
enum { MEMORY_CUT_RUNS = 5 };

enum memory_basis {
    MEMORY_AS_RAN,
    MEMORY_PEAK_USE,
    MEMORY_OUT_OF_MEMORY,
    MEMORY_CONTAINER_LIMIT,
    MEMORY_SPILL,
    MEMORY_GARBAGE_COLLECTION,
    MEMORY_ENFORCED,
    MEMORY_BASES
};

/* Its name on the wire. */
const char *memory_basis_name(enum memory_basis basis);

struct memory_question {
    int64_t cores_per_executor; /* recommended; RUN_UNKNOWN: as ran */
    int64_t executors;          /* likewise */
    int64_t most_per_executor;  /* bytes that the cluster has for an executor; RUN_UNKNOWN */
    int64_t most_per_core;      /* bytes to which memory may grow; 0: MEMORY_PER_CORE_MAX */
    size_t cut_runs;            /* that a cut needs; 0: MEMORY_CUT_RUNS */
    struct memory_sizes fixed;  /* to stay as given; RUN_UNKNOWN: free */
    bool applied;               /* the caller asks for changes of memory */
};

enum { MEMORY_PROPERTIES = 4 };

/* A cut leaves so many times the peaks. */
#define MEMORY_MARGIN 1.2

struct memory_plan {
    bool known; /* false: the history shows nothing of memory */
    struct memory_sizes sizes;
    struct memory_sizes ran;
    struct memory_sizes set; /* by the properties: `sizes` if applied, else what ran */
    bool applied;            /* the question's, or nothing of the plan is a proposal */
    enum memory_basis basis; /* of the heap, or of what is changed beside it */
    struct memory_evidence evidence;
    double needed_heap; /* by the peaks, without margin, at most what ran; NAN: unknown */
    bool too_large;     /* for the cluster's executors, so that nothing is changed */
    bool cut_to_fit;    /* the cluster's executors: with the heap that ran they are too large */
    bool held_back;     /* it would be larger but for the cluster's executors */
    bool held_back_by_cores; /* most_per_core makes it smaller */
    const char *kept_for;    /* plugin for which the heap is not cut; NULL: there is none */
    struct spark_property_plan properties[MEMORY_PROPERTIES]; /* that differ from what ran */
    size_t n_properties;
};

/* Texts live in `arena`. PV_E_MEMORY. */
enum pv_code memory_plan_make(const struct memory_history *history,
                              const struct memory_question *question,
                              struct arena *arena,
                              struct memory_plan *plan,
                              struct pv_error *err) PV_MUSTCHECK;

/* The class of machines whose memory per core the executor fits, by the ratios that cloud
 * providers share: compute_optimized (2 GiB a core), general_purpose (4), memory_optimized (8);
 * NULL: more than these. */
const char *memory_machine_class(int64_t bytes, int64_t cores);

#endif
