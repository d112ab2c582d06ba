#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/diagnosis/bottlenecks.h"
#include "core/diagnosis/stage_time.h"
#include "core/history/run_metrics.h"

#define MIB (INT64_C(1) << 20)

static struct arena arena, scratch;
static struct run run;
static struct run_stage stages[64];
static double durations[64][64];

/* 4 executors of 2 cores for 100 s. */
static void set_up(void)
{
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
    run = (struct run){.id = "0190",
                       .executors = 4,
                       .cores_per_executor = 2,
                       .duration_s = 100,
                       .initialization_s = 0,
                       .stages = stages,
                       .has_stages = true};
    run_clear_log(&run);
}

static void tear_down(void)
{
    arena_fini(&arena);
    arena_fini(&scratch);
}

TestSuite(bottlenecks, .init = set_up, .fini = tear_down, .timeout = 20);

/* A stage of n equal tasks that keep the cores busy as well as they can. */
static struct run_stage *add_stage(size_t n, double task_s, double started_s)
{
    struct run_stage *stage = &stages[run.n_stages];
    double *tasks = durations[run.n_stages];
    double waves = ceil((double)n / 8);
    *stage = (struct run_stage){.id = (int64_t)run.n_stages,
                                .name = strview_of("map"),
                                .n_tasks = (int64_t)n,
                                .task_durations_s = tasks,
                                .task_time_s = (double)n * task_s,
                                .duration_s = waves * task_s,
                                .started_s = started_s};
    run_stage_clear_log(stage);
    for (size_t i = 0; i < n; i++)
        tasks[i] = task_s;
    run.n_stages++;
    return stage;
}

static void lengthen(struct run_stage *stage, size_t task, double to_s)
{
    double *tasks = durations[stage - stages];
    stage->task_time_s += to_s - tasks[task];
    stage->duration_s += to_s - tasks[task];
    tasks[task] = to_s;
}

static struct bottlenecks find(void)
{
    struct bottlenecks found;
    struct pv_error err = {0};
    cr_assert_eq(bottlenecks_find(&run, &arena, &scratch, &found, &err), PV_OK);
    for (size_t i = 0; i < found.n; i++) {
        cr_assert_str_eq(found.items[i].finding.code, bottleneck_kind_name(found.items[i].kind));
        cr_assert(strlen(found.items[i].cure) > 20);
    }
    return found;
}

/* The only one that is found. */
static struct bottleneck only(enum bottleneck_kind kind)
{
    struct bottlenecks found = find();
    cr_assert_eq(found.n, 1, "%zu found", found.n);
    cr_assert_eq(found.items[0].kind, kind, "%s", bottleneck_kind_name(found.items[0].kind));
    return found.items[0];
}

Test(bottlenecks, none_where_all_cores_work)
{
    add_stage(16, 25, 0);
    add_stage(16, 25, 50);
    cr_assert_eq(find().n, 0);
}

Test(bottlenecks, fewer_tasks_than_cores)
{
    add_stage(2, 40, 0);
    add_stage(8, 60, 40);
    struct bottleneck item = only(BOTTLENECK_TOO_FEW_TASKS);
    cr_assert_eq(item.stage_id, 0);
    cr_assert_float_eq(item.lost_s, 40 * 0.75, 1e-9);
    cr_assert_float_eq(item.lost_share, 0.3, 1e-9);
    cr_assert_not(item.more_executors_help);
    cr_assert(strstr(item.cure, "More executors do not cure this") != NULL);
}

/* A stage whose tasks all failed has no successful task, but not too few partitions. */
Test(bottlenecks, a_stage_without_successful_tasks_has_none)
{
    struct run_stage *stage = add_stage(2, 40, 0);
    stage->n_tasks = 0;
    stage->task_time_s = 0.0;
    stage->tasks_failed = 2;
    add_stage(8, 60, 40);
    cr_assert_eq(find().n, 0);
}

