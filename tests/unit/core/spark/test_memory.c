#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/history/run_metrics.h"
#include "core/spark/memory_plan.h"
#include "core/spark/native_engine.h"
#include "core/spark/property_value.h"
#include "memory_cases.h"

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
static struct run_label twelve_gib[] = {PROPERTY("spark.executor.memory", "12g")};
static struct run_label ten_gib[] = {PROPERTY("spark.executor.memory", "10g")};
static struct run_label sixteen_and_overhead[] = {
    PROPERTY("spark.executor.memory", "16G"),
    PROPERTY("spark.executor.memoryOverhead", "16G"),
};

static struct memory_plan
plan_for(const struct run runs[], size_t n, double size, const struct memory_question *question)
{
    struct memory_plan plan;
    struct pv_error err = {0};
    struct memory_history history;
    memory_history_take(runs, n, size, &history);
    cr_assert_eq(memory_plan_make(&history, question, &arena, &plan, &err), PV_OK);
    return plan;
}

static struct memory_plan plan_of(const struct run runs[], size_t n)
{
    const struct memory_question question = question_of(4, 4);
    return plan_for(runs, n, 64, &question);
}

Test(spark_memory, sizes_as_spark_reads_them)
{
    cr_assert_eq(property_size(strview_of("8g"), MIB), 8 * GIB);
    cr_assert_eq(property_size(strview_of("512"), MIB), 512 * MIB);
    cr_assert_eq(property_size(strview_of("512"), 1), 512);
    cr_assert_eq(property_size(strview_of("2GB"), 1), 2 * GIB);
    cr_assert_eq(property_size(strview_of("10b"), MIB), 10);
    cr_assert_eq(property_size(strview_of("9k"), 1), 9216);
    cr_assert_eq(property_size(strview_of("0"), MIB), 0);
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

/* As many runs as a cut needs, all alike. */
enum { ENOUGH = MEMORY_CUT_RUNS };
static struct memory_plan plan_of_alike(const struct run *run, size_t n)
{
    struct run runs[MEMORY_RUNS_MAX];
    for (size_t i = 0; i < n; i++)
        runs[i] = *run;
    return plan_of(runs, n);
}

/* 2 GiB used of 8: a fifth on top of them would be 2.4 GiB, but one step leaves a half. The overhead
 * follows the heap, so it is set to what it was: what lies beside the heap was not measured. */
Test(spark_memory, what_five_runs_did_not_use_is_cut_to_one_half)
{
    struct run run = run_with(eight_gib, 1, 2 * GIB);
    struct memory_plan plan = plan_of_alike(&run, ENOUGH - 1);
    cr_assert_eq(plan.basis, MEMORY_AS_RAN, "four runs are too few");
    cr_assert_eq(plan.sizes.heap, 8 * GIB);
    cr_assert_eq(plan.n_properties, 0);
    plan = plan_of_alike(&run, ENOUGH);
    cr_assert_eq(plan.basis, MEMORY_PEAK_USE);
    cr_assert_eq(plan.sizes.heap, 4 * GIB);
    cr_assert_str_eq(property_in(&plan, "spark.executor.memory"), "4g");
    cr_assert_eq(plan.sizes.overhead, 819 * MIB);
    cr_assert_str_eq(property_in(&plan, "spark.executor.memoryOverhead"), "819m");
    cr_assert_str_eq(plan.properties[0].reason, "the runs used less");
    cr_assert_str_eq(plan.properties[1].reason, "it would shrink with the heap otherwise");
    run.metrics.peak_jvm_non_heap_bytes = 100 * MIB;
    plan = plan_of_alike(&run, ENOUGH);
    cr_assert_eq(plan.sizes.overhead, 409 * MIB, "measured: what Spark gives it suffices");
    cr_assert_null(property_in(&plan, "spark.executor.memoryOverhead"));
    run.metrics.peak_jvm_non_heap_bytes = 400 * MIB;
    cr_assert_eq(plan_of_alike(&run, ENOUGH).sizes.overhead, 819 * MIB,
                 "480 and 128 MiB are more than Spark gives the smaller heap");
    run.metrics.peak_jvm_non_heap_bytes = 100 * MIB;
    run.metrics.peak_jvm_heap_bytes = 5 * GIB;
    cr_assert_eq(plan_of_alike(&run, ENOUGH).sizes.heap, 6 * GIB, "the peak and a fifth");
    run.metrics.peak_jvm_heap_bytes = 7 * GIB;
    plan = plan_of_alike(&run, ENOUGH);
    cr_assert_eq(plan.basis, MEMORY_AS_RAN, "less than a tenth is not worth a change");
    cr_assert_eq(plan.n_properties, 0);
}

Test(spark_memory, a_cut_needs_as_many_runs_as_are_asked_for)
{
    const struct run run = run_with(eight_gib, 1, 2 * GIB);
    const struct run runs[] = {run, run};
    struct memory_question question = question_of(4, 4);
    question.cut_runs = 2;
    cr_assert_eq(plan_for(runs, 1, 64, &question).sizes.heap, 8 * GIB);
    cr_assert_eq(plan_for(runs, 2, 64, &question).sizes.heap, 4 * GIB);
}

static struct run_label four_gib[] = {PROPERTY("spark.executor.memory", "4g")};

/* Runs before a cut had more heap: they do not show that less than now suffices. */
Test(spark_memory, the_next_cut_needs_five_runs_of_its_own)
{
    struct run runs[ENOUGH + 4];
    for (size_t i = 0; i < ENOUGH + 4; i++)
        runs[i] = run_with(i < 4 ? four_gib : eight_gib, 1, GIB);
    cr_assert_eq(plan_of(runs, ENOUGH + 4).sizes.heap, 4 * GIB);
    for (size_t i = 4; i < ENOUGH; i++)
        runs[i] = run_with(four_gib, 1, GIB);
    cr_assert_eq(plan_of(runs, ENOUGH + 4).sizes.heap, 2 * GIB);
}

/* One smoke run on a 20,000th of the data among nights (cases/38): nothing is multiplied by that. */
Test(spark_memory, a_smoke_run_says_nothing_of_the_nights)
{
    struct run runs[ENOUGH + 1];
    for (size_t i = 0; i < ENOUGH; i++)
        runs[i] = run_with(eight_gib, 1, 3200000000);
    runs[3] = run_with(eight_gib, 1, 2500000000);
    runs[3].problem_size = 0.003;
    struct memory_plan plan = plan_of(runs, 4);
    cr_assert_eq(plan.sizes.heap, 8 * GIB);
    cr_assert_eq(plan.n_properties, 0);
    cr_assert_float_eq(plan.needed_heap, 3200000000.0, 1);
    plan = plan_of(&runs[3], 1);
    cr_assert_eq(plan.sizes.heap, 8 * GIB, "nor does it make the first night larger");
    cr_assert_eq(plan.needed_heap, (double)(8 * GIB), "no more is needed than was there");
    runs[ENOUGH] = run_with(eight_gib, 1, 3200000000);
    plan = plan_of(runs, ENOUGH + 1);
    cr_assert_eq(plan.sizes.heap, 4 * GIB, "five nights sufficed");
    struct run small = run_with(four_gib, 1, GIB);
    small.problem_size = 0.003;
    runs[0] = small;
    plan = plan_of(runs, 3);
    cr_assert_eq(plan.sizes.heap, 8 * GIB, "a smoke run with little memory came last");
    cr_assert_str_eq(property_in(&plan, "spark.executor.memory"), "8g");
}

/* A JVM fills its heap: the run ended well, so it was enough (cases/37). */
Test(spark_memory, a_peak_near_the_heap_is_no_need)
{
    const struct memory_question four = question_of(4, 4);
    struct run run = run_with(eight_gib, 1, 8 * GIB - 100 * MIB);
    run.metrics.peak_process_memory_bytes = 15 * GIB;
    cr_assert_eq(plan_of_alike(&run, 1).n_properties, 0);
    cr_assert_eq(plan_of_alike(&run, 12).n_properties, 0);
    cr_assert_eq(plan_for(&run, 1, 256, &four).n_properties, 0, "nor with four times the data");
    cr_assert_eq(plan_for(&run, 1, 64e12, &four).sizes.heap, 8 * GIB);
}

/* The same size on half of the executors is twice the load. */
Test(spark_memory, what_sufficed_is_by_size_per_executor)
{
    const struct memory_question two = question_of(2, 4), eight = question_of(8, 4);
    struct run runs[ENOUGH];
    for (size_t i = 0; i < ENOUGH; i++)
        runs[i] = run_with(eight_gib, 1, 2 * GIB);
    cr_assert_eq(plan_for(runs, ENOUGH, 64, &two).sizes.heap, 8 * GIB);
    cr_assert_eq(plan_for(runs, ENOUGH, 32, &two).sizes.heap, 4 * GIB);
    cr_assert_eq(plan_for(runs, ENOUGH, 64, &eight).sizes.heap, 4 * GIB);
    cr_assert_eq(plan_for(runs, ENOUGH, 128, &eight).sizes.heap, 4 * GIB);
    cr_assert_eq(plan_for(runs, ENOUGH, 130, &eight).sizes.heap, 8 * GIB);
}

Test(spark_memory, an_overhead_that_was_set_is_never_cut)
{
    struct run run = run_with(sixteen_and_overhead, 2, 2 * GIB);
    run.metrics.peak_jvm_non_heap_bytes = 200 * MIB;
    struct memory_plan plan = plan_of_alike(&run, ENOUGH);
    cr_assert_eq(plan.sizes.heap, 8 * GIB);
    cr_assert_eq(plan.sizes.overhead, 16 * GIB);
    cr_assert_null(property_in(&plan, "spark.executor.memoryOverhead"));
}

Test(spark_memory, unified_memory_has_to_fit_its_fraction)
{
    struct run run = run_with(eight_gib, 1, 2 * GIB);
    run.metrics.peak_unified_memory_bytes = 5 * GIB / 2;
    struct memory_plan plan = plan_of_alike(&run, ENOUGH);
    cr_assert_float_eq(plan.needed_heap, 2.5 * (double)GIB / 0.6 + 300 * (double)MIB, 1);
    cr_assert_eq(plan.sizes.heap, 5632 * MIB, "5.35 GiB, up to a quarter");
}

/* Each figure of a run, and what is unknown. */
Test(spark_memory, what_a_run_shows)
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
Test(spark_memory, a_heap_of_the_resource_profile)
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
Test(spark_memory, overheads_that_failed_and_sufficed)
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

/* 4 executors cached 1 GiB each: two hold 2 GiB each. */
Test(spark_memory, cached_blocks_are_spread_over_fewer_executors)
{
    const struct memory_question two = question_of(2, 4);
    struct run run = run_with(eight_gib, 1, GIB);
    run.metrics.peak_storage_memory_bytes = GIB;
    struct memory_plan plan = plan_for(&run, 1, 64, &two);
    cr_assert_float_eq(plan.needed_heap, (2 / 0.6 + 300.0 / 1024) * (double)GIB, 1);
    const struct memory_question one = question_of(1, 4); /* which holds all four */
    plan = plan_for(&run, 1, 64, &one);
    cr_assert_float_eq(plan.needed_heap, (4 / 0.6 + 300.0 / 1024) * (double)GIB, 1);
}

/* More cores get as much heap a core as there was, if the peaks ask for it, and no more. */
Test(spark_memory, more_cores_need_more)
{
    const struct memory_question eight = question_of(4, 8), one = question_of(4, 1);
    struct run run = run_with(eight_gib, 1, 2 * GIB);
    cr_assert_float_eq(plan_for(&run, 1, 64, &eight).needed_heap, 4 * (double)GIB, 1);
    cr_assert_float_eq(plan_for(&run, 1, 64, &one).needed_heap, 2 * (double)GIB, 1);
    cr_assert_eq(plan_for(&run, 1, 64, &eight).sizes.heap, 8 * GIB);
    run.metrics.peak_jvm_heap_bytes = 8 * GIB;
    struct memory_plan plan = plan_for(&run, 1, 64, &eight);
    cr_assert_eq(plan.sizes.heap, 16 * GIB);
    cr_assert_eq(plan.basis, MEMORY_PEAK_USE);
    cr_assert_str_eq(plan.properties[0].reason, "runs of this size had as much per core");
    cr_assert_eq(plan.properties[0].kind, PROPOSAL_NONE, "more tasks need it: it is no proposal");
    cr_assert(plan.applied);
    cr_assert_eq(plan.set.heap, 16 * GIB);
    cr_assert_eq(plan_for(&run, 1, 64, &one).sizes.heap, 8 * GIB);
}

/* 8 GiB failed four tasks at a time: eight need one and a half times twice as much, but no more than
 * twice the 10 GiB that sufficed for four. */
Test(spark_memory, more_cores_need_more_than_what_failed)
{
    const struct memory_question eight = question_of(4, 8);
    struct run runs[] = {run_with(eight_gib, 1, RUN_UNKNOWN), run_with(ten_gib, 1, 4 * GIB)};
    runs[0].out_of_memory_errors = 1;
    cr_assert_eq(plan_for(runs, 1, 64, &eight).sizes.heap, 24 * GIB);
    cr_assert_eq(plan_for(runs, 2, 64, &eight).sizes.heap, 20 * GIB);
}

/* 8 GiB sufficed for three times the data, so no more is needed for this, whatever an older run had. */
Test(spark_memory, what_sufficed_for_more_data_is_enough)
{
    struct run runs[] = {run_with(eight_gib, 1, 7 * GIB), run_with(twelve_gib, 1, 7 * GIB)};
    runs[0].problem_size = 200;
    struct memory_plan plan = plan_of(runs, 2);
    cr_assert_eq(plan.sizes.heap, 8 * GIB);
    cr_assert_eq(plan.basis, MEMORY_AS_RAN);
    runs[0].problem_size = 20; /* for a third of the data it shows nothing */
    plan = plan_of(runs, 2);
    cr_assert_eq(plan.sizes.heap, 12 * GIB);
    cr_assert_eq(plan.basis, MEMORY_PEAK_USE);
}

/* 400 PiB fail one task at a time; one and a half times four times as much no machine has. */
Test(spark_memory, no_heap_is_too_large_to_stay_as_it_ran)
{
    static struct run_label huge[] = {PROPERTY("spark.executor.memory", "400p")};
    struct run run = run_with(huge, 1, RUN_UNKNOWN);
    run.out_of_memory_errors = run.cores_per_executor = 1;
    struct memory_plan plan = plan_of(&run, 1);
    cr_assert(plan.held_back_by_cores);
    cr_assert_eq(plan.sizes.heap, 400 * 1048576 * GIB);
    cr_assert_eq(plan.n_properties, 0);
}

static struct run_label gluten[] = {
    PROPERTY("spark.executor.memory", "8g"),
    PROPERTY("spark.memory.offHeap.enabled", "true"),
    PROPERTY("spark.memory.offHeap.size", "20g"),
    PROPERTY("spark.plugins", "com.acme.Audit, org.apache.gluten.GlutenPlugin"),
};
static struct run_label comet[] = {
    PROPERTY("spark.executor.memory", "8g"),
    PROPERTY(
        "spark.sql.extensions",
        "io.delta.sql.DeltaSparkSessionExtension,org.apache.comet.CometSparkSessionExtensions"),
};
static struct run_label rapids[] = {
    PROPERTY("spark.executor.memory", "8g"),
    PROPERTY("spark.shuffle.manager", "com.nvidia.spark.rapids.spark353.RapidsShuffleManager"),
};
static struct run_label off_heap_alone[] = {
    PROPERTY("spark.executor.memory", "8g"),
    PROPERTY("spark.memory.offHeap.enabled", "true"),
    PROPERTY("spark.memory.offHeap.size", "20g"),
};

/* Operators that fall back need the heap that there was (cases/16). */
Test(spark_memory, plugins_keep_the_heap_that_they_ran_with)
{
    static const struct {
        struct run_label *properties;
        size_t n;
        const char *plugin;
    } sets[] = {{gluten, 4, "Gluten"}, {comet, 2, "Comet"}, {rapids, 2, "RAPIDS"}};
    for (size_t i = 0; i < 3; i++) {
        struct run run = run_with(sets[i].properties, sets[i].n, 900000000);
        run.metrics.peak_off_heap_memory_bytes = 2 * GIB;
        struct memory_plan plan = plan_of_alike(&run, 2 * ENOUGH);
        cr_assert_eq(plan.sizes.heap, 8 * GIB);
        cr_assert_eq(plan.sizes.off_heap, plan.ran.off_heap);
        cr_assert_eq(plan.n_properties, 0);
        cr_assert_str_eq(plan.kept_for, sets[i].plugin);
    }
    struct run run = run_with(off_heap_alone, 3, GIB);
    run.metrics.peak_off_heap_memory_bytes = 17 * GIB;
    struct memory_plan plan = plan_of_alike(&run, 2 * ENOUGH);
    cr_assert_eq(plan.sizes.heap, 8 * GIB, "nor where most lies off the heap");
    cr_assert_str_eq(plan.kept_for, "spark.memory.offHeap.enabled");
    run.metrics.peak_off_heap_memory_bytes = GIB / 2;
    plan = plan_of_alike(&run, 2 * ENOUGH);
    cr_assert_eq(plan.sizes.heap, 4 * GIB);
    cr_assert_eq(plan.sizes.off_heap, 10 * GIB);
    cr_assert_null(plan.kept_for);
}

Test(spark_memory, what_a_plugin_spills_it_needs_off_the_heap)
{
    struct run run = run_with(gluten, 4, GIB);
    run.metrics.input_bytes = 100 * GIB;
    run.metrics.disk_spilled_bytes = 20 * GIB;
    struct memory_plan plan = plan_of_alike(&run, 1);
    cr_assert_eq(plan.basis, MEMORY_SPILL);
    cr_assert_eq(plan.sizes.heap, 8 * GIB);
    cr_assert_str_eq(property_in(&plan, "spark.memory.offHeap.size"), "30g");
    cr_assert_str_eq(plan.properties[0].reason, "much of the data was spilled to disk");
    run.metrics.memory_spilled_bytes = 16 * GIB;
    cr_assert_eq(plan_of_alike(&run, 1).sizes.off_heap, 24 * GIB, "4 GiB of each executor");
}

/* 8 GiB ran with 819 MiB beside it. The runs used 2 GiB of the heap, so it is cut to 4 GiB, with 409
 * MiB beside it: where what lay there needs more, with a fifth and 128 MiB on top, 819 MiB stay. */
Test(spark_memory, memory_beside_the_heap_is_the_most_that_was_seen)
{
    static const struct {
        int64_t non_heap_mib, python_mib, process_mib, overhead_mib;
    } seen[] = {{200, RUN_UNKNOWN, RUN_UNKNOWN, 409}, /* 368 MiB */
                {300, RUN_UNKNOWN, RUN_UNKNOWN, 819}, /* 488 */
                {100, 300, RUN_UNKNOWN, 819},         /* 608 */
                {100, 100, RUN_UNKNOWN, 409},         /* 368 */
                {100, RUN_UNKNOWN, 8192 + 400, 819},  /* 608: the process had 400 MiB beside it */
                {300, RUN_UNKNOWN, 8192 + 100, 819},  /* 488 */
                {RUN_UNKNOWN, RUN_UNKNOWN, 8192 + 200, 409}};
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        struct run run = run_with(eight_gib, 1, 2 * GIB);
        run.metrics.peak_jvm_non_heap_bytes = seen[i].non_heap_mib * MIB;
        run.metrics.peak_python_memory_bytes = seen[i].python_mib * MIB;
        run.metrics.peak_process_memory_bytes = seen[i].process_mib * MIB;
        struct memory_plan plan = plan_of_alike(&run, ENOUGH);
        cr_expect_eq(plan.sizes.heap, 4 * GIB);
        cr_expect_eq(plan.sizes.overhead, seen[i].overhead_mib * MIB, "row %zu", i);
    }
}

