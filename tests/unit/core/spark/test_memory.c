#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/history/run_metrics.h"
#include "core/spark/memory_plan.h"
#include "core/spark/property_value.h"

#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)

static struct arena arena;

static void set_up(void)
{
    arena_init(&arena, 0);
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(spark_memory, .init = set_up, .fini = tear_down, .timeout = 20);

#define PROPERTY(k, v)                                                                             \
    {                                                                                              \
        .key = {k, sizeof k - 1}, .value = { v, sizeof v - 1 }                                     \
    }

static struct run_label eight_gib[] = {PROPERTY("spark.executor.memory", "8g")};
static struct run_label sixteen_and_overhead[] = {
    PROPERTY("spark.executor.memory", "16G"),
    PROPERTY("spark.executor.memoryOverhead", "16G"),
};

/* One that ended well, with a peak of the heap where that is known. */
static struct run run_with(struct run_label *properties, size_t n, int64_t peak_heap)
{
    struct run run = {.problem_size = 64,
                      .executors = 4,
                      .cores_per_executor = 4,
                      .succeeded = true,
                      .spark_properties = properties,
                      .n_spark_properties = n};
    run_clear_log(&run);
    run.out_of_memory_errors = run.memory_limit_kills = 0;
    run.metrics.peak_jvm_heap_bytes = peak_heap;
    return run;
}

static struct memory_question question_of(int64_t executors, int64_t cores)
{
    return (struct memory_question){.executors = executors,
                                    .cores_per_executor = cores,
                                    .most_per_executor = RUN_UNKNOWN,
                                    .fixed = {RUN_UNKNOWN, RUN_UNKNOWN, RUN_UNKNOWN, RUN_UNKNOWN}};
}

static struct memory_plan
plan_for(const struct run runs[], size_t n, double size, const struct memory_question *question)
{
    struct memory_plan plan;
    struct pv_error err = {0};
    struct memory_history history = memory_history_of_runs(runs, n, size);
    cr_assert_eq(memory_plan_make(&history, question, &arena, &plan, &err), PV_OK);
    return plan;
}

static struct memory_plan plan_of(const struct run runs[], size_t n)
{
    const struct memory_question question = question_of(4, 4);
    return plan_for(runs, n, 64, &question);
}

static const char *property_in(const struct memory_plan *plan, const char *key)
{
    for (size_t i = 0; i < plan->n_properties; i++)
        if (strcmp(plan->properties[i].key, key) == 0)
            return plan->properties[i].value;
    return NULL;
}

Test(spark_memory, sizes_as_spark_reads_them)
{
    cr_assert_eq(property_size(strview_of("8g"), MIB), 8 * GIB);
    cr_assert_eq(property_size(strview_of("512"), MIB), 512 * MIB);
    cr_assert_eq(property_size(strview_of("512"), 1), 512);
    cr_assert_eq(property_size(strview_of("2GB"), 1), 2 * GIB);
    cr_assert_eq(property_size(strview_of("10b"), MIB), 10);
    cr_assert_eq(property_size(strview_of("1.5g"), MIB), RUN_UNKNOWN, "Spark refuses it");
    cr_assert_eq(property_size(strview_of("10bb"), MIB), RUN_UNKNOWN);
    cr_assert_eq(property_size(strview_of("-1g"), MIB), RUN_UNKNOWN);
    cr_assert_eq(property_size(strview_of("9999999p"), MIB), RUN_UNKNOWN);
    cr_assert_eq(property_default_overhead(GIB, 0.1), 384 * MIB);
    cr_assert_eq(property_default_overhead(8 * GIB, 0.1), 819 * MIB);
}

Test(spark_memory, nothing_is_advised_where_the_runs_show_nothing)
{
    const struct run run = run_with(eight_gib, 1, RUN_UNKNOWN);
    cr_assert_not(plan_of(&run, 1).known);
    cr_assert_not(plan_of(NULL, 0).known);
    const struct run bare = run_with(NULL, 0, GIB);
    cr_assert_not(plan_of(&bare, 1).known, "nor where the heap is unknown");
}

/* 2 GiB used of 8: with 50 percent on top of a single run, and 20 of three. The overhead follows the
 * heap, so it is set to what it was: what lies beside the heap was not measured. */
Test(spark_memory, what_is_not_used_goes_with_a_margin)
{
    struct run runs[3];
    for (size_t i = 0; i < 3; i++)
        runs[i] = run_with(eight_gib, 1, 2 * GIB);
    struct memory_plan plan = plan_of(runs, 1);
    cr_assert_eq(plan.basis, MEMORY_PEAK_USE);
    cr_assert_eq(plan.sizes.heap, 3 * GIB);
    cr_assert_str_eq(property_in(&plan, "spark.executor.memory"), "3g");
    cr_assert_eq(plan.sizes.overhead, 819 * MIB);
    cr_assert_str_eq(property_in(&plan, "spark.executor.memoryOverhead"), "819m");
    plan = plan_of(runs, 3);
    cr_assert_eq(plan.sizes.heap, 2560 * MIB, "2.4 GiB, up to a quarter");
    cr_assert_eq(plan.ran.heap, 8 * GIB);
    runs[0].metrics.peak_jvm_non_heap_bytes = 100 * MIB;
    plan = plan_of(runs, 3);
    cr_assert_eq(plan.sizes.overhead, 384 * MIB, "measured: what Spark gives it suffices");
    cr_assert_null(property_in(&plan, "spark.executor.memoryOverhead"));
}

Test(spark_memory, an_overhead_that_was_set_is_never_shrunk)
{
    struct run run = run_with(sixteen_and_overhead, 2, 2 * GIB);
    run.metrics.peak_jvm_non_heap_bytes = 200 * MIB;
    struct memory_plan plan = plan_of(&run, 1);
    cr_assert_eq(plan.sizes.heap, 3 * GIB);
    cr_assert_eq(plan.sizes.overhead, 16 * GIB);
    cr_assert_null(property_in(&plan, "spark.executor.memoryOverhead"));
}

Test(spark_memory, a_use_close_to_the_heap_is_left_alone)
{
    const struct run run = run_with(eight_gib, 1, 7 * GIB);
    struct memory_plan plan = plan_of(&run, 1);
    cr_assert_eq(plan.basis, MEMORY_AS_RAN);
    cr_assert_eq(plan.sizes.heap, 8 * GIB);
    cr_assert_eq(plan.n_properties, 0);
}

Test(spark_memory, unified_memory_has_to_fit_its_fraction)
{
    struct run run = run_with(eight_gib, 1, 2 * GIB);
    run.metrics.peak_unified_memory_bytes = 3 * GIB / 2;
    struct memory_plan plan = plan_of(&run, 1);
    cr_assert_float_eq(plan.needed_heap, 1.5 * (double)GIB / 0.6 + 300 * (double)MIB, 1);
    cr_assert_eq(plan.sizes.heap, 4352 * MIB);
}

/* 4 executors cached 1 GiB each: two hold 2 GiB each. */
Test(spark_memory, cached_blocks_are_spread_over_fewer_executors)
{
    const struct memory_question two = question_of(2, 4);
    struct run run = run_with(eight_gib, 1, 2 * GIB);
    run.metrics.peak_storage_memory_bytes = GIB;
    struct memory_plan plan = plan_for(&run, 1, 64, &two);
    cr_assert_float_eq(plan.needed_heap, 2 * (double)GIB / 0.6 + 300 * (double)MIB, 1);
}

Test(spark_memory, more_cores_and_more_data_need_more)
{
    const struct memory_question eight = question_of(4, 8);
    const struct memory_question four = question_of(4, 4);
    const struct memory_question one = question_of(4, 1);
    const struct run run = run_with(eight_gib, 1, 2 * GIB);
    cr_assert_float_eq(plan_for(&run, 1, 64, &eight).needed_heap, 4 * (double)GIB, 1);
    cr_assert_float_eq(plan_for(&run, 1, 64, &one).needed_heap, 2 * (double)GIB, 1);
    cr_assert_float_eq(plan_for(&run, 1, 128, &four).needed_heap, 4 * (double)GIB, 1);
    cr_assert_float_eq(plan_for(&run, 1, 16, &four).needed_heap, 2 * (double)GIB, 1);
    struct memory_plan plan = plan_for(&run, 1, 640, &four);
    cr_assert_gt(plan.sizes.heap, 20 * GIB - 1, "more than it ran with");
}

static struct run out_of_memory(int64_t errors, int64_t kills, bool succeeded)
{
    struct run run = run_with(eight_gib, 1, RUN_UNKNOWN);
    run.succeeded = succeeded;
    run.out_of_memory_errors = errors;
    run.memory_limit_kills = kills;
    return run;
}

Test(spark_memory, a_run_out_of_memory_makes_the_next_larger)
{
    struct run run = out_of_memory(2, 0, false);
    struct memory_plan plan = plan_of(&run, 1);
    cr_assert(plan.known, "although no run succeeded");
    cr_assert_eq(plan.basis, MEMORY_OUT_OF_MEMORY);
    cr_assert_eq(plan.sizes.heap, 12 * GIB);
    run = out_of_memory(0, 1, false);
    plan = plan_of(&run, 1);
    cr_assert_eq(plan.basis, MEMORY_CONTAINER_LIMIT);
    cr_assert_eq(plan.sizes.heap, 8 * GIB);
    cr_assert_eq(plan.sizes.overhead, 1664 * MIB, "twice 819 MiB, up to 64");
    cr_assert_str_eq(property_in(&plan, "spark.executor.memoryOverhead"), "1664m");
}

static struct run_label twelve_gib[] = {PROPERTY("spark.executor.memory", "12g")};
static struct run_label ten_gib[] = {PROPERTY("spark.executor.memory", "10g")};

Test(spark_memory, what_sufficed_later_is_kept)
{
    struct run runs[] = {run_with(twelve_gib, 1, 4 * GIB), out_of_memory(1, 0, false)};
    struct memory_plan plan = plan_of(runs, 2);
    cr_assert_eq(plan.sizes.heap, 12 * GIB, "not back to what failed");
    runs[0] = run_with(ten_gib, 1, 4 * GIB);
    cr_assert_eq(plan_of(runs, 2).sizes.heap, 10 * GIB);
    struct run again[] = {out_of_memory(1, 0, false), run_with(eight_gib, 1, 4 * GIB)};
    cr_assert_eq(plan_of(again, 2).sizes.heap, 12 * GIB, "it failed after it had sufficed");
    struct run since[] = {run_with(eight_gib, 1, 7 * GIB), out_of_memory(1, 0, false)};
    cr_assert_eq(plan_of(since, 2).sizes.heap, 8 * GIB, "it sufficed after it had failed");
    since[0].problem_size = 32;
    cr_assert_eq(plan_of(since, 2).sizes.heap, 12 * GIB, "for half of the data");
}

Test(spark_memory, pressure_makes_the_heap_larger_up_to_a_bound)
{
    struct run run = run_with(eight_gib, 1, 6 * GIB);
    run.metrics.input_bytes = 100 * GIB;
    run.metrics.disk_spilled_bytes = 20 * GIB;
    struct memory_plan plan = plan_of(&run, 1);
    cr_assert_eq(plan.basis, MEMORY_SPILL);
    cr_assert_eq(plan.sizes.heap, 12 * GIB);
    run.metrics.disk_spilled_bytes = 0;
    run.metrics.executor_run_time_s = 100;
    run.metrics.gc_time_s = 15;
    plan = plan_of(&run, 1);
    cr_assert_eq(plan.basis, MEMORY_GARBAGE_COLLECTION);
    cr_assert_eq(plan.sizes.heap, 10 * GIB);
    const struct memory_question one = question_of(4, 1);
    cr_assert_eq(plan_for(&run, 1, 64, &one).sizes.heap, 8 * GIB, "8 GiB a core are enough");
    run = run_with(eight_gib, 1, 2 * GIB);
    run.metrics.executor_run_time_s = 100;
    run.metrics.gc_time_s = 15;
    plan = plan_of(&run, 1);
    cr_assert_eq(plan.sizes.heap, 6 * GIB, "never full, so it is not its size");
    run.metrics.gc_time_s = 1;
    run.metrics.input_bytes = 100 * GIB;
    run.metrics.disk_spilled_bytes = 2 * GIB;
    cr_assert_eq(plan_of(&run, 1).sizes.heap, 8 * GIB, "some of it spills: it is not shrunk");
}

Test(spark_memory, limits_of_their_own)
{
    static struct run_label properties[] = {
        PROPERTY("spark.executor.memory", "8g"),
        PROPERTY("spark.executor.pyspark.memory", "1g"),
        PROPERTY("spark.memory.offHeap.enabled", "true"),
        PROPERTY("spark.memory.offHeap.size", "4g"),
    };
    struct run run = run_with(properties, 4, 7 * GIB);
    run.metrics.peak_off_heap_memory_bytes = GIB;
    run.metrics.peak_python_memory_bytes = 1000 * MIB;
    struct memory_plan plan = plan_of(&run, 1);
    cr_assert_eq(plan.sizes.off_heap, 3 * GIB / 2);
    cr_assert_eq(plan.sizes.pyspark, 1536 * MIB, "it had used almost all");
    cr_assert_eq(memory_sizes_total(&plan.ran), 8 * GIB + 819 * MIB + GIB + 4 * GIB);
    cr_assert_str_eq(property_in(&plan, "spark.memory.offHeap.size"), "1536m");
    run.metrics.peak_off_heap_memory_bytes = RUN_UNKNOWN;
    cr_assert_eq(plan_of(&run, 1).sizes.off_heap, 4 * GIB);
}

Test(spark_memory, executors_fit_the_cluster)
{
    struct memory_question question = question_of(4, 4);
    struct run run = out_of_memory(1, 0, false);
    question.most_per_executor = 12 * GIB;
    struct memory_plan plan = plan_for(&run, 1, 64, &question);
    cr_assert(plan.held_back && !plan.too_large);
    cr_assert_leq(memory_sizes_total(&plan.sizes), 12 * GIB);
    cr_assert_gt(plan.sizes.heap, 10 * GIB);
    question.most_per_executor = 6 * GIB;
    plan = plan_for(&run, 1, 64, &question);
    cr_assert(plan.too_large);
    cr_assert_eq(plan.sizes.heap, 12 * GIB);
    run = run_with(eight_gib, 1, 4 * GIB);
    plan = plan_for(&run, 1, 64, &question);
    cr_assert(!plan.too_large && !plan.held_back);
    cr_assert_leq(memory_sizes_total(&plan.sizes), 6 * GIB);
    cr_assert_geq(plan.sizes.heap, 4 * GIB);
}

Test(spark_memory, what_is_fixed_stays)
{
    struct memory_question question = question_of(4, 4);
    const struct run run = out_of_memory(1, 1, false);
    question.fixed.heap = 5 * GIB;
    question.fixed.overhead = GIB;
    struct memory_plan plan = plan_for(&run, 1, 64, &question);
    cr_assert_eq(plan.sizes.heap, 5 * GIB);
    cr_assert_eq(plan.sizes.overhead, GIB);
}

Test(spark_memory, classes_of_machines)
{
    cr_assert_str_eq(memory_machine_class(8 * GIB, 4), "compute_optimized");
    cr_assert_str_eq(memory_machine_class(9 * GIB, 4), "general_purpose");
    cr_assert_str_eq(memory_machine_class(32 * GIB, 4), "memory_optimized");
    cr_assert_null(memory_machine_class(33 * GIB, 4));
    cr_assert_null(memory_machine_class(GIB, RUN_UNKNOWN));
}

static int64_t any(int64_t most)
{
    return rand() % 4 == 0 ? RUN_UNKNOWN : (int64_t)((double)rand() / RAND_MAX * (double)most);
}

static struct run any_run(void)
{
    static struct run_label *const sets[] = {eight_gib, ten_gib, twelve_gib, sixteen_and_overhead};
    size_t set = (size_t)rand() % 4;
    struct run run = run_with(sets[set], set == 3 ? 2 : 1, any(20 * GIB));
    run.problem_size = 1 + rand() % 100;
    run.succeeded = rand() % 3 > 0;
    run.cores_per_executor = 1 + rand() % 8;
    run.executors = any(20);
    run.out_of_memory_errors = rand() % 4 == 0 ? 2 : 0;
    run.memory_limit_kills = rand() % 4 == 0 ? 1 : 0;
    run.metrics.peak_unified_memory_bytes = any(10 * GIB);
    run.metrics.peak_storage_memory_bytes = any(8 * GIB);
    run.metrics.peak_jvm_non_heap_bytes = any(GIB);
    run.metrics.peak_process_memory_bytes = any(30 * GIB);
    run.metrics.peak_python_memory_bytes = any(2 * GIB);
    run.metrics.disk_spilled_bytes = any(100 * GIB);
    run.metrics.input_bytes = any(100 * GIB);
    return run;
}

/* Whatever was measured: sizes are whole MiB above Spark's least, a set overhead does not shrink, a
 * heap that last ran out of memory grows, and properties say what the sizes say. */
Test(spark_memory, holds_for_any_history)
{
    srand(4711);
    for (int i = 0; i < 20000; i++) {
        struct run runs[5];
        size_t n = 1 + (size_t)rand() % 5;
        int64_t executors = 1 + rand() % 50;
        const struct memory_question question = question_of(executors, 1 + rand() % 16);
        for (size_t k = 0; k < n; k++)
            runs[k] = any_run();
        struct memory_plan plan = plan_for(runs, n, 1 + rand() % 200, &question);
        if (!plan.known)
            continue;
        cr_assert_geq(plan.sizes.heap, 512 * MIB);
        cr_assert_eq(plan.sizes.heap % MIB, 0);
        cr_assert_eq(plan.sizes.overhead % MIB, 0);
        cr_assert_geq(plan.sizes.overhead, 384 * MIB);
        if (runs[0].n_spark_properties == 2)
            cr_assert_geq(plan.sizes.overhead, plan.ran.overhead);
        if (runs[0].out_of_memory_errors > 0)
            cr_assert_gt(plan.sizes.heap, plan.ran.heap);
        const char *heap = property_in(&plan, "spark.executor.memory");
        if (heap == NULL)
            cr_assert_eq(plan.sizes.heap, plan.ran.heap);
        else
            cr_assert_eq(property_size(strview_of(heap), 1), plan.sizes.heap);
    }
}
