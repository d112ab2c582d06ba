#include <criterion/criterion.h>
#include <math.h>

#include "core/spark/memory_cases.h"
#include "core/spark/memory_evidence.h"

/* What recorded runs show of their memory. */

/* Each figure of a run, and what is unknown. */
Test(spark_memory_history, what_a_run_shows)
{
    struct memory_history history;
    struct run run = run_with(sixteen_and_overhead, 2, 5 * GIB);
    run.metrics.peak_unified_memory_bytes = 6;
    run.metrics.peak_storage_memory_bytes = 7;
    run.metrics.peak_off_heap_memory_bytes = 8;
    run.metrics.peak_jvm_non_heap_bytes = 9;
    run.metrics.peak_process_memory_bytes = 10;
    run.metrics.peak_python_memory_bytes = 11;
    run.metrics.input_bytes = 60;
    run.metrics.shuffle_read_bytes = 40;
    run.metrics.disk_spilled_bytes = 25;
    run.metrics.memory_spilled_bytes = 75;
    run.metrics.gc_time_s = 3;
    run.metrics.executor_run_time_s = 12;
    run.out_of_memory_errors = 2;
    run.memory_limit_kills = 3;
    memory_history_take(&run, 1, 64, &history);
    const struct memory_run *seen = &history.items[0];
    cr_assert_eq(history.n, 1);
    cr_expect(seen->problem_size == 64 && seen->executors == 4 && seen->cores_per_executor == 4);
    cr_expect(seen->had.heap == 16 * GIB && seen->had.overhead == 16 * GIB);
    cr_expect(seen->succeeded && seen->is_measured && history.overhead_explicit);
    cr_expect(seen->peaks.heap == 5.0 * GIB && seen->peaks.unified == 6);
    cr_expect_eq(seen->peaks.storage, 28, "of all executors");
    cr_expect(seen->peaks.off_heap == 8 && seen->peaks.non_heap == 9);
    cr_expect(seen->peaks.process == 10 && seen->peaks.python == 11);
    cr_expect(seen->out_of_memory_errors == 2 && seen->memory_limit_kills == 3);
    cr_expect(seen->spilled_share == 0.25 && seen->spilled_bytes == 75 && seen->gc_share == 0.25);
    run.executors = RUN_UNKNOWN;
    run.problem_size = 0;
    run.metrics.shuffle_read_bytes = RUN_UNKNOWN;
    run.metrics.disk_spilled_bytes = 0;
    run.metrics.peak_python_memory_bytes = 0;
    memory_history_take(&run, 1, 64, &history);
    cr_expect_eq(seen->peaks.storage, 7);
    cr_expect(isnan(seen->problem_size) && isnan(seen->peaks.python));
    cr_expect_eq(seen->spilled_share, 0);
    run.metrics.disk_spilled_bytes = 30;
    run.metrics.executor_run_time_s = 0;
    memory_history_take(&run, 1, 64, &history);
    cr_expect_eq(seen->spilled_share, 0.5);
    cr_expect(isnan(seen->gc_share));
    run.metrics.disk_spilled_bytes = RUN_UNKNOWN;
    run.metrics.peak_jvm_heap_bytes = 0;
    memory_history_take(&run, 1, 64, &history);
    cr_expect(isnan(seen->spilled_share) && !seen->is_measured);
}

/* Without the property the resource profile specifies the heap, if its size is known. */
Test(spark_memory_history, a_heap_of_the_resource_profile)
{
    struct memory_history history;
    struct run_resources resources = {.executor_memory_bytes = 6 * GIB};
    struct run run = run_with(NULL, 0, GIB);
    run.resources = &resources;
    run.n_resources = 1;
    memory_history_take(&run, 1, 64, &history);
    cr_expect_eq(history.items[0].had.heap, 6 * GIB);
    resources.executor_memory_bytes = 0;
    memory_history_take(&run, 1, 64, &history);
    cr_expect_eq(history.items[0].had.heap, RUN_UNKNOWN);
    run.spark_properties = eight_gib;
    run.n_spark_properties = 1;
    resources.executor_memory_bytes = 6 * GIB;
    memory_history_take(&run, 1, 64, &history);
    cr_expect_eq(history.items[0].had.heap, 8 * GIB);
}

static struct run_label overhead_of_one[] = {PROPERTY("spark.executor.memory", "8g"),
                                             PROPERTY("spark.executor.memoryOverhead", "1g")};
static struct run_label overhead_of_two[] = {PROPERTY("spark.executor.memory", "8g"),
                                             PROPERTY("spark.executor.memoryOverhead", "2g")};

/* The overhead that failed and the one that sufficed later; a run that failed does not suffice. */
Test(spark_memory_history, overheads_that_failed_and_sufficed)
{
    struct memory_history history;
    struct run runs[] = {run_with(overhead_of_two, 2, 7 * GIB),
                         run_with(overhead_of_one, 2, 7 * GIB)};
    runs[1].memory_limit_kills = 2;
    memory_history_take(runs, 2, 64, &history);
    struct memory_evidence evidence = memory_evidence_of(&history, 4);
    cr_expect_eq(evidence.overhead_failed.bytes, GIB);
    cr_expect_eq(evidence.overhead_failed.events, 2);
    cr_expect_eq(evidence.overhead_sufficed.bytes, 2 * GIB);
    cr_expect_eq(evidence.heap_failed.bytes, RUN_UNKNOWN);
    cr_expect_eq(evidence.heap_sufficed.bytes, 8 * GIB);
    runs[1].memory_limit_kills = 0;
    memory_history_take(runs, 2, 64, &history);
    evidence = memory_evidence_of(&history, 4);
    cr_expect_eq(evidence.overhead_failed.bytes, RUN_UNKNOWN);
    cr_expect_eq(evidence.overhead_sufficed.bytes, GIB, "the least");
    runs[0].memory_limit_kills = 1; /* with more: what an older run had shows nothing */
    memory_history_take(runs, 2, 64, &history);
    evidence = memory_evidence_of(&history, 4);
    cr_expect_eq(evidence.overhead_failed.bytes, 2 * GIB);
    cr_expect_eq(evidence.overhead_sufficed.bytes, RUN_UNKNOWN);
}