static struct run_label limits[] = {
    PROPERTY("spark.executor.memory", "8g"),
    PROPERTY("spark.executor.pyspark.memory", "4g"),
    PROPERTY("spark.memory.offHeap.enabled", "true"),
    PROPERTY("spark.memory.offHeap.size", "4g"),
};

/* The process had 200 MiB beside the 8, 4 and 4 GiB that have limits of their own; Python's workers
 * are within theirs. */
Test(spark_memory, what_has_a_limit_of_its_own_is_not_beside_the_heap)
{
    struct run run = run_with(limits, 4, 2 * GIB);
    run.metrics.peak_process_memory_bytes = 16 * GIB + 200 * MIB;
    cr_assert_eq(plan_of_alike(&run, ENOUGH).sizes.overhead, 409 * MIB);
    run.metrics.peak_process_memory_bytes = RUN_UNKNOWN;
    run.metrics.peak_jvm_non_heap_bytes = 200 * MIB;
    run.metrics.peak_python_memory_bytes = 4 * GIB;
    cr_assert_eq(plan_of_alike(&run, ENOUGH).sizes.overhead, 409 * MIB);
}

/* 1 GiB of 4 was used by four tasks: eight use 2, and with a fifth 2457.6 MiB, in steps of 64. */
Test(spark_memory, limits_grow_with_the_cores)
{
    const struct memory_question eight = question_of(4, 8);
    struct run runs[ENOUGH];
    for (size_t i = 0; i < ENOUGH; i++) {
        runs[i] = run_with(limits, 4, 4 * GIB);
        runs[i].metrics.peak_python_memory_bytes = GIB;
        runs[i].metrics.peak_off_heap_memory_bytes = GIB;
    }
    const struct memory_plan plan = plan_for(runs, ENOUGH, 64, &eight);
    cr_assert_eq(plan.sizes.pyspark, 2496 * MIB);
    cr_assert_eq(plan.sizes.off_heap, 2496 * MIB);
}

