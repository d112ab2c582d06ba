#include "core/spark/memory_evidence.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/history/run_metrics.h"

#define GIB (INT64_C(1) << 30)
#define PROPERTY(k, v)                                                                             \
    {                                                                                              \
        .key = {k, sizeof k - 1}, .value = { v, sizeof v - 1 }                                     \
    }

TestSuite(spark_memory_evidence, .timeout = 20);

static struct run_label eight_gib[] = {PROPERTY("spark.executor.memory", "8g")};
static struct run_label nine_gib[] = {PROPERTY("spark.executor.memory", "9g")};

/* Of size 64 on 4 executors, ended well, with a peak of the heap of so many GiB. */
static struct run run_of(const char *id, int64_t peak_gib)
{
    struct run run = {.problem_size = 64,
                      .executors = 4,
                      .cores_per_executor = 4,
                      .succeeded = true,
                      .spark_properties = eight_gib,
                      .n_spark_properties = 1};
    (void)snprintf(run.id, sizeof run.id, "%s", id);
    run_clear_log(&run);
    run.out_of_memory_errors = run.memory_limit_kills = 0;
    run.metrics.peak_jvm_heap_bytes = peak_gib * GIB;
    return run;
}

/* Of these runs, the latest first, for size 64. */
static struct memory_evidence evidence_of(const struct run runs[], size_t n, int64_t executors)
{
    struct memory_history history;
    memory_history_take(runs, n, 64, &history);
    return memory_evidence_of(&history, executors);
}

Test(spark_memory_evidence, the_load_is_the_size_per_executor)
{
    cr_expect_eq(memory_load(64, 4), 16);
    cr_expect_eq(memory_load(64, 1), 64);
    cr_expect_eq(memory_load(64, 0), 64, "executors that are unknown count as one");
    cr_expect_eq(memory_load(64, RUN_UNKNOWN), 64);
    cr_expect(memory_is_as_large(0.99, 1.0) && memory_is_as_large((double)NAN, 1.0));
    cr_expect(!memory_is_as_large(0.98, 1.0) && memory_is_as_large(19.8, 20.0));
}

/* 64 on an unknown number of executors is compared with 64, and not with the 16 of each of four. */
Test(spark_memory_evidence, loads_are_by_size_where_executors_are_unknown)
{
    struct run run = run_of("a", 6);
    run.out_of_memory_errors = 2;
    for (int64_t executors = RUN_UNKNOWN; executors <= 0; executors++) {
        run.executors = executors;
        cr_expect_eq(evidence_of(&run, 1, 4).heap_failed.bytes, 8 * GIB);
    }
    run.executors = 1; /* four times the load: its failure shows nothing */
    cr_expect_eq(evidence_of(&run, 1, 4).heap_failed.bytes, RUN_UNKNOWN);
}

/* In question are the executors of the latest run, four: eight had half of their load. */
Test(spark_memory_evidence, without_executors_in_question_those_of_the_base_are)
{
    struct run runs[] = {run_of("a", 2), run_of("b", 3)};
    runs[1].executors = 8;
    struct memory_evidence evidence = evidence_of(runs, 2, RUN_UNKNOWN);
    cr_expect_eq(evidence.runs_measured, 1);
    cr_expect_eq(evidence.peaks.heap, 2.0 * GIB);
    evidence = evidence_of(runs, 2, 8);
    cr_expect_eq(evidence.runs_measured, 2);
    cr_expect_eq(evidence.peaks.heap, 3.0 * GIB);
}

/* A run suffices if it ended, lost nothing to its memory, and hardly spilled. */
Test(spark_memory_evidence, only_runs_that_ended_well_suffice)
{
    const struct run well = run_of("a", 6);
    struct run run = well;
    cr_expect_eq(evidence_of(&run, 1, 4).heap_sufficed.bytes, 8 * GIB);
    cr_expect_eq(evidence_of(&run, 1, 4).runs_sufficed, 1);
    run.succeeded = false; /* for a reason that is not its memory */
    cr_expect_eq(evidence_of(&run, 1, 4).heap_sufficed.bytes, RUN_UNKNOWN);
    run = well;
    run.out_of_memory_errors = 1; /* a task failed, and succeeded when it was tried again */
    cr_expect_eq(evidence_of(&run, 1, 4).runs_sufficed, 0);
    run = well;
    run.memory_limit_kills = 1;
    cr_expect_eq(evidence_of(&run, 1, 4).heap_sufficed.bytes, RUN_UNKNOWN);
    run = well;
    run.metrics.input_bytes = 100;
    run.metrics.disk_spilled_bytes = 2; /* more than a hundredth */
    cr_expect_eq(evidence_of(&run, 1, 4).heap_sufficed.bytes, RUN_UNKNOWN);
    run.metrics.disk_spilled_bytes = 1;
    cr_expect_eq(evidence_of(&run, 1, 4).heap_sufficed.bytes, 8 * GIB);
    run.metrics.executor_run_time_s = 100;
    run.metrics.gc_time_s = 11; /* more than a tenth */
    cr_expect_eq(evidence_of(&run, 1, 4).runs_sufficed, 0);
    run.metrics.gc_time_s = 9;
    cr_expect_eq(evidence_of(&run, 1, 4).runs_sufficed, 1);
}

