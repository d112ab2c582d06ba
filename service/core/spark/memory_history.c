#include "core/spark/memory_history.h"

#include <math.h>
#include <stdio.h>

#include "core/spark/native_engine.h"
#include "core/spark/property_value.h"

#define MIB (INT64_C(1) << 20)

/* Spark's defaults. */
static const int64_t DEFAULT_HEAP = 1024 * MIB;
static const double DEFAULT_OVERHEAD_FACTOR = 0.1;
static const double DEFAULT_MEMORY_FRACTION = 0.6;

int64_t memory_sizes_total(const struct memory_sizes *sizes)
{
    if (sizes->heap == RUN_UNKNOWN)
        return RUN_UNKNOWN;
    return sizes->heap + sizes->overhead + sizes->off_heap + sizes->pyspark;
}

/* --- what a run was configured with --- */

static struct strview property_of(const struct run *run, const char *key)
{
    return property_find(run->spark_properties, run->n_spark_properties, key);
}

/* 0 where it is not set. */
static int64_t size_of(const struct run *run, const char *key, int64_t unit)
{
    int64_t bytes = property_size(property_of(run, key), unit);
    return bytes == RUN_UNKNOWN ? 0 : bytes;
}

static int64_t heap_of(const struct run *run)
{
    int64_t heap = property_size(property_of(run, "spark.executor.memory"), MIB);
    if (heap != RUN_UNKNOWN)
        return heap;
    if (run->n_resources > 0 && run->resources[0].executor_memory_bytes > 0)
        return run->resources[0].executor_memory_bytes;
    return run->n_spark_properties > 0 ? DEFAULT_HEAP : RUN_UNKNOWN;
}

/* Kubernetes had a factor of its own before Spark 3.3. */
static double overhead_factor_of(const struct run *run)
{
    double factor = property_number(property_of(run, "spark.executor.memoryOverheadFactor"));
    if (isnan(factor))
        factor = property_number(property_of(run, "spark.kubernetes.memoryOverheadFactor"));
    return factor > 0 ? factor : DEFAULT_OVERHEAD_FACTOR;
}

static int64_t overhead_of(const struct run *run, int64_t heap)
{
    int64_t overhead = property_size(property_of(run, "spark.executor.memoryOverhead"), MIB);
    if (overhead != RUN_UNKNOWN)
        return overhead;
    return property_default_overhead(heap, overhead_factor_of(run));
}

static struct memory_sizes sizes_of(const struct run *run)
{
    bool off_heap = property_boolean(property_of(run, "spark.memory.offHeap.enabled"), false);
    int64_t heap = heap_of(run);
    return (struct memory_sizes){
        .heap = heap,
        .overhead = heap == RUN_UNKNOWN ? RUN_UNKNOWN : overhead_of(run, heap),
        .off_heap = off_heap ? size_of(run, "spark.memory.offHeap.size", 1) : 0,
        .pyspark = size_of(run, "spark.executor.pyspark.memory", MIB)};
}

/* --- what it used --- */

static double known(int64_t bytes)
{
    return bytes > 0 ? (double)bytes : (double)NAN;
}

static double share_of(double part, double whole)
{
    return part >= 0 && whole > 0 ? part / whole : (double)NAN;
}

static struct memory_run look_at(const struct run *run)
{
    const struct run_metrics *metrics = &run->metrics;
    double read =
        fmax(0.0, (double)metrics->input_bytes) + fmax(0.0, (double)metrics->shuffle_read_bytes);
    struct memory_run seen = {
        .problem_size = run->problem_size > 0 ? run->problem_size : (double)NAN,
        .executors = run->executors,
        .cores_per_executor = run->cores_per_executor,
        .had = sizes_of(run),
        .succeeded = run->succeeded,
        .is_measured = metrics->peak_jvm_heap_bytes > 0,
        .peaks = {.heap = known(metrics->peak_jvm_heap_bytes),
                  .unified = known(metrics->peak_unified_memory_bytes),
                  .storage = known(metrics->peak_storage_memory_bytes) *
                             (run->executors > 0 ? (double)run->executors : 1.0),
                  .off_heap = known(metrics->peak_off_heap_memory_bytes),
                  .non_heap = known(metrics->peak_jvm_non_heap_bytes),
                  .process = known(metrics->peak_process_memory_bytes),
                  .python = known(metrics->peak_python_memory_bytes)},
        .out_of_memory_errors = run->out_of_memory_errors,
        .memory_limit_kills = run->memory_limit_kills,
        .spilled_share = share_of((double)metrics->disk_spilled_bytes, read),
        .spilled_bytes = known(metrics->memory_spilled_bytes),
        .gc_share = share_of(metrics->gc_time_s, metrics->executor_run_time_s)};
    (void)snprintf(seen.run_id, sizeof seen.run_id, "%.36s", run->id);
    return seen;
}

/* --- all of them --- */

static void take_base(const struct run *run, size_t i, struct memory_history *history)
{
    double fraction = property_number(property_of(run, "spark.memory.fraction"));
    history->base = i;
    history->ran = history->items[i].had;
    history->overhead_explicit = property_of(run, "spark.executor.memoryOverhead").at != NULL;
    history->overhead_factor = overhead_factor_of(run);
    history->memory_fraction = fraction > 0 && fraction < 1 ? fraction : DEFAULT_MEMORY_FRACTION;
    history->plugin = native_engine_of_run(run);
}

void memory_history_take(const struct run runs[],
                         size_t n,
                         double problem_size,
                         struct memory_history *history)
{
    *history = (struct memory_history){.problem_size = problem_size,
                                       .n = n < MEMORY_RUNS_MAX ? n : MEMORY_RUNS_MAX,
                                       .ran = {.heap = RUN_UNKNOWN},
                                       .overhead_factor = DEFAULT_OVERHEAD_FACTOR,
                                       .memory_fraction = DEFAULT_MEMORY_FRACTION};
    bool any_succeeded = false;
    history->base = history->n;
    for (size_t i = 0; i < history->n; i++) {
        struct memory_run *seen = &history->items[i];
        *seen = look_at(&runs[i]);
        bool has_heap = seen->had.heap != RUN_UNKNOWN;
        if (has_heap && (history->base == history->n || (seen->succeeded && !any_succeeded)))
            take_base(&runs[i], i, history);
        any_succeeded = any_succeeded || (has_heap && seen->succeeded);
        history->has_evidence =
            history->has_evidence || (seen->succeeded && seen->is_measured) ||
            (has_heap && (seen->out_of_memory_errors > 0 || seen->memory_limit_kills > 0));
    }
}