/* Of 4 GiB a quarter is 1 GiB; 2.5 GiB of unified memory are half of a heap less its 300 MiB. */
Test(spark_memory, factors_are_those_of_the_run)
{
    static struct run_label own[] = {PROPERTY("spark.executor.memory", "8g"),
                                     PROPERTY("spark.executor.memoryOverheadFactor", "0.25"),
                                     PROPERTY("spark.memory.fraction", "0.5")};
    static struct run_label whole[] = {PROPERTY("spark.executor.memory", "8g"),
                                       PROPERTY("spark.memory.fraction", "1")};
    struct run run = run_with(own, 3, 2 * GIB);
    run.metrics.peak_jvm_non_heap_bytes = 100 * MIB;
    struct memory_plan plan = plan_of_alike(&run, ENOUGH);
    cr_assert_eq(plan.sizes.heap, 4 * GIB);
    cr_assert_eq(plan.sizes.overhead, GIB);
    cr_assert_eq(plan.n_properties, 1, "Spark gives it that by itself");
    run.metrics.peak_unified_memory_bytes = 5 * GIB / 2;
    cr_assert_eq(plan_of_alike(&run, 1).needed_heap, 5.0 * GIB + 300.0 * MIB);
    run.spark_properties = whole; /* Spark refuses it: the default is 0.6 */
    run.n_spark_properties = 2;
    cr_assert_float_eq(plan_of_alike(&run, 1).needed_heap, 2.5 / 0.6 * GIB + 300.0 * MIB, 1);
}

