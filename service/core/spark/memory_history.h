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

/* The most that a run used of each part, of one executor. NAN: not measured. */
struct memory_peaks {
    double heap;
    double unified;
    double storage; /* of all executors of the run together */
    double off_heap;
    double non_heap;
    double process;
    double python;
};

/* Memory of one run: configured, used, and short of. */
struct memory_run {
    char run_id[37];     /* "": not stored */
    double problem_size; /* NAN */
    int64_t executors;   /* RUN_UNKNOWN */
    int64_t cores_per_executor;
    struct memory_sizes had; /* heap RUN_UNKNOWN: no property or resource specifies the heap */
    bool succeeded;
    bool is_measured; /* the peak of the heap is known */
    struct memory_peaks peaks;
    int64_t out_of_memory_errors; /* executors and tasks lost by one */
    int64_t memory_limit_kills;   /* executors killed at the limit of their container */
    double spilled_share; /* bytes spilled to disk, of bytes read from storage and shuffles */
    double spilled_bytes; /* as they lay in memory, of all executors */
    double gc_share;      /* of the time that tasks computed */
};

enum { MEMORY_RUNS_MAX = 20 };

struct memory_history {
    double problem_size;                      /* in question; NAN: unknown */
    struct memory_run items[MEMORY_RUNS_MAX]; /* newest first */
    size_t n;
    bool has_evidence; /* peaks, or a run that ran out of memory */
    /* The latest run that succeeded and whose heap is known; if no run succeeded, the latest whose
     * heap is known. `ran` may be replaced by what the caller runs with. */
    struct memory_sizes ran;
    size_t base;            /* of items, that run; n: unknown, or replaced */
    bool overhead_explicit; /* set in bytes, rather than by a factor */
    double overhead_factor;
    double memory_fraction; /* spark.memory.fraction */
    const char *plugin; /* that computes off the heap (core/spark/native_engine.h); NULL: none */
};

/*
 * Fills in *history from the newest MEMORY_RUNS_MAX runs.
 *
 * runs          newest first, with their Spark properties and the metrics of the whole run, borrowed
 *               during the call.
 * problem_size  in question; NAN: unknown.
 */
void memory_history_take(const struct run runs[],
                         size_t n,
                         double problem_size,
                         struct memory_history *history);

#endif