/* The peaks of a run that failed are those of its end; it is not measured. */
Test(spark_memory_evidence, peaks_are_of_runs_that_succeeded)
{
    struct run runs[] = {run_of("a", 7), run_of("b", 3)};
    runs[0].succeeded = false;
    struct memory_evidence evidence = evidence_of(runs, 2, 4);
    cr_expect_eq(evidence.runs_measured, 1);
    cr_expect_eq(evidence.peaks.heap, 3.0 * GIB);
    cr_expect(isnan(evidence.peaks.unified) && isnan(evidence.peaks.storage));
    runs[0] = run_of("a", 0); /* nor is one whose log has no peaks */
    cr_expect_eq(evidence_of(runs, 2, 4).runs_measured, 1);
}

/* A run of half the data, the largest there is: peaks double; what it cached on all four executors,
 * 4 GiB, is 8 GiB for twice the data. A run of 96 is larger than 64, so its peaks stay. */
Test(spark_memory_evidence, peaks_are_scaled_to_a_larger_load_only)
{
    struct run run = run_of("a", 2);
    run.problem_size = 32;
    run.metrics.peak_storage_memory_bytes = GIB;
    run.metrics.peak_unified_memory_bytes = 3 * GIB / 2;
    run.metrics.peak_off_heap_memory_bytes = 4 * GIB;
    run.metrics.peak_python_memory_bytes = 5 * GIB;
    run.metrics.peak_process_memory_bytes = 6 * GIB;
    run.metrics.peak_jvm_non_heap_bytes = GIB / 4;
    struct memory_evidence evidence = evidence_of(&run, 1, 4);
    cr_expect_not(evidence.is_as_large);
    cr_expect_eq(evidence.peaks.heap, 4.0 * GIB);
    cr_expect_eq(evidence.peaks.unified, 3.0 * GIB);
    cr_expect_eq(evidence.peaks.storage, 8.0 * GIB);
    cr_expect_eq(evidence.peaks.off_heap, 8.0 * GIB);
    cr_expect_eq(evidence.peaks.python, 10.0 * GIB);
    cr_expect_eq(evidence.peaks.process, 12.0 * GIB);
    cr_expect_eq(evidence.peaks.non_heap, 0.25 * GIB, "classes and code, whatever the data");
    run.problem_size = 96;
    evidence = evidence_of(&run, 1, 4);
    cr_expect(evidence.is_as_large);
    cr_expect_eq(evidence.peaks.heap, 2.0 * GIB);
    cr_expect_eq(evidence.peaks.storage, 4.0 * GIB);
    cr_expect_eq(evidence.peaks.unified, 1.5 * GIB);
}

/* Of two failures with as much the later one is named, of two with more the larger; of those that
 * sufficed with as much the later too. */
Test(spark_memory_evidence, marks_name_their_runs)
{
    struct run runs[] = {run_of("later", 6), run_of("earlier", 6)};
    cr_expect_str_eq(evidence_of(runs, 2, 4).heap_sufficed.run_id, "later");
    runs[0].out_of_memory_errors = 3;
    runs[1].out_of_memory_errors = 2;
    struct memory_evidence evidence = evidence_of(runs, 2, 4);
    cr_expect_str_eq(evidence.heap_failed.run_id, "later");
    cr_expect_eq(evidence.heap_failed.events, 3);
    cr_expect_eq(evidence.heap_failed.cores_per_executor, 4);
    runs[1].spark_properties = nine_gib;
    evidence = evidence_of(runs, 2, 4);
    cr_expect_str_eq(evidence.heap_failed.run_id, "earlier");
    cr_expect_eq(evidence.heap_failed.bytes, 9 * GIB);
    cr_expect_eq(evidence.heap_failed.events, 2);
}