Test(spark_memory, classes_of_plugins)
{
    char list[] =
        "com.acme.Key7f3a, org.apache.gluten.GlutenPlugin,io.delta.X,com.nvidia.spark.SQLPlugin ";
    native_engine_keep(list);
    cr_assert_str_eq(list, "org.apache.gluten.GlutenPlugin,com.nvidia.spark.SQLPlugin");
    char edges[] = "com.nvidia.spark.Za09_$zA,com.nvidia.spark.x:,com.nvidia.spark.x@";
    native_engine_keep(edges);
    cr_assert_str_eq(edges, "com.nvidia.spark.Za09_$zA");
    char other[] = "com.acme.Audit,,org.apache.gluten.x y,org.apache.gluten";
    native_engine_keep(other);
    cr_assert_str_eq(other, "");
    cr_assert_str_eq(native_engine_of_classes(strview_of("a, org.apache.spark.CometPlugin")),
                     "Comet");
    cr_assert_null(native_engine_of_classes(strview_of("com.acme.gluten.X")));
    cr_assert_null(native_engine_of_classes(strview_of("")));
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
    cr_assert_eq(plan.properties[0].kind, PROPOSAL_MEMORY);
    cr_assert_not(plan.applied);
    cr_assert_eq(plan.set.heap, 8 * GIB, "nobody asked for more");
    struct memory_question applied = question_of(4, 4);
    applied.applied = true;
    cr_assert_eq(plan_for(&run, 1, 64, &applied).set.heap, 12 * GIB);
    run = out_of_memory(0, 1, false);
    plan = plan_of(&run, 1);
    cr_assert_eq(plan.basis, MEMORY_CONTAINER_LIMIT);
    cr_assert_eq(plan.sizes.heap, 8 * GIB);
    cr_assert_eq(plan.sizes.overhead, 1664 * MIB, "twice 819 MiB, up to 64");
    cr_assert_str_eq(property_in(&plan, "spark.executor.memoryOverhead"), "1664m");
    cr_assert_str_eq(plan.properties[0].reason,
                     "executors with less were killed at the limit of their container");
}

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
    plan = plan_of_alike(&run, ENOUGH);
    cr_assert_eq(plan.sizes.heap, 8 * GIB, "never full, so it is not its size: neither way");
    run.metrics.gc_time_s = 1;
    run.metrics.input_bytes = 100 * GIB;
    run.metrics.disk_spilled_bytes = 2 * GIB;
    cr_assert_eq(plan_of_alike(&run, ENOUGH).sizes.heap, 8 * GIB,
                 "some of it spills: it is not cut");
}

