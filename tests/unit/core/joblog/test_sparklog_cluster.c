/* Executors, resource profiles, jobs and how an application ended. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/history/task_slots.h"
#include "sparklog_cases.h"

static void expect(double got, double want)
{
    cr_assert_float_eq(got, want, 1e-12, "%g, want %g", got, want);
}

#define EXECUTOR_OF(id, ms, cores, profile)                                                        \
    "{\"Event\":\"SparkListenerExecutorAdded\",\"Timestamp\":" #ms ",\"Executor ID\":\"" id        \
    "\",\"Executor Info\":{\"Host\":\"h\",\"Total Cores\":" #cores                                 \
    ",\"Resources\":{},\"Resource Profile Id\":" #profile "}}\n"
#define PROFILE(id, cores, memory, cpus)                                                           \
    "{\"Event\":\"SparkListenerResourceProfileAdded\",\"Resource Profile Id\":" #id                \
    ",\"Executor Resource Requests\":{\"cores\":{\"Resource Name\":\"cores\",\"Amount\":" #cores   \
    "},\"memory\":{\"Resource Name\":\"memory\",\"Amount\":" #memory                               \
    "},\"gpu\":{\"Amount\":3}},\"Task Resource Requests\":{\"cpus\":{\"Amount\":" #cpus "}}}\n"
#define SCHEDULER(event, more)                                                                     \
    "{\"Event\":\"org.apache.spark.scheduler.SparkListener" event "\"," more "}\n"

/* Executor 1: 4 cores from 100 to 600 and from 700 to the end at 1000; 2: 2 cores from 200 on. */
Test(sparklog_cluster, core_seconds_are_those_of_each_executor_while_it_was_there)
{
    struct reading r;
    reading_init(&r,
                 APP_START(0) EXECUTOR("1", 100, 4) EXECUTOR("2", 200, 2) EXECUTOR("1", 300, 4)
                     GONE("1", 600) GONE("1", 650) EXECUTOR("1", 700, 4) GONE("7", 800)
                         APP_END(1000),
                 0, &case_limits);
    expect(r.run.core_s, 4 * 0.5 + 4 * 0.3 + 2 * 0.8);
    cr_assert_eq(r.run.executors, 2);
    cr_assert_eq(r.run.executors_added, 4);
    cr_assert_eq(r.run.executors_removed, 3);
    cr_assert_eq(reading_warning(&r, "mixed_executors"), 1);
    cr_assert_eq(r.run.n_resources, 0);
    reading_fini(&r);
}

/* The same executors; what leaves before it came was there for no time, what came before the start
 * was there from then on. */
Test(sparklog_cluster, executors_are_kept_with_when_they_came_and_went)
{
    static const double added_s[] = {0, 0.1, 0.6}, removed_s[] = {0.2, 0.5, (double)NAN};
    struct reading r;
    reading_init(&r,
                 EXECUTOR("3", 900, 1) APP_START(1000) EXECUTOR("1", 1100, 4) GONE("3", 1200)
                     GONE("1", 1500) GONE("1", 1550) EXECUTOR("1", 1600, 4) GONE("7", 1800)
                         APP_END(2000),
                 0, &case_limits);
    cr_assert_eq(r.run.n_executor_lifetimes, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct executor_lifetime *executor = &r.run.executor_lifetimes[i];
        expect(executor->added_s, added_s[i]);
        cr_assert_eq(executor->cores, i == 0 ? 1 : 4);
        cr_assert_eq(executor->resource_profile_id, RUN_UNKNOWN);
        cr_assert_eq(isnan(executor->removed_s), i == 2);
        if (i < 2)
            expect(executor->removed_s, removed_s[i]);
    }
    reading_fini(&r);
    reading_init(&r, APP_START(0) EXECUTOR("1", 500, 4) GONE("1", 400) APP_END(1000), 0,
                 &case_limits);
    expect(r.run.executor_lifetimes[0].added_s, 0.5);
    expect(r.run.executor_lifetimes[0].removed_s, 0.5);
    reading_fini(&r);
}