/* The end of a count: partitions of shuffles do not change it. Of an input they would. */
Test(bottlenecks, one_task_by_design_is_cured_by_no_setting)
{
    add_stage(1, 40, 0)->n_parents = 1;
    add_stage(8, 60, 40);
    struct bottleneck item = only(BOTTLENECK_TOO_FEW_TASKS);
    cr_assert_null(strstr(item.cure, "spark.sql.shuffle.partitions"));
    cr_assert(strstr(item.cure, "one by design") != NULL);
    stages[0].n_parents = 0;
    stages[0].metrics.input_bytes = 0;
    item = only(BOTTLENECK_TOO_FEW_TASKS);
    cr_assert(strstr(item.cure, "one by design") != NULL);
    stages[0].n_parents = 1;
    stages[0].metrics.input_bytes = 256 * MIB;
    item = only(BOTTLENECK_TOO_FEW_TASKS);
    cr_assert(strstr(item.cure, "spark.sql.files.maxPartitionBytes") != NULL);
    stages[0].metrics.input_bytes = 0;
    stages[0].n_tasks = 2;
    durations[0][1] = 40;
    stages[0].task_time_s = 80;
    item = only(BOTTLENECK_TOO_FEW_TASKS);
    cr_assert(strstr(item.cure, "spark.sql.shuffle.partitions") != NULL);
}

/* What a stage's number of tasks obeys: shuffle partitions, splits of files, or slices. A stage
 * without parents does not obey spark.sql.shuffle.partitions, whatever is known of what it reads. */
Test(bottlenecks, cures_name_what_the_stage_obeys)
{
    static const char partitions[] = "spark.sql.shuffle.partitions";
    static const char splits[] = "spark.sql.files.maxPartitionBytes";
    static const char slices[] = "spark.default.parallelism";
    static const struct {
        size_t parents;
        int64_t input_bytes, shuffle_bytes;
        const char *few, *few_not, *many, *many_not;
    } cases[] = {
        {0, 0, 0, slices, partitions, slices, partitions},
        {0, 0, RUN_UNKNOWN, slices, partitions, slices, partitions},
        {0, RUN_UNKNOWN, RUN_UNKNOWN, slices, partitions, "coalesce after reading", partitions},
        {0, 64 * MIB, 0, splits, partitions, splits, partitions},
        {1, 64 * MIB, MIB, splits, partitions, splits, partitions},
        {1, RUN_UNKNOWN, RUN_UNKNOWN, partitions, splits, partitions, splits},
        {1, 0, 64 * MIB, partitions, splits, partitions, splits},
        {0, MIB, 64 * MIB, partitions, splits, partitions, splits},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int many = 0; many < 2; many++) {
            run.n_stages = 0;
            struct run_stage *stage = many ? add_stage(60, 0.1, 0) : add_stage(2, 20, 0);
            stage->duration_s = many ? 40 : stage->duration_s;
            stage->n_parents = cases[i].parents;
            stage->metrics.input_bytes = cases[i].input_bytes;
            stage->metrics.shuffle_read_bytes = cases[i].shuffle_bytes;
            add_stage(8, 60, 40);
            struct bottleneck item =
                only(many ? BOTTLENECK_SMALL_PARTITIONS : BOTTLENECK_TOO_FEW_TASKS);
            cr_expect_not_null(strstr(item.cure, many ? cases[i].many : cases[i].few),
                               "case %zu: %s", i, item.cure);
            cr_expect_null(strstr(item.cure, many ? cases[i].many_not : cases[i].few_not),
                           "case %zu: %s", i, item.cure);
        }
}

/* Tasks that spill are not too small, however short they are. */
Test(bottlenecks, what_spills_is_not_cut_too_small)
{
    struct run_stage *stage = add_stage(60, 0.1, 0);
    stage->duration_s = 40;
    stage->metrics.disk_spilled_bytes = MIB;
    add_stage(8, 60, 40);
    only(BOTTLENECK_SPILL);
}