/* From half of the time that makes the heap grow on, it is not cut either. */
Test(spark_memory, some_garbage_collection_keeps_the_heap)
{
    struct run run = run_with(eight_gib, 1, 2 * GIB);
    run.metrics.executor_run_time_s = 100;
    run.metrics.gc_time_s = 7;
    cr_assert_eq(plan_of_alike(&run, ENOUGH).sizes.heap, 8 * GIB);
    run.metrics.gc_time_s = 4;
    cr_assert_eq(plan_of_alike(&run, ENOUGH).sizes.heap, 4 * GIB);
}

/* A heap that failed is not cut to fit a cluster, though another run used little of as much. */
Test(spark_memory, a_heap_that_failed_is_not_cut_to_fit)
{
    struct memory_question question = question_of(4, 4);
    struct run runs[] = {run_with(eight_gib, 1, 4 * GIB), out_of_memory(1, 0, false)};
    question.most_per_executor = 6 * GIB;
    struct memory_plan plan = plan_for(runs, 2, 64, &question);
    cr_assert(plan.too_large);
    cr_assert_eq(plan.n_properties, 0);
    cr_assert_eq(plan.sizes.heap, 8 * GIB);
}

/* Never by more than was spilled, nor beyond what sufficed for as much, nor by what a run with three
 * times the data spilled. */
