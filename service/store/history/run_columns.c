#include <math.h>

#include "store/history/run_internal.h"

/* A run's list of members is in core/history/run.h; a column of it comes with a migration. */

#define RESOURCES struct run_resources
/* A program from before these columns writes profiles without them. */
#define EACH_RESOURCE(name, type)                                                                  \
    "CASE WHEN cardinality(" name ") = cardinality(resource_ids) THEN " name                       \
    " ELSE array_fill(NULL::" type ", ARRAY[cardinality(resource_ids)]) END"
static const struct column of_resources[] = {
    {"resource_ids", COLUMN_COUNT(RESOURCES, id)},
    {"resource_executors", COLUMN_COUNT(RESOURCES, executors)},
    {"resource_cores", COLUMN_COUNT(RESOURCES, cores_per_executor)},
    {"resource_memory_bytes", COLUMN_COUNT(RESOURCES, executor_memory_bytes)},
    {"resource_task_cores", COLUMN_COUNT(RESOURCES, cores_per_task)},
    {"resource_names", COLUMN_TEXT(RESOURCES, resource),
     .read = EACH_RESOURCE("resource_names", "text")},
    {"resource_amounts", COLUMN_COUNT(RESOURCES, resource_per_executor),
     .read = EACH_RESOURCE("resource_amounts", "bigint")},
    {"resource_task_amounts", COLUMN_NUMBER(RESOURCES, resource_per_task),
     .read = EACH_RESOURCE("resource_task_amounts", "double precision")},
};
static const struct columns resource_columns = {"resources", COLUMNS_OF(of_resources, RESOURCES)};

#define NODE struct run_node
static const struct column of_node[] = {
    {"node_names", COLUMN_TEXT(NODE, name)},
    {"node_cores", COLUMN_COUNT(NODE, cores)},
};
static const struct columns node_columns = {"node", COLUMNS_OF(of_node, NODE)};

#define EXECUTOR struct executor_lifetime
static const struct column of_executor[] = {
    {"executor_added_s", COLUMN_NUMBER(EXECUTOR, added_s)},
    {"executor_removed_s", COLUMN_NUMBER(EXECUTOR, removed_s)},
    {"executor_cores", COLUMN_COUNT(EXECUTOR, cores)},
    {"executor_resource_ids", COLUMN_COUNT(EXECUTOR, resource_profile_id)},
    {"executor_lost", COLUMN_BOOLEAN(EXECUTOR, lost),
     /* A program from before this column writes executors without it. */
     .read = "CASE WHEN cardinality(executor_lost) = cardinality(executor_added_s)"
             " THEN executor_lost"
             " ELSE array_fill(false, ARRAY[cardinality(executor_added_s)]) END"},
};
static const struct columns executor_columns = {"executor", COLUMNS_OF(of_executor, EXECUTOR)};

#define WARNING struct run_warning_row
static const struct column of_warning[] = {
    {"warning_codes", COLUMN_TEXT(WARNING, code)},
    {"warning_counts", COLUMN_COUNT(WARNING, count)},
    {"warning_details", COLUMN_TEXT(WARNING, message)},
};
static const struct columns warning_columns = {"warning", COLUMNS_OF(of_warning, WARNING)};

#define WARNINGS struct run_warnings
static const struct column of_warnings[] = {
    {NULL, COLUMN_STRUCTS(WARNINGS, rows, n, &warning_columns)},
};
const struct columns run_warning_columns = {"warnings", COLUMNS_OF(of_warnings, WARNINGS)};

#define RUN struct run
#define STAGE struct run_stage
#define RUN_COUNT(name) {#name, COLUMN_COUNT(RUN, name)},
#define RUN_SECONDS(name) {#name, COLUMN_NUMBER(RUN, name)},
#define RUN_CODE(name) {#name, COLUMN_INTEGER(RUN, name)},
#define RUN_METRIC_COUNT(name) {#name, COLUMN_COUNT(RUN, metrics.name)},
#define RUN_METRIC_SECONDS(name) {#name, COLUMN_NUMBER(RUN, metrics.name)},
#define STAGE_METRIC_COUNT(name) {#name, COLUMN_COUNT(STAGE, metrics.name)},
#define STAGE_METRIC_SECONDS(name) {#name, COLUMN_NUMBER(STAGE, metrics.name)},