/* A cure that looks at a machine says which one it is, or how to see its name. */
Test(bottlenecks, a_machine_is_named_or_can_be)
{
    static int64_t on[12];
    static struct run_node nodes[2];
    struct run_stage *stage = add_stage(12, 10, 0);
    lengthen(stage, 5, 60);
    stage->metrics.input_bytes = 1200 * MIB;
    stage->metrics.longest_task_bytes = 100 * MIB;
    stage->duration_s = 70;
    on[5] = 1;
    nodes[0].name = strview_of("worker-1");
    nodes[1].name = strview_of("worker-2");
    cr_expect_null(strstr(only(BOTTLENECK_STRAGGLER).cure, "achine was"));
    stage->task_nodes = on;
    run.nodes = nodes;
    run.n_nodes = 2;
    cr_expect_not_null(strstr(only(BOTTLENECK_STRAGGLER).cure, "Its machine was worker-2."));
    nodes[1].name = strview_of("host:35b2bd62838764b5");
    cr_expect_not_null(strstr(only(BOTTLENECK_STRAGGLER).cure,
                              "Names of machines are hidden: logs that are sent while "
                              "eventlog_host_names=keep show them."));
    nodes[1].name = (struct strview){NULL, 0};
    stage->metrics.longest_task_bytes = RUN_UNKNOWN;
    cr_expect_not_null(strstr(only(BOTTLENECK_UNEVEN_TASKS).cure, "eventlog_host_names=keep"));
}

Test(bottlenecks, input_is_split_for_the_cores_advised)
{
    const char *key = NULL, *value = NULL;
    add_stage(2, 40, 0)->metrics.input_bytes = 256 * MIB;
    add_stage(8, 60, 40);
    struct bottleneck item = only(BOTTLENECK_TOO_FEW_TASKS);
    cr_assert(bottleneck_property(&item, 16, &arena, &key, &value));
    cr_assert_str_eq(key, "spark.sql.files.maxPartitionBytes");
    cr_assert_str_eq(value, "16m");
    cr_assert_not(bottleneck_property(&item, 2, &arena, &key, &value), "two tasks for two cores");
    cr_assert_not(bottleneck_property(&item, 1000, &arena, &key, &value), "less than 16 MiB each");
}

/* The size of splits holds for the whole job: 16 MiB would cut 10 GiB into 640 tasks. */
Test(bottlenecks, input_is_not_split_where_another_stage_would_be_cut_into_crumbs)
{
    const char *key = NULL, *value = NULL;
    add_stage(2, 40, 0)->metrics.input_bytes = 256 * MIB;
    add_stage(80, 60, 40)->metrics.input_bytes = 1024 * MIB;
    struct bottleneck item = only(BOTTLENECK_TOO_FEW_TASKS);
    cr_assert(bottleneck_property(&item, 16, &arena, &key, &value), "4 tasks a core");
    stages[1].metrics.input_bytes = 1025 * MIB;
    item = only(BOTTLENECK_TOO_FEW_TASKS);
    cr_assert_not(bottleneck_property(&item, 16, &arena, &key, &value));
}

Test(bottlenecks, a_long_task_by_what_it_read)
{
    const char *key = NULL, *value = NULL;
    struct run_stage *stage = add_stage(16, 10, 0);
    lengthen(stage, 3, 50);
    add_stage(8, 40, 60);
    struct bottleneck item = only(BOTTLENECK_UNEVEN_TASKS);
    cr_assert_float_eq(item.lost_s, fmin(40, 60 - 200.0 / 8), 1e-9);
    stage->metrics.shuffle_read_bytes = 160 * MIB;
    stage->metrics.longest_task_bytes = 14 * MIB;
    item = only(BOTTLENECK_STRAGGLER);
    cr_assert(bottleneck_property(&item, 8, &arena, &key, &value));
    cr_assert_str_eq(key, "spark.speculation");
    stage->metrics.longest_task_bytes = 15 * MIB;
    item = only(BOTTLENECK_SKEW);
    cr_assert_float_eq(finding_value(&item.finding, "bytes_per_task"), 10.0 * (double)MIB, 1);
    cr_assert_not(bottleneck_property(&item, 8, &arena, &key, &value));
}

Test(bottlenecks, partitions_too_small_and_too_large)
{
    struct run_stage *stage = add_stage(40, 0.1, 0);
    stage->duration_s = 20;
    add_stage(8, 80, 20);
    struct bottleneck item = only(BOTTLENECK_SMALL_PARTITIONS);
    cr_assert_float_eq(item.lost_s, 20 - 4.0 / 8, 1e-9);
    run.n_stages = 0;
    stage = add_stage(9, 40, 0);
    stage->metrics.shuffle_read_bytes = 9 * 512 * MIB;
    run.duration_s = 80;
    item = only(BOTTLENECK_LARGE_PARTITIONS);
    cr_assert_float_eq(item.lost_s, 80 - 45, 1e-9);
    cr_assert(item.more_executors_help);
}