Test(spark_memory, growth_is_at_most_to_what_is_shown)
{
    struct run runs[2] = {run_with(eight_gib, 1, 6 * GIB), run_with(twelve_gib, 1, 9 * GIB)};
    runs[0].metrics.input_bytes = 100 * GIB;
    runs[0].metrics.disk_spilled_bytes = 20 * GIB;
    runs[0].metrics.memory_spilled_bytes = 4 * 3 * GIB / 5;
    cr_assert_eq(plan_of(runs, 1).sizes.heap, 9 * GIB, "0.6 GiB an executor, of 60 percent");
    runs[0].metrics.memory_spilled_bytes = RUN_UNKNOWN;
    runs[1] = run_with(ten_gib, 1, 9 * GIB);
    cr_assert_eq(plan_of(runs, 2).sizes.heap, 10 * GIB, "it sufficed");
    runs[1] = run_with(eight_gib, 1, 7 * GIB);
    cr_assert_eq(plan_of(runs, 2).sizes.heap, 12 * GIB, "as much has not sufficed since");
    runs[0].problem_size = 200;
    cr_assert_eq(plan_of(runs, 1).sizes.heap, 8 * GIB, "that was three times the data");
    runs[0] = out_of_memory(3, 2, false);
    runs[0].problem_size = 200;
    cr_assert_eq(plan_of(runs, 1).n_properties, 0, "nor does its failure count");
}

