/* What tasks moved and used, of a stage and of the run, on logs small enough to check by hand. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "sparklog_cases.h"

#define MEMORY(heap, metrics)                                                                      \
    metrics "},\"Task Executor Metrics\":{\"JVMHeapMemory\":" #heap ",\"JVMOffHeapMemory\":5"

/* Every figure a task can have; a number each, times n. */
#define FULL(n)                                                                                    \
    "\"Executor Deserialize Time\":9,\"Executor Run Time\":" #n "00,\"Executor CPU Time\":" #n     \
    "000000,\"Peak Execution Memory\":" #n "1,\"Result Size\":9,\"JVM GC Time\":" #n               \
    "0,\"Memory Bytes Spilled\":" #n "2,\"Disk Bytes Spilled\":" #n                                \
    "3,\"Shuffle Read Metrics\":{\"Remote Bytes Read\":" #n                                        \
    "4,\"Remote Bytes Read To Disk\":9,\"Local Bytes Read\":1,\"Total Records Read\":" #n          \
    "5},\"Shuffle Write Metrics\":{\"Shuffle Bytes Written\":" #n                                  \
    "6,\"Shuffle Records Written\":" #n "7},\"Input Metrics\":{\"Bytes Read\":" #n                 \
    "8,\"Records Read\":" #n "9},\"Output Metrics\":{\"Bytes Written\":" #n                        \
    "0,\"Records Written\":" #n "1}"

static void expect(double got, double want)
{
    cr_assert_float_eq(got, want, 1e-12, "%g, want %g", got, want);
}

/* Task 0 and 1 succeed, task 2 fails with the largest peak. */
static const char three_tasks[] = APP_START(0) SUBMITTED(0, 0, 2, 0)
    TASK(0, 0, "Success", 0, 100, FULL(1)) TASK(0, 1, "Success", 0, 100, FULL(2))
        TASK(0, 2, "ExceptionFailure", 0, 100, FULL(5)) COMPLETED(0, 0, 2, 0, 100, "") APP_END(200);

Test(sparklog_figures, sums_are_of_the_tasks_that_succeeded_and_peaks_of_all)
{
    struct reading r;
    reading_init(&r, three_tasks, 0, &case_limits);
    const struct run_stage *stage = reading_stage(&r, 0);
    const struct run_metrics *m = &stage->metrics;
    expect(m->executor_run_time_s, 0.3);
    expect(m->executor_cpu_time_s, 0.003);
    expect(m->gc_time_s, 0.03);
    cr_assert_eq(m->peak_execution_memory_bytes, 51);
    cr_assert_eq(m->memory_spilled_bytes, 12 + 22);
    cr_assert_eq(m->disk_spilled_bytes, 13 + 23);
    cr_assert_eq(m->shuffle_read_bytes, 14 + 1 + 24 + 1);
    cr_assert_eq(m->shuffle_read_records, 15 + 25);
    cr_assert_eq(m->shuffle_write_bytes, 16 + 26);
    cr_assert_eq(m->shuffle_write_records, 17 + 27);
    cr_assert_eq(m->input_bytes, 18 + 28);
    cr_assert_eq(m->output_bytes, 10 + 20);
    cr_assert_eq(m->output_records, 11 + 21);
    cr_assert_eq(m->peak_jvm_heap_bytes, RUN_UNKNOWN);
    cr_assert_eq(stage->tasks_failed, 1);
    cr_assert_eq(stage->attempts, 1);
    expect(stage->input_records, 40);
    reading_fini(&r);
}

Test(sparklog_figures, a_run_has_the_sums_and_peaks_of_its_stages)
{
    struct reading r;
    reading_init(&r,
                 APP_START(0) TASK(0, 0, "Success", 0, 100, FULL(1))
                     TASK(3, 0, "Success", 0, 100, FULL(7)) TASK(3, 1, "Success", 0, 9, FULL(2))
                         APP_END(200),
                 0, &case_limits);
    const struct run_metrics *m = &r.run.metrics;
    cr_assert_eq(m->input_bytes, 18 + 78 + 28);
    cr_assert_eq(m->shuffle_read_bytes, 15 + 75 + 25);
    cr_assert_eq(m->peak_execution_memory_bytes, 71);
    expect(m->gc_time_s, 0.1);
    reading_fini(&r);
}

