/* Memory of executors in advice: what it changes and costs, and each sentence. */
#include "core/advice/memory_advice.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/history/run_metrics.h"

#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)

static struct arena arena;
static struct history_prediction prediction;
static struct advice_question question;
static struct advice advice;
static struct memory_advice memory;
static struct run runs[MEMORY_CUT_RUNS];
static struct run_label properties[] = {{{"spark.executor.memory", 21}, {"8g", 2}},
                                        {{"spark.executor.memoryOverhead", 29}, {"1g", 2}}};
static int64_t most_per_executor;

/* Five runs on 10 executors of 4 cores with 8 GiB of heap and 1 GiB of overhead, all used well. */
static void set_up(void)
{
    arena_init(&arena, 0);
    prediction = (struct history_prediction){.lack = NULL};
    question = (struct advice_question){.include = ADVICE_MEMORY,
                                        .memory_price_per_gib_hour = (double)NAN,
                                        .spark_constraints = {.apply = PROPOSAL_MEMORY}};
    most_per_executor = RUN_UNKNOWN;
    for (size_t i = 0; i < MEMORY_CUT_RUNS; i++) {
        runs[i] = (struct run){.problem_size = 64,
                               .executors = 10,
                               .cores_per_executor = 4,
                               .succeeded = true,
                               .spark_properties = properties,
                               .n_spark_properties = 2};
        run_clear_log(&runs[i]);
        runs[i].out_of_memory_errors = runs[i].memory_limit_kills = 0;
        runs[i].metrics.peak_jvm_heap_bytes = 7 * GIB;
        memcpy(runs[i].id, "run-a", 6);
    }
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(memory_advice, .init = set_up, .fini = tear_down, .timeout = 20);

/* For 10 executors of 4 cores and 1,800 s, by the newest n runs. */
static const struct finding *advise_by(size_t n)
{
    memory_history_take(runs, n, 64, &prediction.memory);
    advice = (struct advice){.reasons = {.arena = &arena}, .warnings = {.arena = &arena}};
    cr_assert_eq(memory_advise(&prediction, &question, 10, 4, 1800, most_per_executor, &arena,
                               &advice, &memory, NULL),
                 PV_OK);
    return advice.reasons.n > 0 ? &advice.reasons.items[0] : NULL;
}

static void expect(size_t n, const char *message)
{
    const struct finding *reason = advise_by(n);
    cr_assert_not_null(reason);
    cr_expect_str_eq(reason->code, "memory");
    cr_expect_str_eq(reason->message, message);
}

static void expect_warning(const char *code, const char *message)
{
    cr_assert_eq(advice.warnings.n, 1);
    cr_expect_str_eq(advice.warnings.items[0].code, code);
    cr_expect_str_eq(advice.warnings.items[0].message, message);
}

Test(memory_advice, what_stays)
{
    expect(1, "Executors have 8.0 GiB of heap, as they ran with.");
    cr_expect_eq(memory.change_bytes, 0);
    cr_expect(isnan(memory.change_cost));
    cr_expect_eq(finding_value(&advice.reasons.items[0], "executor_memory_bytes"), 8.0 * GIB);
    cr_expect_eq(finding_value(&advice.reasons.items[0], "runs"), 1);
    cr_expect_eq(advice.warnings.n, 0);
    struct run_label enforced[] = {{{"spark.executor.memory", 21}, {"3g", 2}}};
    question.spark_constraints.enforced = enforced;
    question.spark_constraints.n_enforced = 1;
    expect(1, "Executors have 3.0 GiB of heap, as specified.");
    cr_expect_eq(memory.change_bytes, -50 * GIB);
}

/* Peaks of 4 GiB in five runs and a fifth, in whole GiB: 10 executors save 3 GiB each for half an hour. */
Test(memory_advice, a_cut_and_what_it_saves)
{
    for (size_t i = 0; i < MEMORY_CUT_RUNS; i++)
        runs[i].metrics.peak_jvm_heap_bytes = 4 * GIB;
    question.memory_price_per_gib_hour = 0.5;
    expect(MEMORY_CUT_RUNS, "The executors of 5 runs of at least this size used at most 4.0 GiB of "
                            "heap: 5.0 GiB are recommended instead of 8.0 GiB. A cut leaves a "
                            "margin of at least 20 % and at least one half.");
    int64_t each = memory.plan.sizes.heap - 8 * GIB;
    cr_expect_eq(each, -3 * GIB);
    cr_expect_eq(memory.plan.sizes.overhead, GIB, "set in bytes, so it stays");
    cr_expect_eq(memory.change_bytes, 10 * each);
    cr_expect_float_eq(memory.change_cost, 10 * (double)each / (double)GIB * 0.5 * 0.5, 1e-9);
    cr_expect_eq(finding_value(&advice.reasons.items[0], "margin_percent"), 100 * (1.2 - 1));
}

Test(memory_advice, a_heap_that_failed)
{
    runs[0].succeeded = false;
    runs[0].out_of_memory_errors = 1;
    expect(1, "With 8.0 GiB of heap 1 executor or task ended by an OutOfMemoryError: 12.0 GiB are "
              "recommended.");
    cr_expect_eq(finding_value(&advice.reasons.items[0], "failed_bytes"), 8.0 * GIB);
    runs[0].out_of_memory_errors = 3;
    expect(1, "With 8.0 GiB of heap 3 executors or tasks ended by an OutOfMemoryError: 12.0 GiB "
              "are recommended.");
    cr_expect_eq(finding_value(&advice.reasons.items[0], "events"), 3);
    cr_expect_eq(memory.change_bytes, 40 * GIB);
}

/* What is not applied is proposed, and nothing is set of it. */
Test(memory_advice, what_is_not_applied_is_proposed)
{
    question.spark_constraints.apply = 0;
    runs[0].succeeded = false;
    runs[0].out_of_memory_errors = 1;
    expect(1, "With 8.0 GiB of heap 1 executor or task ended by an OutOfMemoryError: 12.0 GiB are "
              "proposed.");
    int64_t bytes = 0;
    cr_assert_eq(memory_container(&prediction, &question, 10, 4, RUN_UNKNOWN, &arena, &bytes, NULL),
                 PV_OK);
    cr_expect_eq(bytes, 9 * GIB, "8 GiB of heap and 1 GiB of overhead, as they ran");
    question.spark_constraints.apply = PROPOSAL_MEMORY;
    cr_assert_eq(memory_container(&prediction, &question, 10, 4, RUN_UNKNOWN, &arena, &bytes, NULL),
                 PV_OK);
    cr_expect_eq(bytes, 13 * GIB);
}

/* Four of the 8 GiB were used, and the cluster has 8 for heap and overhead. */
Test(memory_advice, executors_too_large_for_the_cluster_are_said)
{
    question.spark_constraints.apply = 0;
    for (size_t i = 0; i < MEMORY_CUT_RUNS; i++)
        runs[i].metrics.peak_jvm_heap_bytes = 4 * GIB;
    most_per_executor = 8 * GIB;
    (void)advise_by(2);
    expect_warning(
        "memory_exceeds_cluster",
        "Executors of 9.0 GiB do not fit the 8.0 GiB that the cluster has for each. 8.0 GiB "
        "are proposed: apply memory.");
    question.spark_constraints.apply = PROPOSAL_MEMORY;
    (void)advise_by(2);
    cr_expect_eq(advice.warnings.n, 0);
}

Test(memory_advice, a_container_that_was_too_small)
{
    runs[0].memory_limit_kills = 1;
    expect(1, "1 executor with 1.0 GiB of overhead was killed at the limit of its container: 2.0 "
              "GiB of overhead are recommended.");
    runs[0].memory_limit_kills = 2;
    expect(1, "2 executors with 1.0 GiB of overhead were killed at the limit of their container: "
              "2.0 GiB of overhead are recommended.");
    cr_expect_eq(finding_value(&advice.reasons.items[0], "failed_bytes"), (double)GIB);
}

/* Half of what was read was spilled: half as much again. A third of the time on a heap that is full:
 * a quarter more. */
Test(memory_advice, spill_and_garbage_collection)
{
    runs[0].metrics.input_bytes = 100 * GIB;
    runs[0].metrics.disk_spilled_bytes = 50 * GIB;
    runs[0].metrics.memory_spilled_bytes = 500 * GIB;
    expect(1, "The last run spilled 50 % of what it read to disk: 12.0 GiB of heap are recommended "
              "instead of 8.0 GiB.");
    cr_expect_eq(finding_value(&advice.reasons.items[0], "spilled_percent"), 50);
    runs[0].metrics.disk_spilled_bytes = runs[0].metrics.memory_spilled_bytes = 0;
    runs[0].metrics.executor_run_time_s = 300;
    runs[0].metrics.gc_time_s = 99;
    runs[0].metrics.peak_jvm_heap_bytes = 8 * GIB;
    expect(1, "The tasks of the last run spent 33 % of their time on collecting garbage: 10.0 GiB "
              "of heap are recommended instead of 8.0 GiB.");
    cr_expect_eq(finding_value(&advice.reasons.items[0], "gc_percent"), 33);
}

/* The same of memory off the heap, which peaks higher than the heap. */
Test(memory_advice, spill_off_the_heap)
{
    static struct run_label off_heap[] = {{{"spark.executor.memory", 21}, {"8g", 2}},
                                          {{"spark.executor.memoryOverhead", 29}, {"1g", 2}},
                                          {{"spark.memory.offHeap.enabled", 28}, {"true", 4}},
                                          {{"spark.memory.offHeap.size", 25}, {"4g", 2}}};
    runs[0].spark_properties = off_heap;
    runs[0].n_spark_properties = 4;
    runs[0].metrics.peak_jvm_heap_bytes = 2 * GIB;
    runs[0].metrics.peak_off_heap_memory_bytes = 4 * GIB;
    runs[0].metrics.input_bytes = 100 * GIB;
    runs[0].metrics.disk_spilled_bytes = 50 * GIB;
    expect(1, "The last run spilled 50 % of what it read to disk: 6.0 GiB off the heap are "
              "recommended instead of 4.0 GiB.");
}

/* The cluster has 13 GiB for each; without it memory grows to 2 GiB a core here. */
Test(memory_advice, growth_has_limits)
{
    runs[0].out_of_memory_errors = 1;
    runs[0].succeeded = false;
    most_per_executor = 13 * GIB;
    expect(1, "With 8.0 GiB of heap 1 executor or task ended by an OutOfMemoryError: 12.0 GiB are "
              "recommended.");
    cr_expect_eq(advice.warnings.n, 0);
    most_per_executor = 11 * GIB;
    expect(1, "With 8.0 GiB of heap 1 executor or task ended by an OutOfMemoryError: 10.0 GiB are "
              "recommended.");
    expect_warning(
        "memory_exceeds_cluster",
        "Executors of 11.0 GiB are recommended, though the history asks for more: the "
        "cluster has 11.0 GiB for each. Fewer cores per executor leave each task more memory.");
    most_per_executor = 5 * GIB;
    (void)advise_by(1);
    expect_warning(
        "memory_exceeds_cluster",
        "Executors of 9.0 GiB do not fit the 5.0 GiB that the cluster has for each, so their "
        "memory is not changed: fewer cores per executor leave each task more memory.");
    most_per_executor = RUN_UNKNOWN;
    prediction.memory_per_core_bytes = 5 * GIB / 2;
    (void)advise_by(1);
    expect_warning("memory_bounded_per_core", "Executors of 10.0 GiB are recommended, though the "
                                              "history asks for more: memory grows to at "
                                              "most 2.5 GiB per core. Fewer cores per executor or "
                                              "more partitions leave each task more memory.");
}

/* What the caller runs with replaces what the runs had. */
Test(memory_advice, what_the_caller_runs_with)
{
    struct run_label current[] = {{{"spark.executor.memory", 21}, {"20g", 3}}};
    question.spark_constraints.current = current;
    question.spark_constraints.n_current = 1;
    expect(1, "Executors have 20.0 GiB of heap, as they ran with.");
    cr_expect_eq(memory_sizes_total(&memory.plan.ran), 21 * GIB);
    runs[0].n_spark_properties = 0;
    expect(1, "Executors have 20.0 GiB of heap, as they ran with.");
    cr_expect_eq(memory_sizes_total(&memory.plan.ran), 22 * GIB, "a tenth more");
}

Test(memory_advice, nothing_known_in_words)
{
    runs[0].n_spark_properties = 0;
    cr_expect_null(advise_by(1));
    expect_warning("memory_unknown",
                   "No memory is recommended: the latest 1 run came without Spark properties, so "
                   "that the heap they had is unknown; spark.executor.memory among "
                   "constraints.current specifies it.");
    cr_expect_eq(memory.change_bytes, MEMORY_NO_CHANGE);
    runs[0].n_spark_properties = 2;
    runs[0].metrics.peak_jvm_heap_bytes = RUN_UNKNOWN;
    cr_expect_null(advise_by(1));
    expect_warning("memory_unknown",
                   "No memory is recommended: nothing is recorded of what the latest 1 run used. "
                   "Spark logs the peak of the heap with each task; with "
                   "spark.eventLog.logStageExecutorMetrics=true it logs those of all memory.");
    question.include = 0;
    cr_expect_null(advise_by(1));
    cr_expect_eq(advice.warnings.n, 0, "not asked for");
    question.include = ADVICE_MEMORY;
    cr_expect_null(advise_by(0));
    cr_expect_eq(advice.warnings.n, 0, "no runs at all");
}

/* A container as planned, else as configured, else what the cluster has for one. */
Test(memory_advice, what_an_executor_holds)
{
    int64_t bytes = 0;
    memory_history_take(runs, 1, 64, &prediction.memory);
    cr_assert_eq(memory_held(&prediction, &question, 10, 4, 100 * GIB, &arena, &bytes, NULL),
                 PV_OK);
    cr_expect_eq(bytes, 9 * GIB);
    runs[0].metrics.peak_jvm_heap_bytes = RUN_UNKNOWN;
    memory_history_take(runs, 1, 64, &prediction.memory);
    cr_assert_eq(memory_held(&prediction, &question, 10, 4, 100 * GIB, &arena, &bytes, NULL),
                 PV_OK);
    cr_expect_eq(bytes, 9 * GIB, "nothing was measured: as configured");
    struct run_label enforced[] = {{{"spark.executor.memory", 21}, {"3g", 2}}};
    question.spark_constraints.enforced = enforced;
    question.spark_constraints.n_enforced = 1;
    cr_assert_eq(memory_held(&prediction, &question, 10, 4, 100 * GIB, &arena, &bytes, NULL),
                 PV_OK);
    cr_expect_eq(bytes, 4 * GIB);
    question.spark_constraints.n_enforced = 0;
    memory_history_take(runs, 0, 64, &prediction.memory);
    cr_assert_eq(memory_container(&prediction, &question, 10, 4, 100 * GIB, &arena, &bytes, NULL),
                 PV_OK);
    cr_expect_eq(bytes, RUN_UNKNOWN);
    cr_assert_eq(memory_held(&prediction, &question, 10, 4, 100 * GIB, &arena, &bytes, NULL),
                 PV_OK);
    cr_expect_eq(bytes, 100 * GIB);
}