/* Pressure is that of the latest run with a load like that in question: from half of it to twice. */
Test(spark_memory_evidence, pressure_is_of_the_latest_run_that_is_alike)
{
    struct run runs[] = {run_of("a", 6), run_of("b", 6), run_of("c", 6)};
    for (int i = 0; i < 3; i++) {
        runs[i].metrics.input_bytes = 100;
        runs[i].metrics.disk_spilled_bytes = 10 * (i + 1);
        runs[i].metrics.memory_spilled_bytes = 40 * (i + 1);
        runs[i].metrics.executor_run_time_s = 100;
        runs[i].metrics.gc_time_s = i + 1;
    }
    runs[2].spark_properties = nine_gib;
    struct memory_evidence evidence = evidence_of(runs, 3, 4);
    cr_expect_eq(evidence.spilled_share, 0.1);
    cr_expect_eq(evidence.spilled_bytes, 10, "a quarter of 40");
    cr_expect_eq(evidence.gc_share, 0.01);
    cr_expect_eq(evidence.heap_of_load, 8 * GIB);
    runs[0].executors = RUN_UNKNOWN;
    cr_expect_eq(evidence_of(runs, 3, 4).spilled_bytes, 40, "all of them");
    runs[0].executors = 4;
    runs[0].problem_size = 31;  /* of 64 less than half */
    runs[1].problem_size = 129; /* more than twice */
    evidence = evidence_of(runs, 3, 4);
    cr_expect_eq(evidence.spilled_share, 0.3);
    cr_expect_eq(evidence.gc_share, 0.03);
    cr_expect_eq(evidence.heap_of_load, 9 * GIB);
    runs[1].problem_size = 128;
    cr_expect_eq(evidence_of(runs, 3, 4).spilled_share, 0.2);
    runs[1].succeeded = false;
    cr_expect_eq(evidence_of(runs, 3, 4).spilled_share, 0.3);
    runs[0].problem_size = 32;
    cr_expect_eq(evidence_of(runs, 3, 4).spilled_share, 0.1);
}

/* --- what they were configured with --- */

static struct memory_sizes sizes_with(struct run_label *properties, size_t n)
{
    struct memory_history history;
    struct run run = run_of("a", 1);
    run.spark_properties = properties;
    run.n_spark_properties = n;
    memory_history_take(&run, 1, 64, &history);
    return history.items[0].had;
}

/* Spark gives a GiB where the properties say nothing of it, and 384 MiB beside a small heap. */
Test(spark_memory_evidence, a_heap_that_is_not_set_is_sparks_default)
{
    static struct run_label other[] = {PROPERTY("spark.executor.cores", "4")};
    cr_expect_eq(sizes_with(other, 1).heap, GIB);
    cr_expect_eq(sizes_with(other, 1).overhead, 384 * (INT64_C(1) << 20));
    cr_expect_eq(sizes_with(NULL, 0).heap, RUN_UNKNOWN, "no properties are known");
    cr_expect_eq(sizes_with(NULL, 0).overhead, RUN_UNKNOWN);
}

/* Of 8192 MiB: a quarter is 2048, two fifths 3276.8; a factor of 0 is none, and a tenth is 819.2. */
Test(spark_memory_evidence, overheads_follow_their_factor)
{
    static struct run_label spark[] = {PROPERTY("spark.executor.memory", "8g"),
                                       PROPERTY("spark.executor.memoryOverheadFactor", "0.25"),
                                       PROPERTY("spark.kubernetes.memoryOverheadFactor", "0.4")};
    static struct run_label kubernetes[] = {
        PROPERTY("spark.executor.memory", "8g"),
        PROPERTY("spark.kubernetes.memoryOverheadFactor", "0.4")};
    static struct run_label zero[] = {PROPERTY("spark.executor.memory", "8g"),
                                      PROPERTY("spark.executor.memoryOverheadFactor", "0")};
    const int64_t mib = INT64_C(1) << 20;
    cr_expect_eq(sizes_with(spark, 3).overhead, 2048 * mib);
    cr_expect_eq(sizes_with(kubernetes, 2).overhead, 3276 * mib);
    cr_expect_eq(sizes_with(zero, 2).overhead, 819 * mib);
    cr_expect_eq(sizes_with(eight_gib, 1).overhead, 819 * mib);
}