/* Spark 1.x leaves whole groups of metrics out; unknown is not 0. */
Test(sparklog_figures, what_no_task_tells_is_unknown)
{
    struct reading r;
    reading_init(&r,
                 APP_START(0) TASK(0, 0, "Success", 0, 100, "\"Executor Run Time\":0")
                     SUBMITTED(1, 0, 1, 5) APP_END(200),
                 0, &case_limits);
    const struct run_metrics *m = &reading_stage(&r, 0)->metrics;
    expect(m->executor_run_time_s, 0);
    cr_assert(isnan(m->gc_time_s) && isnan(m->executor_cpu_time_s));
    cr_assert_eq(m->input_bytes, RUN_UNKNOWN);
    cr_assert_eq(m->shuffle_read_bytes, RUN_UNKNOWN);
    cr_assert_eq(m->peak_execution_memory_bytes, RUN_UNKNOWN);
    cr_assert(isnan(reading_stage(&r, 1)->metrics.executor_run_time_s));
    cr_assert_eq(reading_stage(&r, 1)->tasks_failed, 0);
    expect(r.run.metrics.executor_run_time_s, 0);
    reading_fini(&r);
}

Test(sparklog_figures, shuffle_bytes_of_one_side_alone)
{
    struct reading r;
    reading_init(&r,
                 TASK(0, 0, "Success", 0, 100, "\"Shuffle Read Metrics\":{\"Local Bytes Read\":6}")
                     TASK(1, 0, "Success", 0, 100,
                          "\"Shuffle Read Metrics\":{\"Remote Bytes Read\":7}") APP_START(0),
                 0, &case_limits);
    cr_assert_eq(reading_stage(&r, 0)->metrics.shuffle_read_bytes, 6);
    cr_assert_eq(reading_stage(&r, 1)->metrics.shuffle_read_bytes, 7);
    cr_assert_eq(r.run.metrics.shuffle_read_bytes, 13);
    reading_fini(&r);
}

/* 2^53 + 1 has no double; 2^63 - 1 is where sums stop. */
Test(sparklog_figures, integers_above_two_to_the_53_stay_exact)
{
    struct reading r;
    reading_init(
        &r,
        APP_START(0) TASK(0, 0, "Success", 0, 1,
                          "\"Memory Bytes Spilled\":9007199254740993,\"Disk Bytes "
                          "Spilled\":9223372036854775000,\"Peak Execution "
                          "Memory\":9007199254740995")
            TASK(0, 1, "Success", 0, 1,
                 "\"Memory Bytes Spilled\":9007199254740994,\"Disk Bytes Spilled\":9999,\"Peak "
                 "Execution Memory\":9007199254740994") APP_END(200),
        0, &case_limits);
    const struct run_metrics *m = &reading_stage(&r, 0)->metrics;
    cr_assert_eq(m->memory_spilled_bytes, INT64_C(18014398509481987));
    cr_assert_eq(m->disk_spilled_bytes, INT64_MAX);
    cr_assert_eq(m->peak_execution_memory_bytes, INT64_C(9007199254740995));
    reading_fini(&r);
}

Test(sparklog_figures, amounts_below_zero_are_passed_over_and_counted)
{
    struct reading r;
    reading_init(&r,
                 APP_START(0) TASK(0, 0, "Success", 0, 1,
                                   "\"JVM GC Time\":-5,\"Memory Bytes Spilled\":4,\"Peak Execution "
                                   "Memory\":-77")
                     TASK(0, 1, "Success", 0, 1, "\"JVM GC Time\":5,\"Memory Bytes Spilled\":-4")
                         APP_END(200),
                 0, &case_limits);
    const struct run_metrics *m = &reading_stage(&r, 0)->metrics;
    expect(m->gc_time_s, 0.005);
    cr_assert_eq(m->memory_spilled_bytes, 4);
    cr_assert_eq(m->peak_execution_memory_bytes, RUN_UNKNOWN);
    cr_assert_eq(reading_warning(&r, "amounts_unusable"), 3);
    reading_fini(&r);
}

