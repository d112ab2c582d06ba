#include "sample/simulate.h"

/* The stages of an application that read its input read 2^20 records of 128 bytes for each unit of its size,
 * so that the problem sizes that the service finds (core/history/problem_size.h) are whole numbers. */

#define NO_PARENTS                                                                                 \
    {                                                                                              \
        -1, -1, -1                                                                                 \
    }

/* Reads a day of orders, joins it with customers (some have far more orders), writes partitions. */
static const struct sample_stage etl_stages[] = {{.name = "scan orders",
                                                  .source = "parquet at NightlyEtl.scala:41",
                                                  .job = 0,
                                                  .parents = NO_PARENTS,
                                                  .tasks = SAMPLE_PER_SIZE,
                                                  .count = 1,
                                                  .seconds_per_size = 6.5,
                                                  .sigma = 0.22,
                                                  .straggler_share = 0.03,
                                                  .straggler_factor = 2.5,
                                                  .records_per_size = 1028576},
                                                 {.name = "scan customers",
                                                  .source = "parquet at NightlyEtl.scala:47",
                                                  .job = 0,
                                                  .parents = NO_PARENTS,
                                                  .tasks = SAMPLE_COUNT,
                                                  .count = 8,
                                                  .seconds_fixed = 2.4,
                                                  .sigma = 0.15,
                                                  .records_per_size = 20000},
                                                 {.name = "join",
                                                  .source = "join at NightlyEtl.scala:52",
                                                  .job = 0,
                                                  .parents = {0, 1, -1},
                                                  .tasks = SAMPLE_COUNT,
                                                  .count = 96,
                                                  .seconds_per_size = 7.0,
                                                  .seconds_fixed = 0.15,
                                                  .sigma = 0.25,
                                                  .straggler_share = 0.02,
                                                  .straggler_factor = 2.0,
                                                  .skew = 3.0,
                                                  .records_per_size = 1250000},
                                                 {.name = "write partitions",
                                                  .source = "save at NightlyEtl.scala:60",
                                                  .job = 0,
                                                  .parents = {2, -1, -1},
                                                  .tasks = SAMPLE_PER_CORE,
                                                  .count = 1,
                                                  .seconds_per_size = 2.6,
                                                  .seconds_fixed = 0.4,
                                                  .sigma = 0.12,
                                                  .records_per_size = 1100000},
                                                 {.name = "commit",
                                                  .source = "count at NightlyEtl.scala:66",
                                                  .job = 1,
                                                  .parents = NO_PARENTS,
                                                  .tasks = SAMPLE_COUNT,
                                                  .count = 1,
                                                  .seconds_fixed = 3.5,
                                                  .sigma = 0.10,
                                                  .records_per_size = 0}};

/* A short report every hour: scan, aggregate by key, top rows on one task. */
static const struct sample_stage report_stages[] = {{.name = "scan events",
                                                     .source = "json at HourlyReport.scala:22",
                                                     .job = 0,
                                                     .parents = NO_PARENTS,
                                                     .tasks = SAMPLE_PER_SIZE,
                                                     .count = 1,
                                                     .seconds_per_size = 2.8,
                                                     .sigma = 0.30,
                                                     .straggler_share = 0.05,
                                                     .straggler_factor = 2.0,
                                                     .records_per_size = 1048576},
                                                    {.name = "aggregate",
                                                     .source = "groupBy at HourlyReport.scala:30",
                                                     .job = 0,
                                                     .parents = {0, -1, -1},
                                                     .tasks = SAMPLE_PER_CORE,
                                                     .count = 2,
                                                     .seconds_per_size = 1.1,
                                                     .seconds_fixed = 0.1,
                                                     .sigma = 0.20,
                                                     .skew = 1.0,
                                                     .records_per_size = 90000},
                                                    {.name = "top rows",
                                                     .source = "take at HourlyReport.scala:37",
                                                     .job = 0,
                                                     .parents = {1, -1, -1},
                                                     .tasks = SAMPLE_COUNT,
                                                     .count = 1,
                                                     .seconds_fixed = 1.2,
                                                     .sigma = 0.15,
                                                     .records_per_size = 50}};

/* Loads and caches its input, then iterates: gradients per block, tree-aggregated per executor. */
#define ITERATION(first, line)                                                                     \
    {.name = "gradient",                                                                           \
     .source = "treeAggregate at Training.scala:" line,                                            \
     .job = (first),                                                                               \
     .parents = NO_PARENTS,                                                                        \
     .tasks = SAMPLE_PER_SIZE,                                                                     \
     .count = 1,                                                                                   \
     .seconds_per_size = 1.9,                                                                      \
     .sigma = 0.12,                                                                                \
     .straggler_share = 0.02,                                                                      \
     .straggler_factor = 2.2,                                                                      \
     .records_per_size = 131072},                                                                  \
    {                                                                                              \
        .name = "aggregate", .source = "treeAggregate at Training.scala:" line, .job = (first),    \
        .parents = {2 * (first)-1, -1, -1}, .tasks = SAMPLE_PER_EXECUTOR, .count = 1,              \
        .seconds_fixed = 0.6, .sigma = 0.15, .records_per_size = 16                                \
    }

static const struct sample_stage training_stages[] = {{.name = "load",
                                                       .source = "cache at Training.scala:19",
                                                       .job = 0,
                                                       .parents = NO_PARENTS,
                                                       .tasks = SAMPLE_PER_SIZE,
                                                       .count = 1,
                                                       .seconds_per_size = 5.0,
                                                       .sigma = 0.20,
                                                       .straggler_share = 0.03,
                                                       .straggler_factor = 2.0,
                                                       .records_per_size = 393216},
                                                      ITERATION(1, "33"),
                                                      ITERATION(2, "33"),
                                                      ITERATION(3, "33"),
                                                      ITERATION(4, "33"),
                                                      ITERATION(5, "33")};

const struct sample_application sample_catalogue[] = {
    {.name = "nightly-etl",
     .user = "etl",
     .cores_per_executor = 4,
     .sizes = {32, 64, 128},
     .executors = {2, 4, 8, 16},
     .initialization_s = 9.0,
     .initialization_per_executor_s = 0.12,
     .between_jobs_s = 1.5,
     .stages = etl_stages,
     .n_stages = sizeof etl_stages / sizeof *etl_stages},
    {.name = "hourly-report",
     .user = "reports",
     .cores_per_executor = 2,
     .sizes = {12, 24, 48},
     .executors = {1, 2, 4, 8},
     .initialization_s = 6.0,
     .initialization_per_executor_s = 0.10,
     .between_jobs_s = 0.8,
     .stages = report_stages,
     .n_stages = sizeof report_stages / sizeof *report_stages},
    {.name = "churn-training",
     .user = "science",
     .cores_per_executor = 4,
     .sizes = {16, 32, 64},
     .executors = {2, 3, 6, 12},
     .initialization_s = 8.0,
     .initialization_per_executor_s = 0.15,
     .between_jobs_s = 0.9,
     .stages = training_stages,
     .n_stages = sizeof training_stages / sizeof *training_stages}};

const size_t sample_catalogue_n = sizeof sample_catalogue / sizeof *sample_catalogue;