Test(bottlenecks, spill_and_garbage)
{
    struct run_stage *stage = add_stage(16, 50, 0);
    stage->metrics.shuffle_read_bytes = 600 * MIB;
    stage->metrics.shuffle_write_bytes = 200 * MIB;
    stage->metrics.disk_spilled_bytes = 200 * MIB;
    struct bottleneck item = only(BOTTLENECK_SPILL);
    cr_assert_float_eq(item.lost_s, 20, 1e-9);
    stage->metrics.disk_spilled_bytes = 40 * MIB;
    cr_assert_eq(find().n, 0, "less than 5 percent");
    stage->metrics.executor_run_time_s = 800;
    stage->metrics.gc_time_s = 160;
    item = only(BOTTLENECK_GARBAGE_COLLECTION);
    cr_assert_float_eq(item.lost_s, 20, 1e-9);
}

/* 4 executors with 400 MiB for 2 task slots. 16 tasks spill 1,600 MiB as it lay in memory, so that a
 * task collects 100 MiB beyond the 200 MiB that it has. */
static struct run_stage *add_spilling_stage(void)
{
    struct run_stage *stage = add_stage(16, 50, 0);
    run.storage_memory_bytes = 400 * MIB;
    stage->n_parents = 1;
    stage->metrics.shuffle_read_bytes = 600 * MIB;
    stage->metrics.disk_spilled_bytes = 200 * MIB;
    stage->metrics.memory_spilled_bytes = 1600 * MIB;
    return stage;
}

Test(bottlenecks, spill_names_the_memory_of_a_task_and_what_it_collects)
{
    add_spilling_stage();
    struct bottleneck item = only(BOTTLENECK_SPILL);
    cr_expect_str_eq(
        item.finding.message,
        "Stage 0 (map) spills 200 MiB to disk, 25 % of what it moves, which costs up to "
        "25 s. A task collects about 300 MiB, but has 200 MiB of memory: an executor "
        "has 400 MiB for 2 task slots.");
    cr_expect_str_eq(
        item.cure,
        "More partitions cure this: in 24 tasks instead of 16, the data of a task fit its memory. "
        "To divide them, raise spark.sql.shuffle.partitions (of RDDs: spark.default.parallelism), "
        "or lower spark.sql.adaptive.advisoryPartitionSizeInBytes if adaptive execution merges "
        "partitions. 1.5 times as much memory a core cures this, too; more executors alone do "
        "not.");
    cr_expect_eq(finding_value(&item.finding, "tasks_needed"), 24);
    cr_expect_eq(finding_value(&item.finding, "memory_bytes_per_task"), 200.0 * (double)MIB);
    cr_expect_eq(finding_value(&item.finding, "needed_bytes_per_task"), 300.0 * (double)MIB);
    stages[0].metrics.input_bytes = 700 * MIB;
    item = only(BOTTLENECK_SPILL);
    cr_expect_not_null(strstr(item.cure, "spark.sql.files.maxPartitionBytes"));
    cr_expect_null(strstr(item.cure, "spark.sql.shuffle.partitions"));
}

Test(bottlenecks, spill_where_partitions_cure_nothing)
{
    struct run_stage *stage = add_spilling_stage();
    stage->metrics.longest_task_bytes = 60 * MIB;
    struct bottleneck item = only(BOTTLENECK_SPILL);
    cr_expect_not_null(strstr(item.cure, "Even out the tasks first"));
    cr_expect_null(strstr(item.cure, "More partitions"));
    run.n_stages = 0;
    add_stage(8, 60, 40);
    stage = add_stage(1, 40, 0);
    stage->n_parents = 1;
    stage->metrics.shuffle_read_bytes = stage->metrics.disk_spilled_bytes = 600 * MIB;
    struct bottlenecks found = find();
    cr_assert_eq(found.n, 2);
    for (size_t i = 0; i < 2; i++)
        cr_expect_not_null(strstr(found.items[i].cure, "by design"), "%s", found.items[i].cure);
}

