#include <criterion/criterion.h>
#include <string.h>

#include "core/advice/count_source.h"

enum { MIB = 1 << 20 };

static struct run_stage stage_of(int64_t tasks, size_t parents, int64_t input_bytes)
{
    static const int64_t ids[] = {0};
    return (struct run_stage){
        .n_tasks = tasks,
        .parents = ids,
        .n_parents = parents,
        .metrics = {.input_bytes = input_bytes, .shuffle_read_bytes = RUN_UNKNOWN}};
}

static struct run run_with(const char *version, struct run_label *properties, size_t n)
{
    return (struct run){.from_log = true,
                        .spark_version = {version, strlen(version)},
                        .spark_properties = properties,
                        .n_spark_properties = n};
}

#define PROPERTY(k, v)                                                                             \
    {                                                                                              \
        .key = {k, sizeof k - 1}, .value = { v, sizeof v - 1 }                                     \
    }

Test(count_source, shuffle_partitions_and_parallelism_set_counts)
{
    struct run_label set[] = {PROPERTY("spark.default.parallelism", "12"),
                              PROPERTY("spark.sql.adaptive.enabled", "false"),
                              PROPERTY("spark.sql.shuffle.partitions", "16")};
    struct run plain = run_with("3.1.2", NULL, 0), run = run_with("3.5.3", set, 3);
    struct run_stage by_default = stage_of(200, 1, RUN_UNKNOWN);
    struct run_stage sixteen = stage_of(16, 1, RUN_UNKNOWN), twelve = stage_of(12, 1, RUN_UNKNOWN);
    struct run_stage root = stage_of(12, 0, RUN_UNKNOWN), of_200 = stage_of(200, 0, RUN_UNKNOWN);
    cr_expect_eq(count_source_find(&plain, &by_default), COUNT_SET);
    cr_expect_eq(count_source_find(&plain, &sixteen), COUNT_UNKNOWN);
    cr_expect_eq(count_source_find(&plain, &of_200), COUNT_PARALLELISM);
    cr_expect_eq(count_source_find(&run, &sixteen), COUNT_SET);
    cr_expect_eq(count_source_find(&run, &twelve), COUNT_SET);
    cr_expect_eq(count_source_find(&run, &root), COUNT_SET);
    cr_expect_eq(count_source_find(&run, &by_default), COUNT_UNKNOWN);
}

Test(count_source, splits_of_the_input)
{
    struct run_label smaller[] = {PROPERTY("spark.sql.files.maxPartitionBytes", "32m")};
    struct run plain = run_with("3.5.3", NULL, 0), run = run_with("3.5.3", smaller, 1);
    struct run_stage full = stage_of(16, 0, INT64_C(16) * 64 * MIB);
    struct run_stage half = stage_of(16, 0, INT64_C(16) * 63 * MIB);
    struct run_stage small = stage_of(16, 0, INT64_C(16) * 15 * MIB);
    cr_expect_eq(count_source_find(&plain, &full), COUNT_SPLITS);
    cr_expect_eq(count_source_find(&plain, &half), COUNT_SMALL_SPLITS);
    cr_expect_eq(count_source_find(&run, &half), COUNT_SPLITS);
    cr_expect_eq(count_source_find(&run, &small), COUNT_SMALL_SPLITS);
}

Test(count_source, adaptive_execution_merges_partitions_since_3_2)
{
    struct run_label off[] = {PROPERTY("spark.sql.adaptive.coalescePartitions.enabled", "false")};
    struct run old = run_with("3.1.2", NULL, 0), new = run_with("3.2.0", NULL, 0);
    struct run whole = run_with("3.5.3", off, 1);
    struct run_stage merged = stage_of(16, 1, RUN_UNKNOWN), more = stage_of(300, 1, RUN_UNKNOWN);
    cr_expect_eq(count_source_find(&old, &merged), COUNT_UNKNOWN);
    cr_expect_eq(count_source_find(&new, &merged), COUNT_COALESCED);
    cr_expect_eq(count_source_find(&whole, &merged), COUNT_UNKNOWN);
    cr_expect_eq(count_source_find(&new, &more), COUNT_UNKNOWN);
    struct run_stage empty = stage_of(0, 1, RUN_UNKNOWN);
    cr_expect_eq(count_source_find(&new, &empty), COUNT_UNKNOWN);
}
