/* Runs that are not plain batch jobs: streaming, sessions of a person, executors that were taken away,
 * and properties that the job set itself. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sparklog_cases.h"

#define ENVIRONMENT(spark, system)                                                                 \
    "{\"Event\":\"SparkListenerEnvironmentUpdate\",\"Spark Properties\":{" spark                   \
    "},\"System Properties\":{" system "}}\n"
#define COMMAND(text) "\"java.home\":\"/jre\",\"sun.java.command\":\"" text "\""
#define JOB_START(id, ms, properties)                                                              \
    "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":" #id ",\"Submission Time\":" #ms             \
    ",\"Stage Infos\":[],\"Stage IDs\":[],\"Properties\":{" properties "}}\n"
#define JOB_END(id, ms)                                                                            \
    "{\"Event\":\"SparkListenerJobEnd\",\"Job ID\":" #id ",\"Completion Time\":" #ms               \
    ",\"Job Result\":{\"Result\":\"JobSucceeded\"}}\n"
#define SQL_START(id, ms, modified)                                                                \
    "{\"Event\":\"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart\","             \
    "\"executionId\":" #id ",\"time\":" #ms ",\"modifiedConfigs\":{" modified "}}\n"
#define SQL_END(id, ms)                                                                            \
    "{\"Event\":\"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd\","               \
    "\"executionId\":" #id ",\"time\":" #ms "}\n"
#define QUERY(event, members)                                                                      \
    "{\"Event\":\"org.apache.spark.sql.streaming.StreamingQueryListener$Query" event               \
    "Event\"," members "}\n"
#define REMOVED(id, ms, reason)                                                                    \
    "{\"Event\":\"SparkListenerExecutorRemoved\",\"Timestamp\":" #ms ",\"Executor ID\":\"" id      \
    "\",\"Removed Reason\":\"" reason "\"}\n"

static void expect(double got, double want)
{
    cr_assert_float_eq(got, want, 1e-9, "%g, want %g", got, want);
}

static int64_t queries_of(const char *log)
{
    struct reading r;
    reading_init(&r, log, 0, &case_limits);
    cr_assert_eq(r.code, PV_OK);
    int64_t queries = r.run.streaming_queries;
    cr_assert_eq(reading_warning(&r, "streaming_application"), queries);
    reading_fini(&r);
    return queries;
}

/* --- streaming --- */

Test(sparklog_kinds, events_of_streaming_queries)
{
    cr_expect_eq(queries_of(APP_START(0) QUERY("Started", "\"id\":\"a\",\"runId\":\"b\"")
                                QUERY("Progress", "\"progress\":{\"id\":\"a\",\"batchId\":0}")
                                    QUERY("Terminated", "\"id\":\"a\"") APP_END(9)),
                 1);
    cr_expect_eq(queries_of(APP_START(0) QUERY("Progress", "\"progress\":{\"id\":\"a\"}")
                                QUERY("Progress", "\"progress\":{\"id\":\"b\"}") APP_END(9)),
                 2);
    cr_expect_eq(queries_of(APP_START(0) QUERY("Idle", "\"id\":\"a\"") APP_END(9)), 1);
    cr_expect_eq(queries_of(APP_START(0) QUERY("Started", "\"name\":null") APP_END(9)), 1);
    cr_expect_eq(queries_of(APP_START(0) QUERY("Other", "\"id\":\"a\"") APP_END(9)), 0);
}

Test(sparklog_kinds, jobs_of_streaming_queries)
{
    cr_expect_eq(queries_of(APP_START(0) JOB_START(0, 1, "\"sql.streaming.queryId\":\"a\"")
                                JOB_START(1, 2, "\"sql.streaming.queryId\":\"b\"") APP_END(9)),
                 2);
    cr_expect_eq(
        queries_of(APP_START(0) JOB_START(0, 1, "\"spark.streaming.internal.batchTime\":\"1000\"")
                       JOB_START(1, 2, "\"spark.streaming.internal.batchTime\":\"2000\"")
                           APP_END(9)),
        1, "Spark Streaming");
    cr_expect_eq(queries_of(APP_START(0) JOB_START(
                     0, 1, "\"spark.job.description\":\"streaming\",\"spark.sql.x\":\"queryId\"")
                                APP_END(9)),
                 0, "words in a description are no evidence");
}