/* A gibibyte more per core than is stated is not given, whatever fails; more that ran stays. */
Test(spark_memory, growth_is_bounded_per_core)
{
    struct memory_question question = question_of(4, 1);
    struct run run = run_with(sixteen_and_overhead, 2, RUN_UNKNOWN);
    run.out_of_memory_errors = run.memory_limit_kills = 1;
    run.cores_per_executor = 1;
    struct memory_plan plan = plan_for(&run, 1, 64, &question);
    cr_assert(plan.held_back_by_cores);
    cr_assert_eq(memory_sizes_total(&plan.sizes), 32 * GIB, "it ran with more than 16 GiB a core");
    run = out_of_memory(1, 0, false);
    run.cores_per_executor = 1;
    question.most_per_core = 10 * GIB;
    plan = plan_for(&run, 1, 64, &question);
    cr_assert(plan.held_back_by_cores && !plan.held_back);
    cr_assert_leq(memory_sizes_total(&plan.sizes), 10 * GIB);
    cr_assert_gt(plan.sizes.heap, 8 * GIB);
    cr_assert_eq(plan.sizes.overhead, property_default_overhead(plan.sizes.heap, 0.1));
    question.most_per_core = 0;
    cr_assert_eq(plan_for(&run, 1, 64, &question).sizes.heap, 12 * GIB);
}

/* Spill makes 8 GiB 12, with 1228 MiB beside them. Without cores in question the two of the run
 * count, with 6 GiB each: 1228 MiB less, in steps of 64, are 11008, with a tenth of that beside it. */
Test(spark_memory, cores_are_those_of_the_runs_unless_asked)
{
    struct memory_question question = question_of(4, RUN_UNKNOWN);
    struct run run = run_with(eight_gib, 1, 6 * GIB);
    run.cores_per_executor = 2;
    run.metrics.input_bytes = 100 * GIB;
    run.metrics.disk_spilled_bytes = 20 * GIB;
    question.most_per_core = 6 * GIB;
    const struct memory_plan plan = plan_for(&run, 1, 64, &question);
    cr_assert(plan.held_back_by_cores);
    cr_assert_eq(plan.sizes.heap, 11008 * MIB);
    cr_assert_eq(plan.sizes.overhead, 1100 * MIB);
}

/* The total of a heap that no property specifies is not known. */
Test(spark_memory, the_total_of_an_unknown_heap_is_unknown)
{
    const struct memory_sizes sizes = {.heap = RUN_UNKNOWN, .overhead = 384 * MIB};
    const struct memory_sizes known = {
        .heap = GIB, .overhead = 384 * MIB, .off_heap = 5, .pyspark = 7};
    cr_assert_eq(memory_sizes_total(&sizes), RUN_UNKNOWN);
    cr_assert_eq(memory_sizes_total(&known), GIB + 384 * MIB + 12);
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
    struct memory_plan plan = plan_of_alike(&run, ENOUGH);
    cr_assert_eq(plan.sizes.off_heap, 2 * GIB, "a half at most is cut");
    cr_assert_eq(plan.sizes.pyspark, GIB, "it had used almost all, and sufficed");
    cr_assert_eq(memory_sizes_total(&plan.ran), 8 * GIB + 819 * MIB + GIB + 4 * GIB);
    cr_assert_str_eq(property_in(&plan, "spark.memory.offHeap.size"), "2g");
    cr_assert_str_eq(plan.properties[0].reason, "by the most that the runs used");
    cr_assert_eq(plan_of_alike(&run, ENOUGH - 1).sizes.off_heap, 4 * GIB);
    run.metrics.peak_off_heap_memory_bytes = RUN_UNKNOWN;
    cr_assert_eq(plan_of_alike(&run, ENOUGH).sizes.off_heap, 4 * GIB);
}