/* Memory off the heap is what tasks have if it is enabled. That of a plugin is unknown. */
Test(bottlenecks, spill_by_the_memory_that_tasks_use)
{
    struct run_label properties[] = {
        {strview_of("spark.memory.offHeap.enabled"), strview_of("true")},
        {strview_of("spark.memory.offHeap.size"), strview_of("1g")},
    };
    add_spilling_stage();
    run.spark_properties = properties;
    run.n_spark_properties = 2;
    struct bottleneck item = only(BOTTLENECK_SPILL);
    cr_expect_eq(finding_value(&item.finding, "memory_bytes_per_task"), 512.0 * (double)MIB);
    properties[0] =
        (struct run_label){strview_of("spark.plugins"), strview_of("com.nvidia.spark.SQLPlugin")};
    run.n_spark_properties = 1;
    item = only(BOTTLENECK_SPILL);
    cr_expect(isnan(finding_value(&item.finding, "memory_bytes_per_task")));
    cr_expect_str_eq(item.cure, "More partitions or more memory a core cure this; more executors "
                                "alone do not.");
    stages[0].metrics.disk_spilled_bytes = 0;
    item = only(BOTTLENECK_SPILL);
    cr_expect_str_eq(item.finding.message,
                     "Stage 0 (map) spills 1.6 GiB from the memory of RAPIDS to other memory of "
                     "its machine, 72.7 % of what it moves, which costs up to 1 min 13 s.");
    cr_expect_not_null(strstr(item.cure, "spark.rapids.sql.concurrentGpuTasks"));
    stages[0].metrics.disk_spilled_bytes = RUN_UNKNOWN;
    cr_expect_eq(find().n, 0, "memory alone shows no spill if the disk is unknown");
}

/* 4 executors hold 40 of 60 blocks of 100 MiB: stage 0 caches them for 40 s, and 20 of 60 tasks of
 * stage 1 do not find their block, which takes them 4 s longer. */
static struct run_stage *add_cached_stages(void)
{
    add_stage(32, 5, 0);
    struct run_stage *stage = add_stage(60, 1, 20);
    for (size_t i = 0; i < 20; i++)
        lengthen(stage, 3 * i, 5);
    stage->duration_s = 20;
    stage->cache_source_id = 0;
    run.duration_s = 40;
    run.storage_memory_bytes = 1000 * MIB;
    run.metrics.peak_storage_memory_bytes = 980 * MIB;
    return stage;
}

Test(bottlenecks, cached_blocks_that_a_stage_misses)
{
    struct run_stage *stage = add_cached_stages();
    run.cached_blocks_dropped = 7;
    struct bottleneck item = only(BOTTLENECK_CACHED_BLOCKS);
    cr_expect_eq(item.stage_id, 1);
    cr_expect_float_eq(item.lost_s, 20.0 * 80.0 / 140.0, 1e-9);
    cr_expect_str_eq(item.finding.message,
                     "Stage 1 (map) reads data that stage 0 cached. 33.3 % of its 60 tasks did not "
                     "find their block in memory and took 4 s longer each, which costs up to 11.4 "
                     "s. The data take about 5.9 GiB, and 4 executors hold at most 3.9 GiB.");
    cr_expect_str_eq(
        item.cure, "6 executors hold all of the data, and so do 4 executors with 1.5 GiB of "
                   "storage memory each. Caching less, or in serialized form, needs less memory.");
    cr_expect_eq(finding_value(&item.finding, "executors_needed"), 6);
    cr_expect(item.more_executors_help);
    run.metrics.peak_storage_memory_bytes = 500 * MIB;
    run.cached_blocks_dropped = 0;
    cr_expect_eq(only(BOTTLENECK_UNEVEN_TASKS).stage_id, 1, "half of the memory was free");
    run.metrics.peak_storage_memory_bytes = 980 * MIB;
    stage->cache_source_id = RUN_UNKNOWN;
    only(BOTTLENECK_UNEVEN_TASKS);
}