/* As many as are kept, and one more: then none is, and the run says so. */
Test(sparklog_cluster, beyond_the_most_no_executor_is_kept)
{
    for (int more = 0; more < 2; more++) {
        char *text = NULL;
        size_t n = 0;
        FILE *log = open_memstream(&text, &n);
        fputs(APP_START(0), log);
        for (int i = 0; i < RUN_EXECUTOR_LIFETIMES_MAX + more; i++)
            fprintf(
                log,
                "{\"Event\":\"SparkListenerExecutorAdded\",\"Timestamp\":5,\"Executor ID\":\"%d\","
                "\"Executor Info\":{\"Total Cores\":2}}\n",
                i);
        fputs(APP_END(10), log);
        cr_assert_eq(fclose(log), 0);
        struct reading r;
        reading_init(&r, text, 0, &case_limits);
        cr_assert_eq(r.run.executors, RUN_EXECUTOR_LIFETIMES_MAX + more);
        cr_assert_eq(r.run.n_executor_lifetimes, more == 0 ? RUN_EXECUTOR_LIFETIMES_MAX : 0);
        cr_assert_eq(reading_warning(&r, "executors_dropped"), more);
        reading_fini(&r);
        free(text);
    }
}

Test(sparklog_cluster, no_executor_in_the_log_no_core_seconds)
{
    struct reading r;
    reading_init(&r, APP_START(0) GONE("1", 600) APP_END(1000), 0, &case_limits);
    cr_assert(isnan(r.run.core_s));
    cr_assert_eq(r.run.executors, RUN_UNKNOWN);
    cr_assert_eq(r.run.executors_removed, 1);
    reading_fini(&r);
}

Test(sparklog_cluster, an_executor_that_leaves_before_it_came_held_nothing)
{
    struct reading r;
    reading_init(&r, APP_START(0) EXECUTOR("1", 500, 4) GONE("1", 400) APP_END(1000), 0,
                 &case_limits);
    expect(r.run.core_s, 0);
    cr_assert_eq(reading_warning(&r, "time_went_backwards"), 1);
    reading_fini(&r);
}

Test(sparklog_cluster, executors_of_each_resource_profile)
{
    struct reading r;
    reading_init(&r,
                 PROFILE(0, 4, 8192, 1.0) APP_START(0) EXECUTOR_OF("1", 1, 4, 0)
                     EXECUTOR_OF("2", 1, 4, 0) PROFILE(5, 16, 65536, 2.0) PROFILE(3, 8, 512, 1.0)
                         GONE("2", 5) EXECUTOR_OF("3", 6, 16, 5) EXECUTOR_OF("4", 6, 16, 5)
                             EXECUTOR_OF("5", 6, 16, 5)
                                 COMPLETED(0, 0, 1, 10, 20, ",\"Resource Profile Id\":0")
                                     COMPLETED(1, 0, 1, 10, 20, ",\"Resource Profile Id\":5")
                                         COMPLETED(2, 0, 1, 10, 20, "") APP_END(100),
                 0, &case_limits);
    cr_assert_eq(r.run.executors, 4);
    cr_assert_eq(r.run.cores_per_executor, 16);
    cr_assert_eq(reading_warning(&r, "mixed_executors"), 2);
    cr_assert_eq(r.run.n_resources, 3);
    static const int64_t want[][5] = {{0, 2, 4, 8192, 1}, {3, 0, 8, 512, 1}, {5, 3, 16, 65536, 2}};
    for (size_t i = 0; i < 3; i++) {
        const struct run_resources *got = &r.run.resources[i];
        cr_assert_eq(got->id, want[i][0]);
        cr_assert_eq(got->executors, want[i][1]);
        cr_assert_eq(got->cores_per_executor, want[i][2]);
        cr_assert_eq(got->executor_memory_bytes, want[i][3] << 20);
        cr_assert_eq(got->cores_per_task, want[i][4]);
        cr_assert_null(got->resource.at);
        cr_assert_eq(got->resource_per_executor, RUN_UNKNOWN);
        cr_assert(isnan(got->resource_per_task));
    }
    cr_assert_eq(reading_stage(&r, 0)->resource_profile_id, 0);
    cr_assert_eq(reading_stage(&r, 1)->resource_profile_id, 5);
    cr_assert_eq(reading_stage(&r, 2)->resource_profile_id, RUN_UNKNOWN);
    reading_fini(&r);
}

