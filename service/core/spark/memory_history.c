#include "core/spark/memory_history.h"

#include <math.h>
#include <stdio.h>

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

static void raise(double *most, int64_t bytes, double times)
{
    if (bytes > 0)
        *most = fmax(isnan(*most) ? 0.0 : *most, (double)bytes * times);
}

static bool is_measured(const struct run *run)
{
    return run->metrics.peak_jvm_heap_bytes > 0;
}

/* How much more it would use at that problem size: in proportion, if it grows. */
static double growth_of(const struct run *run, double problem_size)
{
    return run->problem_size > 0 && problem_size > run->problem_size
               ? problem_size / run->problem_size
               : 1.0;
}

static void see_use(struct memory_history *history, const struct run *run, double problem_size)
{
    const struct run_metrics *metrics = &run->metrics;
    double growth = growth_of(run, problem_size);
    double executors = run->executors > 0 ? (double)run->executors : 1.0;
    history->runs_measured++;
    if (run->cores_per_executor > history->cores_per_executor)
        history->cores_per_executor = run->cores_per_executor;
    raise(&history->heap_use, metrics->peak_jvm_heap_bytes, growth);
    raise(&history->unified_use, metrics->peak_unified_memory_bytes, growth);
    raise(&history->storage_use, metrics->peak_storage_memory_bytes, growth * executors);
    raise(&history->off_heap_use, metrics->peak_off_heap_memory_bytes, growth);
    raise(&history->python_use, metrics->peak_python_memory_bytes, growth);
    raise(&history->process_use, metrics->peak_process_memory_bytes, growth);
    raise(&history->non_heap_use, metrics->peak_jvm_non_heap_bytes, 1.0);
}

static void see_pressure(struct memory_history *history, const struct run *run)
{
    const struct run_metrics *metrics = &run->metrics;
    double read =
        fmax(0.0, (double)metrics->input_bytes) + fmax(0.0, (double)metrics->shuffle_read_bytes);
    if (metrics->disk_spilled_bytes >= 0 && read > 0)
        history->spilled_share = (double)metrics->disk_spilled_bytes / read;
    if (metrics->executor_run_time_s > 0)
        history->gc_share = metrics->gc_time_s / metrics->executor_run_time_s;
}

/* --- runs out of memory --- */

static struct memory_mark mark_of(const struct run *run, int64_t bytes, int64_t events)
{
    struct memory_mark mark = {
        .bytes = bytes, .cores_per_executor = run->cores_per_executor, .events = events};
    (void)snprintf(mark.run_id, sizeof mark.run_id, "%.36s", run->id);
    return mark;
}

/* Runs come newest first. */
static void see_outcome(const struct run *run,
                        int64_t bytes,
                        int64_t events,
                        double problem_size,
                        struct memory_mark *failed,
                        struct memory_mark *sufficed)
{
    bool as_large = isnan(problem_size) || !(run->problem_size < 0.99 * problem_size);
    if (bytes == RUN_UNKNOWN)
        return;
    if (events > 0 && bytes > failed->bytes)
        *failed = mark_of(run, bytes, events);
    /* What failed again with as much since then did not suffice. */
    if (events == 0 && run->succeeded && as_large && bytes > failed->bytes &&
        (sufficed->bytes == RUN_UNKNOWN || bytes < sufficed->bytes))
        *sufficed = mark_of(run, bytes, 0);
}

struct memory_history memory_history_of_runs(const struct run runs[], size_t n, double problem_size)
{
    static const struct memory_mark none = {.bytes = RUN_UNKNOWN};
    struct memory_history history = {
        .runs = n,
        .ran = {.heap = RUN_UNKNOWN},
        .overhead_factor = DEFAULT_OVERHEAD_FACTOR,
        .memory_fraction = DEFAULT_MEMORY_FRACTION,
        .cores_per_executor = RUN_UNKNOWN,
        .heap_use = (double)NAN,
        .unified_use = (double)NAN,
        .storage_use = (double)NAN,
        .off_heap_use = (double)NAN,
        .non_heap_use = (double)NAN,
        .process_use = (double)NAN,
        .python_use = (double)NAN,
        .spilled_share = (double)NAN,
        .gc_share = (double)NAN,
        .heap_failed = none,
        .heap_sufficed = none,
        .overhead_failed = none,
        .overhead_sufficed = none,
    };
    bool any_succeeded = false;
    for (size_t i = 0; i < n; i++) {
        const struct run *run = &runs[i];
        const struct memory_sizes sizes = sizes_of(run);
        if (history.ran.heap == RUN_UNKNOWN && sizes.heap != RUN_UNKNOWN) {
            double fraction = property_number(property_of(run, "spark.memory.fraction"));
            history.ran = sizes;
            history.overhead_explicit =
                property_of(run, "spark.executor.memoryOverhead").at != NULL;
            history.overhead_factor = overhead_factor_of(run);
            if (fraction > 0 && fraction < 1)
                history.memory_fraction = fraction;
        }
        see_outcome(run, sizes.heap, run->out_of_memory_errors, problem_size, &history.heap_failed,
                    &history.heap_sufficed);
        see_outcome(run, sizes.overhead, run->memory_limit_kills, problem_size,
                    &history.overhead_failed, &history.overhead_sufficed);
        if (run->succeeded && is_measured(run))
            see_use(&history, run, problem_size);
        if (run->succeeded && !any_succeeded)
            see_pressure(&history, run);
        any_succeeded = any_succeeded || run->succeeded;
    }
    history.has_evidence = history.runs_measured > 0 || history.heap_failed.bytes != RUN_UNKNOWN ||
                           history.overhead_failed.bytes != RUN_UNKNOWN;
    return history;
}
