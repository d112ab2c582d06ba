/* Nothing secret reaches a run, whatever corner of a log it stands in. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "core/joblog/common/secret_scan.h"
#include "core/joblog/spark/properties.h"
#include "run_text.h"
#include "sparklog_cases.h"

/* hunter2 is the secret throughout; each line could carry it into a run. */
static const char poisoned[] = LOG_START
    "{\"Event\":\"SparkListenerEnvironmentUpdate\",\"JVM Information\":{\"Java Home\":\"hunter2\"},"
    "\"Spark "
    "Properties\":{\"spark.hadoop.fs.s3a.secret.key\":\"hunter2\",\"spark.password\":\"hunter2\","
    "\"spark.executor.memory\":\"hunter2\",\"spark.executor.cores\":\"4\",\"spark.executor."
    "instances\":\"4hunter2\","
    "\"spark.serializer\":\"hunter2\",\"spark.scheduler.mode\":\"FIFO|hunter2\",\"spark.locality."
    "wait\":\"3hunter2\","
    "\"spark.executor.memory "
    "\":\"1hunter2\",\"spark.executor.extraJavaOptions\":\"-Dpassword=hunter2\","
    "\"spark.provisor.adviceId\":\"hunter2\",\"spark.driver.memory\":[\"hunter2\"]},"
    "\"System Properties\":{\"sun.java.command\":\"org.apache.spark.deploy.SparkSubmit --conf "
    "spark.password=hunter2\"},"
    "\"Hadoop Properties\":{\"fs.azure.account.key\":\"hunter2\"},\"Classpath "
    "Entries\":{\"/opt/hunter2.jar\":\"x\"}}\n"
    "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"hunter2\",\"App "
    "ID\":\"app-1\",\"Timestamp\":1,\"User\":\"hunter2\","
    "\"Driver Logs\":{\"stdout\":\"http://u:hunter2@host/\"},\"Driver "
    "Attributes\":{\"x\":\"hunter2\"}}\n"
    "{\"Event\":\"SparkListenerExecutorAdded\",\"Timestamp\":2,\"Executor "
    "ID\":\"hunter2\",\"Executor Info\":{\"Host\":\"hunter2.example\",\"Total Cores\":4,\"Log "
    "Urls\":{\"a\":\"hunter2\"}}}\n"
    "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":0,\"Stage Infos\":["
    "{\"Stage ID\":0,\"Stage Name\":\"load from "
    "jdbc:postgresql://u:hunter2@db/x\",\"Details\":\"hunter2\",\"RDD "
    "Info\":[{\"Name\":\"hunter2\"}]},"
    "{\"Stage ID\":1,\"Stage Name\":\"run --password hunter2\"},"
    "{\"Stage ID\":2,\"Stage Name\":\"collect at s3://hunter2/etl.py:7\"},"
    "{\"Stage ID\":3,\"Stage Name\":\"pass\\u0077ord=hunter2\"}],"
    "\"Properties\":{\"spark.job.description\":\"hunter2\",\"spark.jobGroup.id\":\"hunter2\"}}\n"
    "{\"Event\":\"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart\","
    "\"executionId\":0,\"description\":\"hunter2\",\"details\":\"hunter2\","
    "\"physicalPlanDescription\":\"select 'hunter2'\",\"time\":5}\n" TASK(
        0,
        0,
        "Success",
        5,
        6,
        "\"Host Name\":\"hunter2\"") "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Task "
                                     "End "
                                     "Reason\":{\"Reason\":\"ExceptionFailure\",\"Description\":"
                                     "\"hunter2\"},\"Task Info\":{\"Host\":\"hunter2\",\"Launch "
                                     "Time\":5,\"Finish Time\":6}}\n" COMPLETED(
                                         0,
                                         0,
                                         1,
                                         5,
                                         6,
                                         ",\"Failure "
                                         "Reason\":"
                                         "\"hunter2\"") "{\""
                                                        "Eve"
                                                        "nt"
                                                        "\":"
                                                        "\"S"
                                                        "par"
                                                        "kLi"
                                                        "ste"
                                                        "ner"
                                                        "Job"
                                                        "End"
                                                        "\","
                                                        "\"J"
                                                        "ob "
                                                        "ID"
                                                        "\":"
                                                        "0,"
                                                        "\"J"
                                                        "ob "
                                                        "Res"
                                                        "ult"
                                                        "\":"
                                                        "{\""
                                                        "Res"
                                                        "ult"
                                                        "\":"
                                                        "\"J"
                                                        "obF"
                                                        "ail"
                                                        "ed"
                                                        "\","
                                                        "\"E"
                                                        "xce"
                                                        "pti"
                                                        "on"
                                                        "\":"
                                                        "{\""
                                                        "Mes"
                                                        "sag"
                                                        "e\""
                                                        ":\""
                                                        "hun"
                                                        "ter"
                                                        "2\""
                                                        "}}}"
                                                        "\n"
                                                        "hun"
                                                        "ter"
                                                        "2\n"
                                                        "{\""
                                                        "Eve"
                                                        "nt"
                                                        "\":"
                                                        "\"h"
                                                        "unt"
                                                        "er2"
                                                        "\"}"
                                                        "\n" APP_END(9);