Test(sparklog_cluster, more_profiles_than_are_kept_are_counted)
{
    char log[32768] = APP_START(0);
    for (int i = 0; i < 70; i++)
        (void)snprintf(log + strlen(log), sizeof log - strlen(log),
                       "{\"Event\":\"SparkListenerResourceProfileAdded\",\"Resource Profile "
                       "Id\":%d}\n",
                       i);
    struct reading r;
    reading_init(&r, log, 0, &case_limits);
    cr_assert_eq(r.run.n_resources, 64);
    cr_assert_eq(reading_warning(&r, "resource_profiles_dropped"), 6);
    cr_assert_eq(r.run.resources[0].executor_memory_bytes, RUN_UNKNOWN);
    reading_fini(&r);
}

/* Spark 3.1 and later tell each exclusion twice, under the old name and the new one. */
Test(sparklog_cluster, exclusions_count_each_executor_and_node_once)
{
    struct reading r;
    reading_init(
        &r,
        APP_START(0) EXECUTOR("1", 1, 4) EXECUTOR("2", 1, 4) SCHEDULER(
            "ExecutorBlacklisted", "\"time\":5,\"executorId\":\"1\",\"taskFailures\":2")
            SCHEDULER("ExecutorExcluded", "\"time\":5,\"executorId\":\"1\",\"taskFailures\":2")
                SCHEDULER("ExecutorUnexcluded", "\"time\":9,\"executorId\":\"1\"") SCHEDULER(
                    "ExecutorExcludedForStage",
                    "\"time\":6,\"executorId\":\"2\",\"taskFailures\":1,\"stageId\":0,"
                    "\"stageAttemptId\":0")
                    SCHEDULER("ExecutorBlacklistedForStage",
                              "\"time\":6,\"executorId\":\"8\",\"taskFailures\":1,"
                              "\"stageId\":0,\"stageAttemptId\":0")
                        SCHEDULER("NodeExcluded",
                                  "\"time\":7,\"hostId\":\"a\",\"executorFailures\":2")
                            SCHEDULER("NodeBlacklisted",
                                      "\"time\":7,\"hostId\":\"a\",\"executorFailures\":2")
                                SCHEDULER("NodeExcludedForStage",
                                          "\"time\":8,\"hostId\":\"b\",\"stageId\":0")
                                    SCHEDULER("NodeUnblacklisted", "\"time\":19,\"hostId\":\"a\""),
        0, &case_limits);
    cr_assert_eq(r.run.executors_excluded, 3);
    cr_assert_eq(r.run.nodes_excluded, 2);
    cr_assert_eq(r.run.executors, 2, "excluded ones still hold their cores");
    cr_assert_eq(r.run.executors_added, 2);
    expect(r.run.duration_s, 0.019);
    cr_assert_eq(reading_warning(&r, "damaged_lines"), 0);
    reading_fini(&r);
}

#define JOB(id, ms)                                                                                \
    "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":" #id ",\"Submission Time\":" #ms             \
    ",\"Stage Infos\":[],\"Stage IDs\":[]}\n"
#define JOB_END(id, ms, result)                                                                    \
    "{\"Event\":\"SparkListenerJobEnd\",\"Job ID\":" #id ",\"Completion Time\":" #ms               \
    ",\"Job Result\":{\"Result\":\"" result "\"}}\n"