/* --- idle time --- */

/* A job of 5 s at 20 s and one of 5 s at 100 s; a SQL execution without jobs from 40 to 70 s. */
#define QUERY_AT(id, from, to)                                                                     \
    JOB_START(id, from, "")                                                                        \
    SUBMITTED(id, 0, 1, from)                                                                      \
    TASK(id, 0, "Success", from, to, "")                                                           \
    COMPLETED(id, 0, 1, from, to, "")                                                              \
    JOB_END(id, to)
#define TWO_JOBS                                                                                   \
    EXECUTOR("1", 4000, 2)                                                                         \
    QUERY_AT(0, 20000, 25000)                                                                      \
    SQL_START(7, 40000, "")                                                                        \
    SQL_END(7, 70000)                                                                              \
    QUERY_AT(1, 100000, 105000)                                                                    \
    APP_END(500000)

static double idle_of(const char *log)
{
    struct reading r;
    reading_init(&r, log, 0, &case_limits);
    cr_assert_eq(r.code, PV_OK, "%s", r.err.detail);
    double idle_s = r.run.idle_s;
    expect(r.run.away_s, 0);
    cr_assert_eq(reading_warning(&r, "idle_session"), (int64_t)ceil(idle_s));
    expect(r.run.duration_s, 500);
    expect(r.run.initialization_s, 20);
    reading_fini(&r);
    return idle_s;
}

/* 4 to 20, 25 to 40, 70 to 100 and 105 to 500 s. */
static const double all_gaps_s = 16 + 15 + 30 + 395;

Test(sparklog_kinds, shells_and_notebooks_wait_for_a_person)
{
    expect(idle_of(ENVIRONMENT("\"spark.app.name\":\"Spark shell\"", "") APP_START(0) TWO_JOBS),
           all_gaps_s);
    expect(idle_of(ENVIRONMENT("\"spark.app.name\":\"livy-session-12\"", "") APP_START(0) TWO_JOBS),
           all_gaps_s);
    expect(idle_of(ENVIRONMENT("\"spark.repl.class.uri\":\"spark://h:1/classes\"", "") APP_START(0)
                       TWO_JOBS),
           all_gaps_s);
    expect(idle_of(APP_START(0) ENVIRONMENT(
               "\"spark.app.name\":\"mine\"",
               COMMAND("org.apache.spark.deploy.SparkSubmit --class org.apache.spark.repl.Main "
                       "--name mine spark-shell")) TWO_JOBS),
           all_gaps_s);
    expect(idle_of(ENVIRONMENT("", COMMAND("org.apache.spark.deploy.SparkSubmit --class "
                                           "org.apache.spark.sql.connect.service.SparkConnectServer"
                                           " spark-internal")) APP_START(0) TWO_JOBS),
           all_gaps_s);
    expect(idle_of("{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"PySparkShell\","
                   "\"App ID\":\"a\",\"Timestamp\":0}\n" TWO_JOBS),
           all_gaps_s);
    expect(idle_of(ENVIRONMENT("\"spark.app.name\":\"Databricks Shell\","
                               "\"spark.databricks.clusterUsageTags.clusterName\":\"Ann's\"",
                               "") APP_START(0) TWO_JOBS),
           all_gaps_s);
}