/* Dropped blocks show that memory was short, even if its size is unknown. */
Test(bottlenecks, cached_blocks_of_an_unknown_memory)
{
    add_cached_stages();
    run.storage_memory_bytes = run.metrics.peak_storage_memory_bytes = RUN_UNKNOWN;
    run.cached_blocks_dropped = 7;
    struct bottleneck item = only(BOTTLENECK_CACHED_BLOCKS);
    cr_expect_null(strstr(item.finding.message, "The data take"));
    cr_expect_not_null(strstr(item.cure, "More memory for executors"));
    run.cached_blocks_dropped = RUN_UNKNOWN;
    only(BOTTLENECK_UNEVEN_TASKS);
}

/* Two of 4 executors of 2 cores go after 50 of 100 s, and one comes back after 75: 2 x 25 + 2 x 50 core
 * seconds are missing of the 8 cores, and 10 s of tasks were lost. */
Test(bottlenecks, executors_that_the_platform_took_away)
{
    struct executor_lifetime executors[5] = {{0, (double)NAN, 2, RUN_UNKNOWN, false},
                                             {0, (double)NAN, 2, RUN_UNKNOWN, false},
                                             {0, 50, 2, RUN_UNKNOWN, true},
                                             {0, 50, 2, RUN_UNKNOWN, true},
                                             {75, (double)NAN, 2, RUN_UNKNOWN, false}};
    add_stage(16, 50, 0);
    run.executor_lifetimes = executors;
    run.n_executor_lifetimes = 5;
    run.executors_lost = 2;
    run.failed_task_time_s = 10;
    struct bottleneck item = only(BOTTLENECK_EXECUTORS_LOST);
    cr_expect_float_eq(item.lost_s, (50.0 + 100.0 + 10.0) / 8.0, 1e-9);
    cr_expect_eq(item.stage_id, RUN_UNKNOWN);
    cr_expect(!item.more_executors_help);
    cr_expect_eq(finding_value(&item.finding, "executors_lost"), 2);
    cr_expect_not_null(strstr(item.finding.message, "took 2 of 4 executors away"));
    run.executors_lost = RUN_UNKNOWN;
    cr_expect_eq(find().n, 0);
}

/* Half of the run no stage ran: the driver worked, or a streaming query waited for its trigger. */
Test(bottlenecks, waiting_for_a_trigger_is_not_the_drivers_work)
{
    add_stage(16, 25, 0);
    run.stage_time_s = 50;
    only(BOTTLENECK_DRIVER);
    run.streaming_queries = 1;
    cr_expect_eq(find().n, 0);
}

/* A cure that names a property which the job sets itself says so. */
Test(bottlenecks, cures_by_properties_that_the_job_sets)
{
    static struct run_label now[] = {{{"spark.sql.shuffle.partitions", 28}, {"4", 1}}};
    static struct run_label submitted[] = {{{"spark.sql.shuffle.partitions", 28}, {"", 0}}};
    struct run_stage *stage = add_stage(4, 100, 0);
    stage->metrics.shuffle_read_bytes = 1000;
    run.spark_properties = now;
    run.n_spark_properties = 1;
    cr_expect_null(strstr(only(BOTTLENECK_TOO_FEW_TASKS).cure, "The job itself"));
    run.submitted_properties = submitted;
    run.n_submitted_properties = 1;
    cr_expect_not_null(
        strstr(only(BOTTLENECK_TOO_FEW_TASKS).cure,
               "The job itself sets spark.sql.shuffle.partitions to 4: setting it at "
               "submission has no effect"));
}

Test(bottlenecks, waiting_for_storage)
{
    struct run_stage *stage = add_stage(40, 20, 0);
    stage->metrics.input_bytes = 40 * 64 * MIB;
    stage->metrics.executor_run_time_s = 800;
    stage->metrics.executor_cpu_time_s = 200;
    struct bottleneck item = only(BOTTLENECK_STORAGE_BOUND);
    cr_assert_float_eq(item.lost_s, 75, 1e-9);
    stage->metrics.input_bytes = 40 * MIB;
    only(BOTTLENECK_SMALL_FILES);
    stage->metrics.shuffle_read_bytes = 41 * MIB;
    cr_assert_eq(find().n, 0, "most of it comes from shuffles");
}