static const struct column of_run[] = {
    {"r.stages_thinned > 0", COLUMN_BOOLEAN(RUN, tasks_thinned), .computed = true},
    {"id", COLUMN_ID(RUN, id)},
    {"recorded_at", COLUMN_INSTANT(RUN, recorded_us)},
    {"advice_id", COLUMN_ID(RUN, advice_id)},
    {"exact_problem_size", COLUMN_NUMBER(RUN, problem_size), .read = RUN_PROBLEM_SIZE("")},
    {"problem_size_given", COLUMN_BOOLEAN(RUN, problem_size_given),
     .read = "coalesce(problem_size_given, NOT from_log)"},
    {"problem_size_measure", COLUMN_TEXT(RUN, problem_size_measure), .read = RUN_SIZE_MEASURE},
    {"executors", COLUMN_COUNT(RUN, executors)},
    {"cores_per_executor", COLUMN_COUNT(RUN, cores_per_executor)},
    {"duration_s", COLUMN_NUMBER(RUN, duration_s)},
    {"initialization_s", COLUMN_NUMBER(RUN, initialization_s)},
    {"started_at", COLUMN_INSTANT(RUN, started_us)},
    {"succeeded", COLUMN_BOOLEAN(RUN, succeeded)},
    {"label_keys, label_values", COLUMN_PAIRS(RUN, labels, n_labels)},
    {"has_stages", COLUMN_BOOLEAN(RUN, has_stages)},
    {"from_log", COLUMN_BOOLEAN(RUN, from_log)},
    {"spark_application_id", COLUMN_TEXT(RUN, spark_application_id)},
    {"spark_attempt_id", COLUMN_TEXT(RUN, spark_attempt_id)},
    {"spark_version", COLUMN_TEXT(RUN, spark_version)},
    {"ended", COLUMN_BOOLEAN(RUN, ended)},
    /* clang-format off */
    RUN_TOTALS(RUN_COUNT, RUN_SECONDS)
    RUN_FIGURES(RUN_COUNT, RUN_SECONDS, RUN_CODE)
    RUN_METRICS(RUN_METRIC_COUNT, RUN_METRIC_SECONDS)
    /* clang-format on */
    {"property_keys, property_values", COLUMN_PAIRS(RUN, spark_properties, n_spark_properties)},
    {"submitted_keys, submitted_values",
     COLUMN_PAIRS(RUN, submitted_properties, n_submitted_properties)},
    {NULL, COLUMN_STRUCTS(RUN, resources, n_resources, &resource_columns)},
};
const struct columns run_columns = {"run", COLUMNS_OF(of_run, RUN)};

static const struct column of_nodes[] = {
    {NULL, COLUMN_STRUCTS(RUN, nodes, n_nodes, &node_columns)},
    {NULL, COLUMN_STRUCTS(RUN, executor_lifetimes, n_executor_lifetimes, &executor_columns)},
};
const struct columns run_node_columns = {"nodes", COLUMNS_OF(of_nodes, RUN)};

#define MEASURES struct run_measures
static const struct column of_measures[] = {
    {"parallel_s", COLUMN_NUMBER(MEASURES, parallel_s)},
    {"max_task_s", COLUMN_NUMBER(MEASURES, max_task_s)},
    {"induced_s", COLUMN_NUMBER(MEASURES, induced_s)},
    {"serial_s", COLUMN_NUMBER(MEASURES, serial_s)},
};
const struct columns run_measure_columns = {"measures", COLUMNS_OF(of_measures, MEASURES)};

static const struct column of_stage[] = {
    {"id", COLUMN_COUNT(STAGE, id)},
    {"name", COLUMN_TEXT(STAGE, name)},
    {"tasks", COLUMN_COUNT(STAGE, n_tasks)},
    {"task_duration_s", COLUMN_NUMBER(STAGE, task_duration_s)},
    {"task_time_s", COLUMN_NUMBER(STAGE, task_time_s)},
    {"duration_s", COLUMN_NUMBER(STAGE, duration_s)},
    {"started_s", COLUMN_NUMBER(STAGE, started_s)},
    {"input_records", COLUMN_NUMBER(STAGE, input_records)},
    {"nominal_rate_per_s", COLUMN_NUMBER(STAGE, nominal_rate_per_s)},
    {"skipped", COLUMN_BOOLEAN(STAGE, skipped)},
    {"attempts", COLUMN_COUNT(STAGE, attempts)},
    {"tasks_failed", COLUMN_COUNT(STAGE, tasks_failed)},
    {"resource_profile_id", COLUMN_COUNT(STAGE, resource_profile_id)},
    {"barrier", COLUMN_BOOLEAN(STAGE, barrier)},
    {"cache_source_id", COLUMN_COUNT(STAGE, cache_source_id)},
    RUN_METRICS(STAGE_METRIC_COUNT, STAGE_METRIC_SECONDS) /* one column each */
};
const struct columns run_stage_columns = {"stage", COLUMNS_OF(of_stage, STAGE)};

int64_t run_whole_problem_size(double problem_size)
{
    return isnan(problem_size) ? RUN_UNKNOWN : (int64_t)fmax(1, round(problem_size));
}