Test(sparklog_kinds, the_driver_of_a_batch_job_is_never_idle)
{
    expect(idle_of(APP_START(0) TWO_JOBS), 0);
    expect(idle_of(ENVIRONMENT("\"spark.app.name\":\"Spark shells of the sea\"",
                               COMMAND("org.apache.spark.deploy.SparkSubmit --class com.acme.Etl "
                                       "etl.jar --note org.apache.spark.repl.MainFrame"))
                       APP_START(0) TWO_JOBS),
           0);
    expect(idle_of(ENVIRONMENT("\"spark.app.name\":\"pyspark-shell\"", "") APP_START(0) TWO_JOBS),
           0);
    expect(idle_of(ENVIRONMENT("\"spark.app.name\":\"SparkSQL::10.0.0.1\"",
                               COMMAND("org.apache.spark.deploy.SparkSubmit --class "
                                       "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver "
                                       "spark-internal -f nightly.sql")) APP_START(0) TWO_JOBS),
           0);
    expect(idle_of(ENVIRONMENT("\"spark.app.name\":\"Databricks Shell\",\"spark.repl.class.uri\":"
                               "\"u\",\"spark.databricks.clusterUsageTags.clusterName\":"
                               "\"job-11-run-1000\"",
                               "") APP_START(0) TWO_JOBS),
           0);
}

/* Spark SQL without a script, and gaps that are shorter than 10 s. */
Test(sparklog_kinds, short_gaps_are_the_drivers)
{
    struct reading r;
    reading_init(&r,
                 ENVIRONMENT("", COMMAND("org.apache.spark.deploy.SparkSubmit --class "
                                         "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver "
                                         "spark-internal")) APP_START(0) JOB_START(0, 9999, "")
                     JOB_END(0, 10000) JOB_START(1, 19999, "") JOB_END(1, 20000)
                         JOB_START(2, 30000, "") JOB_END(2, 31000) APP_END(40999),
                 0, &case_limits);
    expect(r.run.idle_s, 10);
    cr_assert(strstr(finding_find(&r.run.warnings, "idle_session")->message, "for 10 s") != NULL);
    reading_fini(&r);
}

/* Gaps of 599.999, 600 and 1000 s: nobody was there in the last two. */
Test(sparklog_kinds, nobody_is_there_in_long_gaps)
{
    struct reading r;
    reading_init(&r,
                 ENVIRONMENT("\"spark.app.name\":\"Zeppelin\"", "") APP_START(0)
                     JOB_START(0, 599999, "") JOB_END(0, 600000) JOB_START(1, 1200000, "")
                         JOB_END(1, 1201000) APP_END(2201000),
                 0, &case_limits);
    expect(r.run.idle_s, 599.999 + 600 + 1000);
    expect(r.run.away_s, 1600);
    cr_assert(strstr(finding_find(&r.run.warnings, "idle_session")->message, " 1600 s") != NULL);
    reading_fini(&r);
}

/* A job that is still at work is no idle time, nor is a stage; a streaming query waits for data. */
Test(sparklog_kinds, what_is_at_work_is_not_idle)
{
    struct reading r;
    reading_init(&r,
                 ENVIRONMENT("\"spark.app.name\":\"Zeppelin\"", "") APP_START(0) JOB_START(0, 0, "")
                     APP_END(100000),
                 0, &case_limits);
    expect(r.run.idle_s, 0);
    reading_fini(&r);
    reading_init(&r,
                 ENVIRONMENT("\"spark.app.name\":\"Zeppelin\"", "") APP_START(0)
                     JOB_START(0, 0, "\"sql.streaming.queryId\":\"a\"") JOB_END(0, 1000)
                         APP_END(100000),
                 0, &case_limits);
    expect(r.run.idle_s, 0);
    reading_fini(&r);
    reading_init(&r,
                 ENVIRONMENT("\"spark.app.name\":\"Zeppelin\"", "") APP_START(0) APP_END(100000), 0,
                 &case_limits);
    expect(r.run.idle_s, 100);
    reading_fini(&r);
}

/* --- properties that the job set --- */

static const char *property_of(const struct run_label properties[], size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (strview_is(properties[i].key, key))
            return properties[i].value.at;
    return NULL;
}

static void
expect_property(const struct reading *r, const char *key, const char *now, const char *was)
{
    const char *value = property_of(r->run.spark_properties, r->run.n_spark_properties, key);
    const char *submitted =
        property_of(r->run.submitted_properties, r->run.n_submitted_properties, key);
    cr_expect_str_eq(value == NULL ? "none" : value, now, "%s", key);
    cr_expect_str_eq(submitted == NULL ? "none" : submitted, was, "%s", key);
}

