#ifndef CORE_SPARK_MEMORY_EVIDENCE_H
#define CORE_SPARK_MEMORY_EVIDENCE_H

#include "core/spark/memory_history.h"

/*
 * Evidence of the runs of a history for the memory that an executor needs at a load. The load is the
 * problem size per executor.
 *
 * Peaks count of the runs with at least that load; if there is none, of the runs with the largest
 * load, in proportion to the load. A run sufficed if it had at least that load and ended well: no
 * OutOfMemoryError, no executor killed at the limit of its container, hardly any spill and no long
 * garbage collection. What it had bounds the need from above, unless a newer run with as much did
 * not end well. Failures, spill and garbage collection of runs with more than twice the load show
 * nothing.
 */

/* A run that ran out of memory, or that sufficed, and what it had of the part in question. */
struct memory_mark {
    int64_t bytes; /* RUN_UNKNOWN: no run is of that kind */
    int64_t cores_per_executor;
    int64_t events;  /* executors and tasks lost by it */
    char run_id[37]; /* "": not stored */
};

struct memory_evidence {
    size_t runs_measured;       /* whose peaks count */
    bool is_as_large;           /* they had the load in question */
    size_t runs_sufficed;       /* of them, with no more heap than the base has */
    int64_t cores_per_executor; /* the most of those measured; RUN_UNKNOWN */
    struct memory_peaks peaks;  /* the largest, scaled to the load in question */
    /* The latest run with a load like that in question that succeeded: */
    double spilled_share;
    double spilled_bytes; /* as they lay in memory, per executor */
    double gc_share;
    int64_t heap_of_load; /* that it had; RUN_UNKNOWN */
    /* By heap: runs with an OutOfMemoryError, and those that sufficed. By overhead: runs with
     * executors killed at the limit of their container, and those that sufficed. */
    struct memory_mark heap_failed, heap_sufficed;
    struct memory_mark overhead_failed, overhead_sufficed;
};

/* From these shares on the latest run is short of memory; from a tenth of the spill or half of the
 * garbage collection on, its memory is not cut. */
#define MEMORY_SPILL_SHARE 0.1
#define MEMORY_GC_SHARE 0.1

/* executors: in question; RUN_UNKNOWN: those of the base. */
struct memory_evidence memory_evidence_of(const struct memory_history *history, int64_t executors);

/* Is a load of `of` the same as or larger than `load`? Also if either is unknown (NAN). */
bool memory_is_as_large(double of, double load);

/* Problem size per executor; NAN: the size is unknown. Executors that are unknown count as one. */
double memory_load(double problem_size, int64_t executors);

#endif