#define STAGE_MEMORY(executor, stage, heap)                                                        \
    "{\"Event\":\"SparkListenerStageExecutorMetrics\",\"Executor ID\":\"" executor                 \
    "\",\"Stage ID\":" #stage                                                                      \
    ",\"Stage Attempt ID\":0,\"Executor Metrics\":{\"JVMHeapMemory\":" #heap                       \
    ",\"JVMOffHeapMemory\":1}}\n"
#define HEARTBEAT(executor, heap)                                                                  \
    "{\"Event\":\"SparkListenerExecutorMetricsUpdate\",\"Executor ID\":\"" executor                \
    "\",\"Metrics Updated\":[],\"Executor Metrics Updated\":[{\"Stage ID\":-1,\"Stage Attempt "    \
    "ID\":-1,\"Executor Metrics\":{\"JVMHeapMemory\":" #heap "}}]}\n"

Test(sparklog_figures, heaps_from_tasks_stages_and_heartbeats)
{
    struct reading r;
    reading_init(&r,
                 APP_START(0) SUBMITTED(0, 0, 2, 0) SUBMITTED(1, 0, 2, 0)
                     TASK(0, 0, "Success", 0, 1, MEMORY(700, "\"JVM GC Time\":1"))
                         TASK(0, 1, "TaskKilled", 0, 1, MEMORY(900, ""))
                             TASK(1, 0, "Success", 0, 1, MEMORY(0, "")) STAGE_MEMORY("1", 0, 800)
                                 STAGE_MEMORY("2", 0, 950) STAGE_MEMORY("driver", 0, 5000)
                                     HEARTBEAT("driver", 6000) HEARTBEAT("driver", 5500)
                                         STAGE_MEMORY("2", 9, 99999) APP_END(200),
                 0, &case_limits);
    cr_assert_eq(r.run.n_stages, 2, "a stage of which only memory is told did not run");
    cr_assert_eq(reading_stage(&r, 0)->metrics.peak_jvm_heap_bytes, 950);
    cr_assert_eq(reading_stage(&r, 1)->metrics.peak_jvm_heap_bytes, RUN_UNKNOWN, "0 says nothing");
    cr_assert_eq(r.run.metrics.peak_jvm_heap_bytes, 950);
    cr_assert_eq(r.run.peak_driver_heap_bytes, 6000);
    expect(reading_stage(&r, 0)->metrics.gc_time_s, 0.001);
    reading_fini(&r);
}

#define SPECULATIVE(index, reason, from, to)                                                       \
    "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Stage Attempt ID\":0,\"Task End "        \
    "Reason\":{\"Reason\":\"" reason "\"},\"Task Info\":{\"Index\":" #index                        \
    ",\"Launch Time\":" #from ",\"Speculative\":true,\"Finish Time\":" #to "}}\n"

/* Task 0: the copy wins; task 1: the copy loses; task 2 succeeds, its output is lost, it runs
 * again. */