/* After spill 16 GiB become 24, which is 8 GiB for each of three cores: for two it would be too much. */
Test(spark_memory, a_heap_grows_to_eight_gib_a_core)
{
    static struct run_label sixteen_gib[] = {PROPERTY("spark.executor.memory", "16g")};
    struct run run = run_with(sixteen_gib, 1, 15 * GIB);
    run.metrics.input_bytes = 1000 * GIB;
    run.metrics.disk_spilled_bytes = 500 * GIB;
    run.metrics.memory_spilled_bytes = 5000 * GIB;
    for (int64_t cores = 2; cores <= 3; cores++) {
        const struct memory_question question = question_of(4, cores);
        run.cores_per_executor = cores;
        cr_expect_eq(plan_for(&run, 1, 64, &question).sizes.heap, (cores == 3 ? 24 : 16) * GIB);
    }
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
    cr_assert_eq(plan.n_properties, 0, "12 GiB would not fit either");
    cr_assert_eq(plan.sizes.heap, 8 * GIB);
    run = run_with(eight_gib, 1, 4 * GIB);
    plan = plan_for(&run, 1, 64, &question);
    cr_assert(!plan.too_large && !plan.held_back);
    cr_assert_leq(memory_sizes_total(&plan.sizes), 6 * GIB);
    cr_assert_geq(plan.sizes.heap, 4 * GIB);
    cr_assert_eq(plan.basis, MEMORY_PEAK_USE);
    run.metrics.executor_run_time_s = 100;
    run.metrics.gc_time_s = 4;
    cr_assert_not(plan_for(&run, 1, 64, &question).too_large);
    run.metrics.gc_time_s = 6; /* of 100 s: with less heap it would be more */
    cr_assert(plan_for(&run, 1, 64, &question).too_large);
}

/* 12 GiB and 1228 MiB beside them are 64 MiB too much: so much less heap fits, and nothing else. */
Test(spark_memory, executors_may_just_fit_the_cluster)
{
    struct memory_question question = question_of(4, 4);
    const struct run run = out_of_memory(1, 0, false);
    question.most_per_executor = (12 * 1024 + 1228 - 64) * MIB;
    const struct memory_plan plan = plan_for(&run, 1, 64, &question);
    cr_assert(plan.held_back && !plan.too_large);
    cr_assert_eq(plan.sizes.heap, (12 * 1024 - 64) * MIB);
    cr_assert_eq(plan.basis, MEMORY_OUT_OF_MEMORY);
}

/* Of 8 GiB with 819 MiB beside them 6 leave 5.2, below the peaks of 7, and 4 leave 3.2, less than a
 * half. Five runs of little would be cut to 4 GiB: where not even those fit, nothing is changed. */
Test(spark_memory, executors_that_cannot_fit_stay_as_they_ran)
{
    static const struct {
        int64_t peak_gib, most_gib;
        size_t runs;
    } rows[] = {{7, 6, 1}, {1, 4, 1}, {1, 3, ENOUGH}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct memory_question question = question_of(4, 4);
        struct run runs[ENOUGH];
        for (size_t k = 0; k < rows[i].runs; k++)
            runs[k] = run_with(eight_gib, 1, rows[i].peak_gib * GIB);
        question.most_per_executor = rows[i].most_gib * GIB;
        const struct memory_plan plan = plan_for(runs, rows[i].runs, 64, &question);
        cr_expect(plan.too_large, "row %zu", i);
        cr_expect_eq(plan.sizes.heap, 8 * GIB);
        cr_expect_eq(plan.basis, MEMORY_AS_RAN);
        cr_expect_eq(plan.n_properties, 0);
        question.fixed.heap = 5 * GIB; /* and what is fixed stays fixed */
        question.most_per_executor = 3 * GIB;
        const struct memory_plan fixed = plan_for(runs, rows[i].runs, 64, &question);
        cr_expect(fixed.too_large);
        cr_expect_eq(fixed.sizes.heap, 5 * GIB);
        cr_expect_eq(fixed.basis, MEMORY_ENFORCED);
    }
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
    cr_assert_eq(plan.basis, MEMORY_ENFORCED);
}

Test(spark_memory, classes_of_machines)
{
    cr_assert_str_eq(memory_machine_class(8 * GIB, 4), "compute_optimized");
    cr_assert_str_eq(memory_machine_class(9 * GIB, 4), "general_purpose");
    cr_assert_str_eq(memory_machine_class(32 * GIB, 4), "memory_optimized");
    cr_assert_null(memory_machine_class(33 * GIB, 4));
    cr_assert_null(memory_machine_class(GIB, RUN_UNKNOWN));
    cr_assert_null(memory_machine_class(RUN_UNKNOWN, 4));
    cr_assert_null(memory_machine_class(0, 0));
}
