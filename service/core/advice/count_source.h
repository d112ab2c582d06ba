#ifndef CORE_ADVICE_COUNT_SOURCE_H
#define CORE_ADVICE_COUNT_SOURCE_H

#include "core/advice/stage_law.h"
#include "core/history/run.h"

/*
 * Finds the source of the number of tasks of a stage by Spark's own rules, from the properties of
 * the run and the bytes that the stage read (Spark 3.5: configuration of SQL,
 * Partitioner.defaultPartitioner, FilePartition.maxSplitBytes, CoalesceShufflePartitions):
 *
 * - A stage behind a shuffle with spark.sql.shuffle.partitions tasks (200 by default), or with
 *   spark.default.parallelism tasks where the property is set, has a count that is set.
 * - Files are split into parts of at most spark.sql.files.maxPartitionBytes (128 MiB by default).
 *   Parts of at least half of that are full splits; smaller parts are files, or one part a core.
 * - A stage that reads nothing has spark.default.parallelism tasks: by default, one a core.
 * - Adaptive execution (the default since Spark 3.2) merges shuffle partitions, down to
 *   spark.default.parallelism of them.
 */
enum count_source count_source_find(const struct run *run, const struct run_stage *stage);

#endif