Test(sparklog_figures, attempts_of_tasks_by_what_became_of_them)
{
    struct reading r;
    reading_init(&r,
                 APP_START(0) SPECULATIVE(0, "Success", 50, 80) TASK(0, 0, "TaskKilled", 0, 81, "")
                     TASK(0, 1, "Success", 0, 60, "") SPECULATIVE(1, "TaskKilled", 50, 61)
                         TASK(0, 2, "Success", 0, 10, "") TASK(0, 2, "Resubmitted", 0, 10, "")
                             TASK(0, 2, "Success", 90, 95, "")
                                 TASK(0, 3, "ExecutorLostFailure", 0, 10, "")
                                     TASK(0, 3, "SomethingOfSpark5", 0, 10, "")
                                         TASK(0, 3, "Success", 20, 30, "") APP_END(200),
                 0, &case_limits);
    cr_assert_eq(r.run.tasks_succeeded, 5);
    cr_assert_eq(r.run.tasks_failed, 5);
    cr_assert_eq(r.run.tasks_killed, 2);
    cr_assert_eq(r.run.tasks_resubmitted, 1);
    cr_assert_eq(r.run.tasks_speculative, 2);
    expect(r.run.task_time_s, 0.030 + 0.060 + 0.010 + 0.005 + 0.010);
    expect(r.run.failed_task_time_s, 0.081 + 0.011 + 0.010 + 0.010 + 0.010);
    cr_assert_eq(reading_stage(&r, 0)->tasks_failed, 5);
    reading_fini(&r);
}

Test(sparklog_figures, a_line_of_two_megabytes_is_a_line)
{
    enum { FILLER = 2 << 20 };
    static char log[FILLER + 4096];
    (void)strcpy(log,
                 APP_START(0) "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Stage "
                              "Attempt ID\":0,\"Task End Reason\":{\"Reason\":\"Success\"},"
                              "\"Task Info\":{\"Index\":0,\"Launch Time\":0,\"Accumulables\":[\"");
    size_t n = strlen(log);
    memset(log + n, 'x', FILLER);
    (void)strcpy(log + n + FILLER,
                 "\"],\"Finish Time\":70},\"Task Metrics\":{\"JVM GC Time\":7}}\n" APP_END(200));
    struct joblog_limits limits = case_limits;
    limits.line_bytes = FILLER + 1024;
    struct reading r;
    reading_init(&r, log, 65536, &limits);
    cr_assert_eq(r.code, PV_OK);
    cr_assert_eq(reading_warning(&r, "damaged_lines"), 0);
    cr_assert_eq(reading_warning(&r, "line_too_long"), 0);
    expect(r.run.task_time_s, 0.07);
    expect(r.run.metrics.gc_time_s, 0.007);
    reading_fini(&r);
}

#define METRICS_OF(executor, stage, members)                                                       \
    "{\"Event\":\"SparkListenerStageExecutorMetrics\",\"Executor ID\":\"" executor                 \
    "\",\"Stage ID\":" #stage ",\"Stage Attempt ID\":0,\"Executor Metrics\":{" members "}}\n"

Test(sparklog_figures, memory_of_executors_by_what_uses_it)
{
    struct reading r;
    reading_init(&r,
                 APP_START(0) SUBMITTED(0, 0, 2, 0) TASK(0, 0, "Success", 0, 1, "")
                     METRICS_OF("1", 0,
                                "\"JVMHeapMemory\":900,\"JVMOffHeapMemory\":50,"
                                "\"OnHeapStorageMemory\":300,\"OnHeapUnifiedMemory\":700,"
                                "\"OffHeapUnifiedMemory\":40,\"DirectPoolMemory\":7,"
                                "\"ProcessTreeJVMRSSMemory\":1000,"
                                "\"ProcessTreePythonRSSMemory\":200,"
                                "\"ProcessTreeOtherRSSMemory\":30")
                         METRICS_OF("2", 0,
                                    "\"JVMHeapMemory\":800,\"OnHeapStorageMemory\":400,"
                                    "\"ProcessTreeJVMRSSMemory\":0,"
                                    "\"ProcessTreePythonRSSMemory\":0") APP_END(200),
                 0, &case_limits);
    const struct run_metrics *m = &r.run.metrics;
    cr_assert_eq(m->peak_jvm_heap_bytes, 900);
    cr_assert_eq(m->peak_jvm_non_heap_bytes, 57);
    cr_assert_eq(m->peak_storage_memory_bytes, 400);
    cr_assert_eq(m->peak_unified_memory_bytes, 700);
    cr_assert_eq(m->peak_off_heap_memory_bytes, 40);
    cr_assert_eq(m->peak_process_memory_bytes, 1230);
    cr_assert_eq(m->peak_python_memory_bytes, 200);
    reading_fini(&r);
}