/* Records may contradict each other: a share of a time is at most all of it. */
Test(bottlenecks, no_share_is_more_than_all)
{
    struct run_stage *stage = add_stage(40, 20, 0);
    stage->metrics.executor_run_time_s = 1e-300;
    stage->metrics.gc_time_s = 1e19;
    run.duration_s = 1e-3;
    struct bottleneck item = only(BOTTLENECK_GARBAGE_COLLECTION);
    cr_assert_eq(item.lost_share, 1.0);
    cr_assert_eq(item.lost_s, 100);
}

Test(bottlenecks, the_run_as_a_whole)
{
    add_stage(16, 20, 30);
    run.initialization_s = 30;
    run.stage_time_s = 40;
    run.executor_startup_s = 25;
    run.cached_blocks_dropped = 7;
    struct bottlenecks found = find();
    cr_assert_eq(found.n, 3);
    cr_assert(found.items[0].lost_s == 30 && found.items[1].lost_s == 30);
    cr_assert_eq(found.items[0].kind, BOTTLENECK_DRIVER);
    cr_assert_eq(found.items[1].kind, BOTTLENECK_STARTUP);
    cr_assert_eq(found.items[2].kind, BOTTLENECK_CACHED_BLOCKS);
    cr_assert(isnan(found.items[2].lost_s) && found.items[2].more_executors_help);
    cr_assert_eq(found.items[0].stage_id, RUN_UNKNOWN);
}

Test(bottlenecks, stages_side_by_side_share_the_time)
{
    double charged[3];
    struct pv_error err = {0};
    add_stage(8, 40, 0);
    add_stage(8, 60, 20);
    add_stage(8, 5, (double)NAN);
    cr_assert_eq(stage_time_charge(&run, &scratch, charged, &err), PV_OK);
    cr_assert_float_eq(charged[0], 20 + 10, 1e-9);
    cr_assert_float_eq(charged[1], 10 + 40, 1e-9);
    cr_assert_float_eq(charged[2], 5, 1e-9);
}

Test(bottlenecks, nothing_is_known)
{
    cr_assert_eq(find().n, 0, "no stages");
    add_stage(2, 40, 0);
    run.executors = RUN_UNKNOWN;
    cr_assert_eq(find().n, 0, "no cores");
    run.executors = 4;
    stages[0].task_durations_s = NULL;
    stages[0].task_time_s = (double)NAN;
    cr_assert_eq(find().n, 0, "no tasks");
    run.duration_s = (double)NAN;
    cr_assert_eq(find().n, 0, "no duration");
}

/* Whatever a run holds: at most ten, most first, and its stages lose no more than it lasted. */
Test(bottlenecks, holds_for_any_run)
{
    srand(99);
    for (int k = 0; k < 3000; k++) {
        double at_s = 0, lost_cut = 0;
        run.n_stages = 0;
        for (size_t i = 0; i < 1 + (size_t)rand() % 30; i++) {
            struct run_stage *stage = add_stage(1 + (size_t)rand() % 60, 0.05 + rand() % 20, at_s);
            if (rand() % 2 == 0)
                lengthen(stage, 0, 30 + rand() % 50);
            stage->metrics.input_bytes = rand() % 3 == 0 ? RUN_UNKNOWN : rand() % 1000 * MIB;
            stage->metrics.longest_task_bytes = rand() % 300 * MIB;
            at_s += rand() % 2 == 0 ? stage->duration_s : 0;
            run.duration_s = fmax(run.duration_s, stage->started_s + stage->duration_s);
        }
        struct bottlenecks found = find();
        cr_assert_leq(found.n, BOTTLENECKS_MAX);
        for (size_t i = 0; i < found.n; i++) {
            cr_assert(found.items[i].lost_s >= 0.02 * run.duration_s);
            cr_assert(i == 0 || found.items[i].lost_s <= found.items[i - 1].lost_s);
            if (found.items[i].kind <= BOTTLENECK_LARGE_PARTITIONS)
                lost_cut += found.items[i].lost_s;
        }
        cr_assert_leq(lost_cut, run.duration_s * (1 + 1e-9));
    }
}

/* --- idle cores --- */

