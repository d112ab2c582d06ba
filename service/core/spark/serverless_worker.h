#ifndef CORE_SPARK_SERVERLESS_WORKER_H
#define CORE_SPARK_SERVERLESS_WORKER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Executors on EMR Serverless. An executor is a worker of 1, 2, 4, 8 or 16 vCPUs, and each size has a
 * range of memory and a step (Amazon EMR Serverless User Guide, "Understanding application behavior",
 * table "Worker configurations and sizes"). Heap, overhead, off-heap and Python memory share the
 * memory of the worker.
 */
struct serverless_executor {
    int64_t cores;     /* >= 1 */
    int64_t task_cpus; /* >= 1 */
    int64_t heap_mib;
    int64_t overhead_mib; /* RUN_UNKNOWN: Spark's default, by the factor */
    double overhead_factor;
    int64_t off_heap_mib;
    int64_t python_mib;
};

/* The platform starts a job with so many executors, unless another number is set. */
enum { SERVERLESS_INITIAL_EXECUTORS = 3 };

/* Has the table a worker of so many vCPUs with so much memory? */
bool serverless_worker_exists(int64_t cores, int64_t mib);

/* Task slots of an executor: at least 1. */
int64_t serverless_slots(const struct serverless_executor *executor);

/*
 * The worker for an executor. Its memory for each task slot is that of the executor, or more. Of the
 * workers with enough memory the one with the fewest vCPUs for each task slot is chosen; of several
 * the one with as many slots as the executor, else the smallest with as many cores, else the largest.
 * spark.task.cpus grows, to a power of two, if a task needs more memory than its vCPUs can have. The
 * overhead receives the rest of the worker's memory, so that the sum is a size of the table.
 *
 * fitted  written only if a worker fits; overhead_mib is known
 *
 * False if no worker has enough memory for one task.
 */
bool serverless_worker_fit(const struct serverless_executor *executor,
                           struct serverless_executor *fitted);

#endif