#define REMOVED(id, reason)                                                                        \
    "{\"Event\":\"SparkListenerExecutorRemoved\",\"Timestamp\":50,\"Executor ID\":\"" id           \
    "\",\"Removed Reason\":\"" reason "\"}\n"
#define FAILED_BY(class)                                                                           \
    "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Stage Attempt ID\":0,\"Task End "        \
    "Reason\":{\"Reason\":\"ExceptionFailure\",\"Class Name\":\"" class "\",\"Description\":"      \
                                                                        "\"x\"},\"Task "           \
                                                                        "Info\":{\"Index\":0,"     \
                                                                        "\"Launch "                \
                                                                        "Time\":0,\"Finish "       \
                                                                        "Time\":1}}\n"

/* The words are those of YARN, Kubernetes and the standalone master. */
Test(sparklog_figures, executors_and_tasks_that_ran_out_of_memory)
{
    struct reading r;
    reading_init(
        &r,
        APP_START(0) SUBMITTED(0, 0, 2, 0) REMOVED(
            "1", "Container killed by YARN for exceeding physical memory limits. 5.5 GB of 5.5 GB "
                 "physical memory used.")
            REMOVED("2", "Container from a bad node: container_1 on host: h. Exit status: 137. "
                         "Diagnostics: [2020-01-01] Killed by external signal")
                REMOVED("3", "The executor with id 3 exited with exit code 137(SIGKILL, possible "
                             "container OOM).\\n\\nThe API gave the container statuses")
                    REMOVED("4", "Command exited with code 52")
                        REMOVED("5", "Unable to create executor due to exit code 1, not 137")
                            REMOVED("6", "Executor killed by driver.")
                                REMOVED("7", "Command exited with code 1370")
                                    FAILED_BY("java.lang.OutOfMemoryError")
                                        FAILED_BY("org.apache.spark.memory.SparkOutOfMemoryError")
                                            FAILED_BY("java.lang.IllegalStateException")
                                                APP_END(200),
        0, &case_limits);
    cr_assert_eq(r.run.memory_limit_kills, 3);
    cr_assert_eq(r.run.out_of_memory_errors, 3);
    cr_assert_eq(r.run.executors_removed, 7);
    reading_fini(&r);
}

#define BLOCK(executor, block, in_memory)                                                          \
    "{\"Event\":\"SparkListenerBlockUpdated\",\"Block Updated Info\":{\"Block Manager "            \
    "ID\":{\"Executor ID\":\"" executor "\"},\"Block ID\":\"" block                                \
    "\",\"Storage Level\":{\"Use Disk\":true,\"Use Memory\":" in_memory "}}}\n"
#define UNPERSIST(rdd) "{\"Event\":\"SparkListenerUnpersistRDD\",\"RDD ID\":" #rdd "}\n"

Test(sparklog_figures, cached_blocks_that_were_dropped)
{
    struct reading r;
    reading_init(&r, APP_START(0) APP_END(200), 0, &case_limits);
    cr_assert_eq(r.run.cached_blocks_dropped, RUN_UNKNOWN, "no update is logged");
    reading_fini(&r);
    reading_init(&r,
                 APP_START(0) BLOCK("1", "rdd_3_0", "true") BLOCK("2", "rdd_3_0", "true")
                     BLOCK("1", "rdd_3_0", "false") BLOCK("1", "rdd_3_0", "false")
                         BLOCK("1", "rdd_4_0", "true") UNPERSIST(4) BLOCK("1", "rdd_4_0", "false")
                             BLOCK("1", "broadcast_1", "true") BLOCK("1", "broadcast_1", "false")
                                 APP_END(200),
                 0, &case_limits);
    cr_assert_eq(r.run.cached_blocks_dropped, 1);
    reading_fini(&r);
}