/* 4 executors of 8 cores for 100 s, 64 tasks in waves of so many on each. */
static void run_waves(struct run_resources *profile, size_t waves)
{
    run.cores_per_executor = 8;
    run.resources = profile;
    run.n_resources = 1;
    add_stage(64, 100.0 / (double)waves, 0)->duration_s = 100;
}

/* A quarter of a GPU: 16 tasks at once, 4 waves where 2 would do. */
Test(bottlenecks, a_gpu_share_leaves_cores_idle)
{
    const char *key = NULL, *value = NULL;
    struct run_resources profile = {0, 4, 8, RUN_UNKNOWN, 1, {"gpu", 3}, 1, 0.25};
    run_waves(&profile, 4);
    struct bottleneck item = only(BOTTLENECK_IDLE_CORES);
    cr_assert_float_eq(item.lost_s, 50, 1e-9);
    cr_assert_str_eq(
        item.finding.message,
        "Stage 0 (map) runs 4 tasks at once on an executor of 8 cores: each task takes "
        "0.25 of the executor's 1 gpu. 4 idle cores of each executor cost up to 50 s.");
    cr_assert(bottleneck_property(&item, 32, &arena, &key, &value));
    cr_assert_str_eq(key, "spark.task.resource.gpu.amount");
    cr_assert_str_eq(value, "0.125");
    cr_assert_str_eq(item.cure, "Set spark.task.resource.gpu.amount to 0.125 if the memory of each "
                                "gpu suffices, else spark.executor.cores to 4.");
    /* 1 / 6 is rounded down, so that 6 tasks fit. */
    profile.cores_per_executor = run.cores_per_executor = 6;
    item = only(BOTTLENECK_IDLE_CORES);
    cr_assert(bottleneck_property(&item, 24, &arena, &key, &value));
    cr_assert_str_eq(value, "0.166666");
    cr_assert_eq(task_slots_by_resource(1, strtod(value, NULL)), 6);
}

/* 3 CPUs a task: 2 tasks on 8 cores, on 6 as well; 32 cores have 5 executors of 6. */
Test(bottlenecks, cpus_of_a_task_that_do_not_divide_the_cores)
{
    const char *key = NULL, *value = NULL;
    struct run_resources profile = {0, 4, 8, RUN_UNKNOWN, 3, {NULL, 0}, RUN_UNKNOWN, (double)NAN};
    run_waves(&profile, 8);
    struct bottleneck item = only(BOTTLENECK_IDLE_CORES);
    cr_assert_float_eq(item.lost_s, 100 * (1 - 7.0 / 8), 1e-9);
    cr_assert(bottleneck_property(&item, 32, &arena, &key, &value));
    cr_assert_str_eq(key, "spark.executor.cores");
    cr_assert_str_eq(value, "6");
    /* A GPU that allows more tasks than the cores do is not what leaves cores idle. */
    profile.resource = (struct strview){"gpu", 3};
    profile.resource_per_executor = 1;
    profile.resource_per_task = 0.25;
    item = only(BOTTLENECK_IDLE_CORES);
    cr_assert(bottleneck_property(&item, 32, &arena, &key, &value));
    cr_assert_str_eq(key, "spark.executor.cores");
    cr_assert(strstr(item.finding.message, "each task takes 3 CPUs.") != NULL, "%s",
              item.finding.message);
    cr_assert_str_eq(item.cure,
                     "Set spark.executor.cores to 6 and start more executors on the cores that "
                     "this frees.");
    profile.cores_per_task = 4; /* which divide them */
    cr_assert_eq(find().n, 0);
}

/* Of a profile that the program sets no property is the cure. */
Test(bottlenecks, idle_cores_of_another_profile_are_cured_in_the_program)
{
    const char *key = NULL, *value = NULL;
    struct run_resources profile = {3, 4, 8, RUN_UNKNOWN, 1, {"gpu", 3}, 1, 1.0};
    run_waves(&profile, 16);
    stages[0].resource_profile_id = 3;
    struct bottleneck item = only(BOTTLENECK_IDLE_CORES);
    cr_assert_not(bottleneck_property(&item, 32, &arena, &key, &value));
    cr_assert(strstr(item.cure, "in the resource profile of the program") != NULL, "%s", item.cure);
}
