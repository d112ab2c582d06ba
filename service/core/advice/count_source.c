#include "core/advice/count_source.h"

#include <math.h>

#include "core/spark/property_value.h"

static struct strview count_source_property(const struct run *run, const char *key)
{
    return property_find(run->spark_properties, run->n_spark_properties, key);
}

static enum count_source source_of_input(const struct run *run, const struct run_stage *stage)
{
    const int64_t mib = INT64_C(1) << 20;
    int64_t most =
        property_size(count_source_property(run, "spark.sql.files.maxPartitionBytes"), 1);
    double of_task = (double)stage->metrics.input_bytes / (double)stage->n_tasks;
    if (most < 1)
        most = 128 * mib;
    return of_task >= 0.5 * (double)most ? COUNT_SPLITS : COUNT_SMALL_SPLITS;
}

enum count_source count_source_find(const struct run *run, const struct run_stage *stage)
{
    int64_t partitions = property_count(count_source_property(run, "spark.sql.shuffle.partitions"));
    int64_t parallelism = property_count(count_source_property(run, "spark.default.parallelism"));
    bool has_shuffle = stage->n_parents > 0 || stage->metrics.shuffle_read_bytes > 0;
    bool has_input = stage->metrics.input_bytes > 0;
    if (stage->n_tasks < 1)
        return COUNT_UNKNOWN;
    if (partitions == RUN_UNKNOWN)
        partitions = 200;
    if (has_shuffle && stage->n_tasks == partitions)
        return COUNT_SET;
    if (!has_input && stage->n_tasks == parallelism)
        return COUNT_SET;
    if (has_input && !has_shuffle)
        return source_of_input(run, stage);
    if (!has_shuffle && !has_input && parallelism == RUN_UNKNOWN && run->from_log)
        return COUNT_PARALLELISM;
    bool adaptive = property_boolean(count_source_property(run, "spark.sql.adaptive.enabled"),
                                     property_version_is(run->spark_version, 3, 2, false));
    bool merges = property_boolean(
        count_source_property(run, "spark.sql.adaptive.coalescePartitions.enabled"), true);
    if (has_shuffle && adaptive && merges && stage->n_tasks < partitions)
        return COUNT_COALESCED;
    return COUNT_UNKNOWN;
}