#define SUBMITTED_SQL                                                                              \
    ENVIRONMENT("\"spark.sql.shuffle.partitions\":\"200\",\"spark.sql.adaptive.enabled\":"         \
                "\"true\",\"spark.executor.memory\":\"8g\"",                                       \
                "")

Test(sparklog_kinds, modified_configurations_are_in_effect)
{
    struct reading r;
    reading_init(
        &r,
        SUBMITTED_SQL APP_START(0) SQL_START(
            0, 5, "\"spark.sql.shuffle.partitions\":\"8\",\"spark.executor.memory\":\"1g\"")
            SQL_START(1, 6,
                      "\"spark.sql.shuffle.partitions\":\"16\","
                      "\"spark.sql.files.maxPartitionBytes\":\"64m\","
                      "\"spark.sql.adaptive.enabled\":\"TRUE\","
                      "\"spark.sql.secret\":\"s3cr3t\"") APP_END(9),
        0, &case_limits);
    expect_property(&r, "spark.sql.shuffle.partitions", "16", "200");
    expect_property(&r, "spark.sql.files.maxPartitionBytes", "64m", "");
    expect_property(&r, "spark.sql.adaptive.enabled", "true", "none");
    expect_property(&r, "spark.executor.memory", "8g", "none");
    cr_assert_eq(reading_warning(&r, "set_by_the_job"), 2);
    const char *message = finding_find(&r.run.warnings, "set_by_the_job")->message;
    cr_assert(strstr(message, "spark.sql.shuffle.partitions=16 (submitted: 200)") != NULL, "%s",
              message);
    cr_assert(strstr(message, "64m (submitted: nothing)") != NULL, "%s", message);
    reading_fini(&r);
}

/* Before Spark 3.3 the properties of its jobs say it; the environment may come later. */
Test(sparklog_kinds, properties_of_jobs_are_in_effect)
{
    struct reading r;
    reading_init(&r,
                 APP_START(0)
                     JOB_START(0, 5,
                               "\"spark.sql.shuffle.partitions\":\"8\",\"spark.sql.adaptive."
                               "enabled\":\"true\",\"spark.executor.memory\":\"1g\"")
                         SUBMITTED_SQL APP_END(9),
                 0, &case_limits);
    expect_property(&r, "spark.sql.shuffle.partitions", "8", "200");
    expect_property(&r, "spark.sql.adaptive.enabled", "true", "none");
    expect_property(&r, "spark.executor.memory", "8g", "none");
    cr_assert_eq(reading_warning(&r, "set_by_the_job"), 1);
    reading_fini(&r);
}

/* Without the environment nobody knows what was submitted: the value is in effect, that is all. */
Test(sparklog_kinds, what_was_submitted_may_be_unknown)
{
    struct reading r;
    reading_init(&r,
                 APP_START(0) JOB_START(0, 5, "\"spark.sql.shuffle.partitions\":\"8\"") APP_END(9),
                 0, &case_limits);
    expect_property(&r, "spark.sql.shuffle.partitions", "8", "none");
    cr_assert_eq(reading_warning(&r, "set_by_the_job"), 0);
    reading_fini(&r);
}

/* --- executors that were taken away --- */