#define ADDED(id, at, more)                                                                        \
    "{\"Event\":\"SparkListenerExecutorAdded\",\"Timestamp\":" #at ",\"Executor ID\":\"" id        \
    "\",\"Executor Info\":{\"Host\":\"h\",\"Total Cores\":4" more "}}\n"
#define TIMES(request, registration)                                                               \
    ",\"Registration Time\":" #registration ",\"Request Time\":" #request

static double startup_of(const char *log)
{
    struct reading r;
    reading_init(&r, log, 0, &case_limits);
    double startup_s = r.run.executor_startup_s;
    reading_fini(&r);
    return startup_s;
}

/* Where no request is logged, from the first stage that waited; never from the application's start. */
Test(sparklog_figures, how_long_executors_take_to_start)
{
    struct reading r;
    cr_assert(isnan(startup_of(APP_START(1000) ADDED("1", 4000, "") APP_END(20000))));
    cr_assert(isnan(startup_of(APP_START(1000) SUBMITTED(0, 0, 2, 6000) APP_END(20000))));
    cr_assert(isnan(startup_of(APP_START(1000) ADDED("1", 4000, "") SUBMITTED(0, 0, 2, 6000)
                                   ADDED("2", 9000, "") APP_END(20000))));
    expect(startup_of(APP_START(1000) SUBMITTED(0, 0, 2, 6000) ADDED("1", 8500, "")
                          ADDED("2", 9000, "") COMPLETED(0, 0, 2, 6000, 9500, "") APP_END(20000)),
           2.5);
    /* Edited logs: the first executor comes when the last stage has ended. */
    cr_assert(isnan(startup_of(APP_START(1000) SUBMITTED(0, 0, 2, 6000) COMPLETED(
        0, 0, 2, 6000, 7000, "") ADDED("1", 9000, "") APP_END(20000))));
    /* In the millisecond in which it was asked for. */
    expect(startup_of(APP_START(1000) ADDED("1", 4000, TIMES(4000, 4000)) APP_END(20000)), 0.0);
    reading_init(&r,
                 APP_START(1000) ADDED("1", 4000, TIMES(2000, 4000))
                     ADDED("2", 9000, TIMES(5000, 9000)) ADDED("3", 9000, TIMES(8000, 9000))
                         APP_END(20000),
                 0, &case_limits);
    expect(r.run.executor_startup_s, 2.0);
    reading_fini(&r);
}

Test(sparklog_figures, bytes_of_the_longest_task)
{
    struct reading r;
    reading_init(&r,
                 APP_START(0) SUBMITTED(0, 0, 2, 0)
                     TASK(0, 0, "Success", 0, 5, "\"Input Metrics\":{\"Bytes Read\":70}")
                         TASK(0, 1, "Success", 0, 9,
                              "\"Shuffle Read Metrics\":{\"Remote Bytes "
                              "Read\":3,\"Local Bytes Read\":4}") APP_END(200),
                 0, &case_limits);
    cr_assert_eq(reading_stage(&r, 0)->metrics.longest_task_bytes, 7);
    cr_assert_eq(r.run.metrics.longest_task_bytes, 7);
    reading_fini(&r);
}

#define PROFILE(id)                                                                                \
    "{\"Event\":\"SparkListenerResourceProfileAdded\",\"Resource Profile Id\":" #id                \
    ",\"Executor Resource Requests\":{\"cores\":{\"Amount\":4}}}\n"

Test(sparklog_figures, the_default_profile_has_the_heap_of_the_properties)
{
    struct reading r;
    reading_init(&r,
                 APP_START(0) PROFILE(0)
                     PROFILE(1) "{\"Event\":\"SparkListenerEnvironmentUpdate\",\"Spark "
                                "Properties\":{\"spark.executor.memory\":\"8g\"}}\n" APP_END(200),
                 0, &case_limits);
    cr_assert_eq(r.run.resources[0].executor_memory_bytes, INT64_C(8) << 30);
    cr_assert_eq(r.run.resources[1].executor_memory_bytes, RUN_UNKNOWN);
    reading_fini(&r);
}