/* Jobs 0 and 1 overlap (100 to 500), 2 lies within, 3 stands alone (700 to 800). */
Test(sparklog_cluster, parallel_jobs_and_stages_take_the_time_of_their_union)
{
    struct reading r;
    reading_init(&r,
                 APP_START(0) JOB(0, 100) JOB(1, 300) JOB(2, 320) COMPLETED(0, 0, 1, 110, 250, "")
                     COMPLETED(1, 0, 1, 200, 400, "") COMPLETED(2, 0, 1, 120, 130, FAILURE)
                         COMPLETED(3, 0, 1, 710, 720, "") JOB_END(0, 400, "JobSucceeded")
                             JOB_END(2, 350, "JobSucceeded") JOB_END(1, 500, "JobFailed")
                                 JOB(3, 700) JOB_END(3, 800, "JobSucceeded") APP_END(1000),
                 0, &case_limits);
    expect(r.run.job_time_s, 0.5);
    expect(r.run.stage_time_s, 0.29 + 0.01);
    cr_assert_eq(r.run.jobs, 4);
    cr_assert_eq(reading_warning(&r, "failed_jobs"), 1);
    cr_assert(r.run.succeeded, "the application went on and ended by itself");
    reading_fini(&r);
}

Test(sparklog_cluster, what_does_not_end_lasts_to_the_end_of_the_log)
{
    struct reading r;
    reading_init(&r, APP_START(0) JOB(0, 100) SUBMITTED(0, 0, 1, 150) EXECUTOR("1", 600, 2), 0,
                 &case_limits);
    expect(r.run.job_time_s, 0.5);
    expect(r.run.stage_time_s, 0.45);
    expect(r.run.core_s, 0);
    reading_fini(&r);
}

Test(sparklog_cluster, a_job_that_ends_before_it_began_took_no_time)
{
    struct reading r;
    reading_init(&r, APP_START(0) JOB(0, 500) JOB_END(0, 400, "JobSucceeded") APP_END(900), 0,
                 &case_limits);
    expect(r.run.job_time_s, 0);
    cr_assert_eq(reading_warning(&r, "time_went_backwards"), 1);
    reading_fini(&r);
}

#define END_WITH(code)                                                                             \
    "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":900,\"ExitCode\":" #code "}\n"

/* The context was shut down from outside: the end is told first, then what still ran is cancelled.
 */
static const char killed[] = APP_START(0) JOB(0, 100) SUBMITTED(0, 0, 4, 110) APP_END(500)
    COMPLETED(0, 0, 4, 110, 501, FAILURE) JOB_END(0, 501, "JobFailed");

Test(sparklog_cluster, an_application_stopped_at_work_did_not_succeed)
{
    struct reading r;
    reading_init(&r, killed, 0, &case_limits);
    cr_assert(r.run.ended);
    cr_assert_not(r.run.succeeded);
    cr_assert_eq(reading_warning(&r, "unfinished_jobs"), 1);
    cr_assert_eq(r.run.exit_code, RUN_NO_EXIT_CODE);
    expect(r.run.duration_s, 0.5);
    reading_fini(&r);
}

/* Spark loses events when its queue is full; the end of a job alone may have been lost. */
Test(sparklog_cluster, a_job_without_end_and_without_a_stage_at_work_is_no_failure)
{
    struct reading r;
    reading_init(&r, APP_START(0) JOB(0, 100) COMPLETED(0, 0, 4, 110, 120, "") APP_END(500), 0,
                 &case_limits);
    cr_assert(r.run.succeeded);
    cr_assert_eq(reading_warning(&r, "unfinished_jobs"), 1);
    reading_fini(&r);
    reading_init(&r, APP_START(0) SUBMITTED(0, 0, 4, 110) APP_END(500), 0, &case_limits);
    cr_assert(r.run.succeeded);
    reading_fini(&r);
}

