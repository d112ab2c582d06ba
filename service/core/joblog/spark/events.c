#include "core/joblog/spark/events.h"

#define SQL "org.apache.spark.sql.execution.ui."
#define STREAMING "org.apache.spark.sql.streaming.StreamingQueryListener$"
#define SCHEDULER "org.apache.spark.scheduler.SparkListener"

struct row {
    struct strview name;
    event_take take;
};

#define ROW(name, take)                                                                            \
    {                                                                                              \
        {name, sizeof(name) - 1}, take                                                             \
    }

/* The frequent ones first. */
static const struct row table[] = {
    ROW("SparkListenerTaskEnd", event_task_end),
    ROW("SparkListenerTaskStart", event_task_start),
    ROW("SparkListenerStageSubmitted", event_stage_submitted),
    ROW("SparkListenerStageCompleted", event_stage_completed),
    ROW("SparkListenerJobStart", event_job_start),
    ROW("SparkListenerJobEnd", event_job_end),
    ROW("SparkListenerExecutorAdded", event_executor_added),
    ROW("SparkListenerExecutorRemoved", event_executor_removed),
    ROW("SparkListenerStageExecutorMetrics", event_stage_memory),
    ROW("SparkListenerExecutorMetricsUpdate", event_heartbeat),
    ROW("SparkListenerResourceProfileAdded", event_resource_profile),
    ROW("SparkListenerEnvironmentUpdate", event_environment),
    ROW("SparkListenerLogStart", event_log_start),
    ROW("DBCEventLoggingListenerMetadata", event_metadata),
    ROW("SparkListenerApplicationStart", event_application_start),
    ROW("SparkListenerApplicationEnd", event_application_end),
    ROW("SparkListenerBlockUpdated", event_block_updated),
    ROW("SparkListenerUnpersistRDD", event_rdd_unpersisted),
    ROW("SparkListenerBlockManagerAdded", event_block_manager),
    ROW("SparkListenerBlockManagerRemoved", event_clock),
    ROW(SQL "SparkListenerSQLExecutionStart", event_sql_start),
    ROW(SQL "SparkListenerSQLExecutionEnd", event_sql_end),
    ROW(STREAMING "QueryStartedEvent", event_streaming_query),
    ROW(STREAMING "QueryProgressEvent", event_streaming_query),
    ROW(STREAMING "QueryIdleEvent", event_streaming_query),
    ROW(STREAMING "QueryTerminatedEvent", event_streaming_query),
    /* Since 3.1 every exclusion is reported under both names. */
    ROW(SCHEDULER "ExecutorExcluded", event_executor_excluded),
    ROW(SCHEDULER "ExecutorExcludedForStage", event_executor_excluded),
    ROW(SCHEDULER "ExecutorBlacklisted", event_executor_excluded),
    ROW(SCHEDULER "ExecutorBlacklistedForStage", event_executor_excluded),
    ROW(SCHEDULER "NodeExcluded", event_node_excluded),
    ROW(SCHEDULER "NodeExcludedForStage", event_node_excluded),
    ROW(SCHEDULER "NodeBlacklisted", event_node_excluded),
    ROW(SCHEDULER "NodeBlacklistedForStage", event_node_excluded),
    ROW(SCHEDULER "ExecutorUnexcluded", event_clock),
    ROW(SCHEDULER "ExecutorUnblacklisted", event_clock),
    ROW(SCHEDULER "NodeUnexcluded", event_clock),
    ROW(SCHEDULER "NodeUnblacklisted", event_clock),
};

event_take events_find(struct strview name)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strview_equal(name, table[i].name))
            return table[i].take;
    }
    return NULL;
}

bool events_read(struct json *line, const struct json_shape *shape, void *out)
{
    if (json_read_object(line, shape, out) && !json_at_end(line))
        line->damaged = true;
    return !line->damaged;
}

bool events_is_driver(struct json_text executor)
{
    return executor.at != NULL && (json_text_is(executor, strview_of("driver")) ||
                                   json_text_is(executor, strview_of("<driver>")));
}