#define MANAGER(executor, at, memory)                                                              \
    "{\"Event\":\"SparkListenerBlockManagerAdded\",\"Block Manager ID\":{\"Executor "              \
    "ID\":\"" executor "\",\"Host\":\"h\",\"Port\":1},\"Timestamp\":" #at memory "}\n"
#define FOR_BLOCKS(all, heap)                                                                      \
    ",\"Maximum Memory\":" #all ",\"Maximum Onheap Memory\":" #heap ",\"Maximum Offheap "          \
    "Memory\":0"

Test(sparklog_figures, memory_for_cached_blocks)
{
    struct reading r;
    reading_init(&r, APP_START(0) APP_END(200), 0, &case_limits);
    cr_assert_eq(r.run.storage_memory_bytes, RUN_UNKNOWN);
    reading_fini(&r);
    reading_init(&r, APP_START(0) MANAGER("driver", 1, FOR_BLOCKS(900, 900)) APP_END(200), 0,
                 &case_limits);
    cr_assert_eq(r.run.storage_memory_bytes, 900, "in local mode the driver computes");
    reading_fini(&r);
    reading_init(&r,
                 APP_START(0) MANAGER("driver", 1, FOR_BLOCKS(900, 900))
                     MANAGER("1", 2, FOR_BLOCKS(700, 500)) MANAGER("2", 3, FOR_BLOCKS(700, 400))
                         APP_END(200),
                 0, &case_limits);
    cr_assert_eq(r.run.storage_memory_bytes, 500, "of executors, on the heap");
    reading_fini(&r);
    reading_init(&r, APP_START(0) MANAGER("7", 2, ",\"Maximum Memory\":600") APP_END(200), 0,
                 &case_limits);
    cr_assert_eq(r.run.storage_memory_bytes, 600, "Spark 2.2 has one number");
    reading_fini(&r);
}

#define RDD(id, in_memory)                                                                         \
    "{\"RDD ID\":" #id ",\"Name\":\"r\",\"Storage Level\":{\"Use Disk\":false,\"Use "              \
    "Memory\":" in_memory "},\"Number of Partitions\":2}"
#define RDDS(rdds) ",\"RDD Info\":[" rdds "]"

static int64_t cache_source(const char *log, size_t stage)
{
    struct reading r;
    reading_init(&r, log, 0, &case_limits);
    int64_t source = r.run.stages[stage].cache_source_id;
    reading_fini(&r);
    return source;
}

Test(sparklog_figures, the_stage_that_computed_what_another_reads_from_the_cache)
{
#define FIRST APP_START(0) COMPLETED(0, 0, 2, 1, 5, RDDS(RDD(1, "false") "," RDD(2, "true")))
#define SECOND COMPLETED(1, 0, 2, 6, 8, RDDS(RDD(1, "false") "," RDD(2, "true") "," RDD(3, "true")))
#define THIRD COMPLETED(2, 0, 2, 9, 11, RDDS(RDD(2, "true") "," RDD(3, "true") "," RDD(4, "false")))
    const char *log = FIRST SECOND THIRD APP_END(200);
    cr_assert_eq(cache_source(log, 0), RUN_UNKNOWN, "it computes what is cached");
    cr_assert_eq(cache_source(log, 1), 0);
    cr_assert_eq(cache_source(log, 2), 1, "of two cached RDDs the later one is read");
    cr_assert_eq(cache_source(FIRST SECOND UNPERSIST(3) THIRD APP_END(200), 2), 0);
    cr_assert_eq(cache_source(FIRST COMPLETED(0, 1, 2, 6, 8, RDDS(RDD(2, "true"))) APP_END(200), 0),
                 RUN_UNKNOWN, "a further attempt reads nothing that another stage made");
    cr_assert_eq(
        cache_source(APP_START(0) COMPLETED(0, 0, 2, 1, 5, ",\"RDD Info\":[{}]") APP_END(200), 0),
        RUN_UNKNOWN);
}