Test(sparklog_kinds, reasons_of_executors_that_were_lost)
{
    static const struct {
        const char *line;
        bool lost;
    } cases[] = {
        {REMOVED("1", 50, "Executor decommission: spot interruption"), true},
        {REMOVED("1", 50,
                 "Executor decommission finished: worker decommissioned because of kill "
                 "request from HTTP endpoint"),
         true},
        {REMOVED("1", 50, "Container container_1 on host: h was preempted."), true},
        {REMOVED("1", 50,
                 "Container marked as failed: container_1 on host: h. Exit status: -100. "
                 "Diagnostics: Container released on a *lost* node"),
         true},
        {REMOVED("1", 50, "Container from a bad node. Exit status: -102."), true},
        {REMOVED("1", 50, "worker lost: Not receiving heartbeat for 60 seconds"), true},
        {REMOVED("1", 50, "The executor with id 1 was deleted by a user or the framework."), true},
        {REMOVED("1", 50,
                 "The executor with id 1 exited with exit code -1. The API gave the "
                 "following brief reason: Evicted"),
         true},
        {REMOVED("1", 50, "Executor decommission: spark scale down"), false},
        {REMOVED("1", 50, "Executor killed by driver."), false},
        {REMOVED("1", 50, "Container killed by YARN for exceeding memory limits"), false},
        {REMOVED("1", 50, "Command exited with code 1"), false},
        {GONE("1", 50), false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char log[2000];
        struct reading r;
        (void)snprintf(log, sizeof log, "%s%s%s%s", APP_START(0), EXECUTOR("1", 10, 2),
                       cases[i].line, APP_END(100));
        reading_init(&r, log, 0, &case_limits);
        cr_expect_eq(r.run.executors_lost, cases[i].lost, "%s", cases[i].line);
        cr_expect_eq(r.run.executor_lifetimes[0].lost, cases[i].lost, "%s", cases[i].line);
        cr_expect_eq(reading_warning(&r, "executors_lost"), cases[i].lost);
        reading_fini(&r);
    }
}

/* --- attempts, and Spark 4 --- */

Test(sparklog_kinds, attempts_that_were_lost_are_told_where_they_matter)
{
    struct reading r;
    reading_init(&r,
                 APP_START(0) TASK(0, 0, "Success", 0, 9900, "")
                     TASK(0, 1, "TaskKilled", 0, 100, "") APP_END(10000),
                 0, &case_limits);
    cr_expect_eq(reading_warning(&r, "attempts_lost"), 1);
    reading_fini(&r);
    reading_init(&r,
                 APP_START(0) TASK(0, 0, "Success", 0, 9901, "") TASK(0, 1, "TaskKilled", 0, 99, "")
                     APP_END(10000),
                 0, &case_limits);
    cr_expect_eq(reading_warning(&r, "attempts_lost"), 0);
    reading_fini(&r);
}

Test(sparklog_kinds, stages_that_ran_again)
{
    struct reading r;
    reading_init(&r,
                 APP_START(0) SUBMITTED(0, 0, 1, 0) COMPLETED(0, 0, 1, 0, 50, FAILURE)
                     SUBMITTED(0, 1, 1, 60) COMPLETED(0, 1, 1, 60, 90, "") SUBMITTED(1, 0, 1, 90)
                         COMPLETED(1, 0, 1, 90, 95, "") APP_END(100),
                 0, &case_limits);
    cr_expect_eq(reading_warning(&r, "stages_retried"), 1);
    reading_fini(&r);
}

Test(sparklog_kinds, peaks_of_execution_memory_on_and_off_the_heap)
{
    struct reading r;
    reading_init(&r,
                 APP_START(0)
                     TASK(0, 0, "Success", 0, 10,
                          "\"Peak Execution Memory\":5,\"Peak On Heap Execution Memory\":30,"
                          "\"Peak Off Heap Execution Memory\":12,\"JVM GC Time\":4,"
                          "\"ConcurrentGCCount\":3")
                         TASK(1, 0, "Success", 0, 10,
                              "\"Peak Execution Memory\":50,\"Peak On Heap Execution Memory\":0,"
                              "\"Peak Off Heap Execution Memory\":0")
                             TASK(2, 0, "Success", 0, 10, "") APP_END(20),
                 0, &case_limits);
    cr_expect_eq(reading_stage(&r, 0)->metrics.peak_execution_memory_bytes, 42);
    cr_expect_eq(reading_stage(&r, 1)->metrics.peak_execution_memory_bytes, 50);
    cr_expect_eq(reading_stage(&r, 2)->metrics.peak_execution_memory_bytes, RUN_UNKNOWN);
    expect(r.run.metrics.gc_time_s, 0.004);
    reading_fini(&r);
}
