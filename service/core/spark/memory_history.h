#ifndef CORE_SPARK_MEMORY_HISTORY_H
#define CORE_SPARK_MEMORY_HISTORY_H

#include "core/history/run.h"

/*
 * What the latest runs of an application show of the memory of its executors. Bytes; what is
 * unknown is RUN_UNKNOWN or NAN.
 */

/* Of one executor, as it is configured. */
struct memory_sizes {
    int64_t heap;     /* spark.executor.memory */
    int64_t overhead; /* spark.executor.memoryOverhead, or what Spark makes of its factor */
    int64_t off_heap; /* spark.memory.offHeap.size; 0: not enabled */
    int64_t pyspark;  /* spark.executor.pyspark.memory; 0: not limited on its own */
};

/* All of them: what YARN and Kubernetes are asked for. RUN_UNKNOWN where the heap is unknown. */
int64_t memory_sizes_total(const struct memory_sizes *sizes);

/* A run that ran out of memory, or that sufficed, and what it had of the part in question. */
struct memory_mark {
    int64_t bytes; /* RUN_UNKNOWN: there is no such run */
    int64_t cores_per_executor;
    int64_t events;  /* executors and tasks lost by it */
    char run_id[37]; /* "": not stored */
};

struct memory_history {
    size_t runs;             /* that were looked at */
    bool has_evidence;       /* peaks, or a run that ran out of memory */
    struct memory_sizes ran; /* the latest run whose heap is known, whatever became of it */
    bool overhead_explicit;  /* set in bytes, rather than by a factor */
    double overhead_factor;
    double memory_fraction; /* spark.memory.fraction */
    /* The most that runs used that ended well, scaled to the problem size in question where that
     * is larger than theirs. */
    size_t runs_measured;
    int64_t cores_per_executor; /* the most of those runs */
    double heap_use;
    double unified_use;
    double storage_use; /* of all executors of the run together */
    double off_heap_use;
    double non_heap_use;
    double process_use;
    double python_use;
    /* The latest run that ended well. */
    double spilled_share; /* bytes spilled to disk, of bytes read from storage and shuffles */
    double gc_share;      /* of the time that tasks computed */
    /* By heap: runs with an OutOfMemoryError, and those at least as large as the problem size that
     * ended well, with more than has failed since. By overhead: likewise, with executors killed at the limit of their container. */
    struct memory_mark heap_failed, heap_sufficed;
    struct memory_mark overhead_failed, overhead_sufficed;
};

/* runs: newest first, with their Spark properties and the metrics of the whole run, borrowed.
 * problem_size: in question; NAN: unknown. */
struct memory_history
memory_history_of_runs(const struct run runs[], size_t n, double problem_size);

#endif