Test(sparklog_secrets, none_of_a_log_full_of_them_reaches_the_run)
{
    struct reading r;
    reading_init(&r, poisoned, 0, &case_limits);
    cr_assert_eq(r.code, PV_OK);
    char *text = run_text(&r.run);
    cr_assert_null(strstr(text, "hunter2"), "%s", text);
    free(text);
    /* What stands beside the secrets did arrive. */
    cr_assert_eq(r.run.tasks_succeeded, 1);
    cr_assert_eq(r.run.n_stages, 4);
    cr_assert(strview_is(reading_stage(&r, 2)->name, "collect at etl.py:7"));
    cr_assert_eq(r.run.n_spark_properties, 1);
    cr_assert(strview_is(r.run.spark_properties[0].key, "spark.executor.cores"));
    reading_fini(&r);
}

Test(sparklog_secrets, messages_do_not_repeat_the_log)
{
    struct joblog_limits limits = case_limits;
    limits.stages = 2;
    struct reading r;
    reading_init(&r, poisoned, 0, &limits);
    cr_assert_eq(r.code, PV_E_LIMIT);
    cr_assert_null(strstr(r.err.detail, "hunter2"));
    reading_fini(&r);
}

static bool keeps(const char *key, const char *value)
{
    struct properties taken;
    memset(&taken, 0, sizeof taken);
    properties_take(&taken, (struct json_text){key, strlen(key), false},
                    (struct json_text){value, strlen(value), false});
    for (size_t i = 0; i < properties_count(); i++) {
        if (strcmp(properties_key(i), key) == 0)
            return strcmp(taken.values[i].text, value) == 0;
    }
    return false;
}

Test(sparklog_secrets, a_property_must_have_the_shape_of_its_key)
{
    cr_assert(keeps("spark.executor.memory", "8g"));
    cr_assert(keeps("spark.executor.memory", "8192MB"));
    cr_assert(keeps("spark.executor.instances", "16"));
    cr_assert(keeps("spark.memory.fraction", "0.6"));
    cr_assert(keeps("spark.sql.autoBroadcastJoinThreshold", "-1"));
    cr_assert(keeps("spark.locality.wait", "100ms"));
    cr_assert(keeps("spark.speculation", "true"));
    cr_assert(keeps("spark.serializer", "org.apache.spark.serializer.KryoSerializer"));
    cr_assert(keeps("spark.submit.deployMode", "cluster"));
    cr_assert_not(keeps("spark.executor.memory", "*********(redacted)"));
    cr_assert_not(keeps("spark.executor.memory", "8 g"));
    cr_assert_not(keeps("spark.executor.memory", "g"));
    cr_assert_not(keeps("spark.executor.memory", "8|"));
    cr_assert_not(keeps("spark.executor.instances", "1234567890123456"));
    cr_assert_not(keeps("spark.executor.instances", "4g"));
    cr_assert_not(keeps("spark.speculation", "yes"));
    cr_assert_not(keeps("spark.submit.deployMode", "client|cluster"));
    cr_assert_not(keeps("spark.app.name", "x"));
}

static const char *text_of(const char *object, const char *key)
{
    static char out[16];
    return properties_find_text(strview_of(object), strview_of(key), out, sizeof out) ? out : NULL;
}

Test(sparklog_secrets, a_property_and_a_tag_of_one_are_found)
{
    static const char object[] = "{\"a\":[1,{\"x\":2}],\"spark.x\":\"one\",\"tags\":"
                                 "\"[{\\\"key\\\":\\\"JobId\\\",\\\"value\\\":\\\"11\\\"},7,"
                                 "{\\\"key\\\":\\\"Empty\\\"}]\",\"long\":\"0123456789abcdef\"}";
    cr_expect_str_eq(text_of(object, "spark.x"), "one");
    cr_expect_str_eq(text_of(object, "tags[JobId]"), "11");
    cr_expect_null(text_of(object, "tags[RunName]"));
    cr_expect_null(text_of(object, "tags[Empty]"));
    cr_expect_null(text_of(object, "spark.x[JobId]"));
    cr_expect_null(text_of(object, "spark.y"));
    cr_expect_null(text_of(object, "a"));
    cr_expect_null(text_of(object, "long"));
    cr_expect_null(text_of("{\"spark.x\":", "spark.x"));
    cr_expect_null(text_of("", "spark.x"));
}

Test(sparklog_secrets, keys_ascend)
{
    for (size_t i = 1; i < properties_count(); i++)
        cr_assert_lt(strcmp(properties_key(i - 1), properties_key(i)), 0, "%s", properties_key(i));
}

Test(sparklog_secrets, the_advice_a_run_followed)
{
    struct reading r;
    reading_init(&r,
                 APP_START(1) "{\"Event\":\"SparkListenerEnvironmentUpdate\",\"Spark "
                              "Properties\":{\"spark.provisor.adviceId\":\"0190B5A7-1c2d-7abc-8def-"
                              "001122334455\"}}\n",
                 0, &case_limits);
    cr_assert_str_eq(r.run.advice_id, "0190b5a7-1c2d-7abc-8def-001122334455");
    cr_assert_eq(r.run.n_spark_properties, 0);
    reading_fini(&r);
}