/* Databricks writes no end. Jobs that all ended well are one, as long as the log is whole. */
Test(sparklog_cluster, without_an_end_jobs_that_ended_well_are_a_success)
{
    static const struct {
        const char *log;
        bool succeeded;
    } cases[] = {
        {APP_START(0) JOB(0, 100) COMPLETED(0, 0, 4, 110, 400, "") JOB_END(0, 500, "JobSucceeded"),
         true},
        {APP_START(0) JOB(0, 100) COMPLETED(0, 0, 4, 110, 400, "") JOB_END(0, 500, "JobFailed"),
         false},
        {APP_START(0) JOB(0, 100) JOB_END(0, 500, "JobSucceeded") JOB(1, 600), false},
        {APP_START(0) JOB(0, 100) SUBMITTED(0, 0, 4, 110) JOB_END(0, 500, "JobSucceeded"), false},
        {APP_START(0), false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reading r;
        reading_init(&r, cases[i].log, 0, &case_limits);
        cr_assert_eq(r.run.succeeded, cases[i].succeeded, "case %zu", i);
        cr_assert_not(r.run.ended);
        cr_assert_eq(reading_warning(&r, "no_application_end"), 1);
        reading_fini(&r);
    }
}

#define EXECUTOR_AT(ms)                                                                            \
    "{\"Event\":\"SparkListenerExecutorAdded\",\"Timestamp\":" #ms                                 \
    ",\"Executor ID\":\"9\",\"Executor Info\":{\"Total Cores\":4}}\n"

/* A log without an end lasts to its last event, but not to one a day after its last work. */
Test(sparklog_cluster, events_far_from_work_make_no_duration)
{
    struct reading r;
    reading_init(&r,
                 APP_START(0) JOB(0, 100) COMPLETED(0, 0, 4, 110, 400, "")
                     JOB_END(0, 500, "JobSucceeded") EXECUTOR_AT(80374295000),
                 0, &case_limits);
    expect(r.run.duration_s, 0.5);
    cr_assert_eq(reading_warning(&r, "events_far_from_work"), 1);
    reading_fini(&r);
    reading_init(&r,
                 APP_START(0) JOB(0, 100) COMPLETED(0, 0, 4, 110, 400, "")
                     JOB_END(0, 500, "JobSucceeded") EXECUTOR_AT(86400500),
                 0, &case_limits);
    expect(r.run.duration_s, 86400.5);
    cr_assert_eq(reading_warning(&r, "events_far_from_work"), 0);
    reading_fini(&r);
    reading_init(&r, APP_START(0) JOB(0, 100) JOB_END(0, 500, "JobSucceeded") APP_END(90000000), 0,
                 &case_limits);
    expect(r.run.duration_s, 90000.0);
    cr_assert_eq(reading_warning(&r, "end_far_from_work"), 1);
    reading_fini(&r);
}

/* Where nothing was done there is nothing that such an event is near to, and no duration. */
Test(sparklog_cluster, far_events_of_an_application_without_work_leave_its_duration_unknown)
{
    struct reading r;
    reading_init(&r, APP_START(1000) EXECUTOR_AT(80374295000), 0, &case_limits);
    cr_assert(isnan(r.run.duration_s));
    cr_assert_eq(reading_warning(&r, "events_far_from_work"), 1);
    reading_fini(&r);
    reading_init(&r, APP_START(1000) EXECUTOR_AT(5000), 0, &case_limits);
    expect(r.run.duration_s, 4.0);
    cr_assert_eq(reading_warning(&r, "events_far_from_work"), 0);
    reading_fini(&r);
}

/* A start or an end that lies far from all work counts, for it may be true, and is told. */
Test(sparklog_cluster, a_start_or_an_end_far_from_work_is_told)
{
    struct reading r;
    reading_init(&r,
                 APP_START(100) JOB(0, 90000000) COMPLETED(0, 0, 4, 90000010, 90000400, "")
                     JOB_END(0, 90000500, "JobSucceeded") APP_END(90000600),
                 0, &case_limits);
    expect(r.run.duration_s, 90000.5);
    cr_assert_eq(reading_warning(&r, "work_far_from_start"), 1);
    cr_assert_eq(reading_warning(&r, "end_far_from_work"), 0);
    reading_fini(&r);
    reading_init(&r,
                 APP_START(0) JOB(0, 100) COMPLETED(0, 0, 4, 110, 400, "")
                     JOB_END(0, 500, "JobSucceeded") APP_END(86400500),
                 0, &case_limits);
    cr_assert_eq(reading_warning(&r, "work_far_from_start"), 0);
    cr_assert_eq(reading_warning(&r, "end_far_from_work"), 0);
    reading_fini(&r);
}

Test(sparklog_cluster, an_exit_code_has_the_last_word)
{
    static const struct {
        const char *log;
        int64_t code;
        bool succeeded;
    } cases[] = {
        {APP_START(0) END_WITH(0), 0, true},
        {APP_START(0) END_WITH(143), 143, false},
        {APP_START(0) END_WITH(-1), -1, false},
        {APP_START(0) JOB(0, 1) SUBMITTED(0, 0, 4, 110) END_WITH(0), 0, true},
        {APP_START(0) END_WITH(null), RUN_NO_EXIT_CODE, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reading r;
        reading_init(&r, cases[i].log, 0, &case_limits);
        cr_assert_eq(r.run.exit_code, cases[i].code, "case %zu", i);
        cr_assert_eq(r.run.succeeded, cases[i].succeeded, "case %zu", i);
        reading_fini(&r);
    }
}

#define PROPERTIES(list)                                                                           \
    "{\"Event\":\"SparkListenerEnvironmentUpdate\",\"Spark Properties\":{" list "}}\n"
#define REQUEST(name, amount)                                                                      \
    "\"" name "\":{\"Resource Name\":\"" name "\",\"Amount\": " #amount "}"
#define RESOURCES_OF(id, executor, task)                                                           \
    "{\"Event\":\"SparkListenerResourceProfileAdded\",\"Resource Profile Id\":" #id                \
    ",\"Executor Resource Requests\":{" executor "},\"Task Resource Requests\":{" task "}}\n"

static void expect_resource(const struct run_resources *got,
                            const char *name,
                            int64_t per_executor,
                            double per_task)
{
    cr_assert(strview_is(got->resource, name));
    cr_assert_eq(got->resource_per_executor, per_executor);
    expect(got->resource_per_task, per_task);
}

/* What no machine has is unknown, and an amount that no executor has allows no task. */
Test(sparklog_cluster, counts_and_amounts_have_a_limit)
{
    struct reading r;
    reading_init(&r,
                 RESOURCES_OF(0, REQUEST("cores", 1e10) "," REQUEST("gpu", 1),
                              REQUEST("cpus", 2.0) "," REQUEST("gpu", 1e300)) APP_START(0)
                     EXECUTOR_OF("1", 1, 4611686018427387904, 0) APP_END(100),
                 0, &case_limits);
    expect_resource(&r.run.resources[0], "gpu", 1, 1e9);
    cr_assert_eq(r.run.resources[0].cores_per_executor, RUN_UNKNOWN);
    cr_assert_eq(r.run.cores_per_executor, RUN_UNKNOWN);
    reading_fini(&r);
    reading_init(&r,
                 RESOURCES_OF(0, REQUEST("cores", 1000000000), REQUEST("cpus", 1.0)) APP_START(0)
                     EXECUTOR_OF("1", 1, 1000000000, 0) APP_END(100),
                 0, &case_limits);
    cr_assert_eq(r.run.cores_per_executor, 1000000000);
    reading_fini(&r);
}

/* Of several resources the one that allows the fewest tasks; of names that are no identifier none. */
Test(sparklog_cluster, gpus_and_other_resources_of_profiles)
{
    struct reading r;
    reading_init(
        &r,
        RESOURCES_OF(0, REQUEST("cores", 8) "," REQUEST("gpu", 2),
                     REQUEST("cpus", 1.0) "," REQUEST("gpu", 0.25))
            RESOURCES_OF(1, REQUEST("gpu", 4) "," REQUEST("fpga", 3) "," REQUEST("cores", 8),
                         REQUEST("gpu", 1.0) "," REQUEST("fpga", 1.5) "," REQUEST("cpus", 2.0))
                RESOURCES_OF(2, REQUEST("gpu", 0) "," REQUEST("A b", 4),
                             REQUEST("gpu", 1.0) "," REQUEST("A b", 4.0)) APP_START(0)
                    EXECUTOR_OF("1", 1, 8, 0) APP_END(100),
        0, &case_limits);
    cr_assert_eq(r.run.n_resources, 3);
    expect_resource(&r.run.resources[0], "gpu", 2, 0.25);
    expect_resource(&r.run.resources[1], "fpga", 3, 1.5);
    cr_assert_eq(r.run.resources[1].cores_per_task, 2);
    cr_assert_null(r.run.resources[2].resource.at);
    reading_fini(&r);
}

/* The first 32 requests of a task are looked up among those of the executor: r31 allows 20 tasks, r32 one. */
Test(sparklog_cluster, many_resources_of_a_profile_are_bounded)
{
    char has[4096] = "", takes[4096] = "", log[12288];
    struct reading r;
    for (int i = 0; i < 60; i++) {
        (void)snprintf(has + strlen(has), sizeof has - strlen(has), "%s\"r%d\":{\"Amount\":40}",
                       i == 0 ? "" : ",", i);
        (void)snprintf(takes + strlen(takes), sizeof takes - strlen(takes),
                       "%s\"r%d\":{\"Amount\":%d}", i == 0 ? "" : ",", i,
                       i < 31    ? 1
                       : i == 31 ? 2
                                 : 40);
    }
    (void)snprintf(
        log, sizeof log,
        APP_START(0) "{\"Event\":\"SparkListenerResourceProfileAdded\",\"Resource Profile "
                     "Id\":0,\"Executor Resource Requests\":{%s},\"Task Resource "
                     "Requests\":{%s}}\n" APP_END(100),
        has, takes);
    reading_init(&r, log, 0, &case_limits);
    cr_assert_eq(r.run.n_resources, 1);
    expect_resource(&r.run.resources[0], "r31", 40, 2);
    reading_fini(&r);
}

/* Spark before 3.1 logs no profile, and some logs have the executors of profile 0 only. */
Test(sparklog_cluster, properties_describe_the_default_profile)
{
    struct reading r;
    reading_init(
        &r,
        PROPERTIES("\"spark.task.cpus\":\"4\",\"spark.executor.resource.gpu.amount\":\"1\","
                   "\"spark.task.resource.gpu.amount\":\"0.5\"") APP_START(0) EXECUTOR("1", 1, 8)
            EXECUTOR("2", 1, 8) APP_END(100),
        0, &case_limits);
    cr_assert_eq(r.run.n_resources, 1);
    cr_assert_eq(r.run.resources[0].id, 0);
    cr_assert_eq(r.run.resources[0].executors, 2);
    cr_assert_eq(r.run.resources[0].cores_per_executor, 8);
    cr_assert_eq(r.run.resources[0].cores_per_task, 4);
    expect_resource(&r.run.resources[0], "gpu", 1, 0.5);
    reading_fini(&r);
    reading_init(&r,
                 PROPERTIES("\"spark.task.cpus\":\"2\"") APP_START(0) EXECUTOR_OF("1", 1, 8, 0)
                     APP_END(100),
                 0, &case_limits);
    cr_assert_eq(r.run.n_resources, 1);
    cr_assert_eq(r.run.resources[0].cores_per_task, 2);
    reading_fini(&r);
    reading_init(
        &r, PROPERTIES("\"spark.task.cpus\":\"1\"") APP_START(0) EXECUTOR("1", 1, 8) APP_END(100),
        0, &case_limits);
    cr_assert_eq(r.run.n_resources, 0, "one core a task needs no profile");
    reading_fini(&r);
}

Test(sparklog_cluster, barrier_stages_are_told_by_their_rdds)
{
    struct reading r;
    reading_init(
        &r,
        APP_START(0) "{\"Event\":\"SparkListenerStageSubmitted\",\"Stage Info\":{\"Stage ID\":0,"
                     "\"Submission Time\":10,\"RDD Info\":[{\"RDD ID\":0,\"Barrier\":false},"
                     "{\"RDD ID\":1,\"Barrier\": true}]}}\n" COMPLETED(
                         1, 0, 1, 10, 20, ",\"RDD Info\":[{\"Barrier\":true}]")
                         COMPLETED(2, 0, 1, 10, 20, ",\"RDD Info\":[{\"Barrier\":false},{\"x\":1}]")
                             COMPLETED(3, 0, 1, 10, 20, "") APP_END(100),
        0, &case_limits);
    cr_assert(reading_stage(&r, 0)->barrier);
    cr_assert(reading_stage(&r, 1)->barrier);
    cr_assert_not(reading_stage(&r, 2)->barrier);
    cr_assert_not(reading_stage(&r, 3)->barrier);
    reading_fini(&r);
}

/* Spark 1.x logs no executor in local mode; other masters hold the names of hosts and are not kept. */
Test(sparklog_cluster, local_mode_has_one_executor)
{
    static const struct {
        const char *properties;
        int64_t executors, cores;
    } cases[] = {
        {PROPERTIES("\"spark.master\":\"local\""), 1, 1},
        {PROPERTIES("\"spark.master\":\"local[6]\""), 1, 6},
        {PROPERTIES("\"spark.master\":\"local[3, 2]\""), 1, 3},
        {PROPERTIES("\"spark.master\":\"local[*]\""), RUN_UNKNOWN, RUN_UNKNOWN},
        {PROPERTIES("\"spark.master\":\"local-cluster[2,1,512]\""), RUN_UNKNOWN, RUN_UNKNOWN},
        {PROPERTIES("\"spark.master\":\"spark://host:7077\""), RUN_UNKNOWN, RUN_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char log[1024];
        struct reading r;
        (void)snprintf(log, sizeof log, "%s%s", cases[i].properties, APP_START(0) APP_END(100));
        reading_init(&r, log, 0, &case_limits);
        cr_assert_eq(r.run.executors, cases[i].executors, "%s", cases[i].properties);
        cr_assert_eq(r.run.cores_per_executor, cases[i].cores, "%s", cases[i].properties);
        cr_assert_eq(r.run.n_spark_properties, i < 4 ? 1 : 0, "%s", cases[i].properties);
        reading_fini(&r);
    }
}

/* Apache Spark's application_1578436911597_0052: asked for one GPU, the executor found three, and two
 * tasks of 2 CPUs ran at once on its 4 cores. */
Test(sparklog_cluster, the_gpus_that_executors_found_count)
{
    struct reading r;
    reading_init(
        &r,
        RESOURCES_OF(0, REQUEST("cores", 1) "," REQUEST("gpu", 1),
                     REQUEST("cpus", 1.0) "," REQUEST(
                         "gpu", 1.0)) RESOURCES_OF(3, REQUEST("cores", 4) "," REQUEST("gpu", 1),
                                                   REQUEST("cpus", 2.0) "," REQUEST("gpu", 1.0))
            APP_START(
                0) "{\"Event\":\"SparkListenerExecutorAdded\",\"Timestamp\":1,\"Executor "
                   "ID\":\"1\","
                   "\"Executor Info\":{\"Host\":\"h\",\"Total Cores\":4,\"Resources\":{\"fpga\":{"
                   "\"addresses\":[\"0\"]},\"gpu\":{\"name\":\"gpu\",\"addresses\":[\"0\",\"1\","
                   "\"2\"]}},\"Resource Profile Id\":3}}\n" COMPLETED(
                       0, 0, 6, 10, 20, ",\"Resource Profile Id\":3") APP_END(100),
        0, &case_limits);
    cr_assert_eq(r.run.n_resources, 2);
    expect_resource(&r.run.resources[0], "gpu", 1, 1.0);
    expect_resource(&r.run.resources[1], "gpu", 3, 1.0);
    cr_assert_float_eq(task_slots_of_run(&r.run, reading_stage(&r, 0)), 2.0, 0);
    reading_fini(&r);
}
