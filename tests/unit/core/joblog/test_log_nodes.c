/* The nodes of a log: which tasks ran where, what becomes of hosts' names, cores on each. */
#include "core/joblog/common/log_nodes.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "core/joblog/common/privacy.h"
#include "core/joblog/mapreduce/mapreduce.h"
#include "sparklog_cases.h"

#define TASK_ON(stage, index, host, from, to, metrics)                                             \
    "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":" #stage ",\"Stage Attempt ID\":0,"          \
    "\"Task End Reason\":{\"Reason\":\"Success\"},\"Task Info\":{\"Index\":" #index                \
    ",\"Launch Time\":" #from ",\"Executor ID\":\"1\",\"Host\":\"" host "\",\"Finish Time\":" #to  \
    ",\"Accumulables\":[]},\"Task Metrics\":{" metrics "}}\n"
#define EXECUTOR_ON(id, host, ms, cores)                                                           \
    "{\"Event\":\"SparkListenerExecutorAdded\",\"Timestamp\":" #ms ",\"Executor ID\":\"" id        \
    "\",\"Executor Info\":{\"Host\":\"" host "\",\"Total Cores\":" #cores "}}\n"
#define READ(input, remote, local)                                                                 \
    "\"Shuffle Read Metrics\":{\"Remote Bytes Read\":" #remote ",\"Local Bytes Read\":" #local     \
    "},\"Input Metrics\":{\"Bytes Read\":" #input "}"

static const char *name_of(enum joblog_policy policy, const char *host)
{
    static char out[SCREEN_NAME_MAX];
    const struct joblog_privacy privacy = {.host_names = policy, .hash = case_hash};
    privacy_node_name(&privacy, (struct json_text){host, strlen(host), false}, out);
    return out;
}

Test(log_nodes, names_follow_the_policy_for_host_names)
{
    cr_assert_str_eq(name_of(JOBLOG_KEEP, "w-3.example.org"), "w-3.example.org");
    cr_assert_str_eq(name_of(JOBLOG_KEEP, "[fe80::1%eth0]"), "[fe80::1%eth0]");
    cr_assert_eq(strncmp(name_of(JOBLOG_HASH, "w-3"), "host:00000003", 13), 0);
    cr_assert_str_eq(name_of(JOBLOG_DROP, "w-3"), "");
    cr_assert_eq(strncmp(name_of(JOBLOG_KEEP, "alice's laptop"), "host:", 5), 0);
    cr_assert_eq(strncmp(name_of(JOBLOG_KEEP, "AKIAIOSFODNN7EXAMPLE"), "host:", 5), 0);
    const struct joblog_privacy keyless = {.host_names = JOBLOG_HASH};
    char out[SCREEN_NAME_MAX];
    privacy_node_name(&keyless, (struct json_text){"w-3", 3, false}, out);
    cr_assert_str_eq(out, "");
}

/* Tasks in order, whatever the order of their ends; 0 bytes are bytes. */
Test(log_nodes, each_task_has_its_node_and_what_it_read)
{
    struct reading r;
    reading_init(&r,
                 APP_START(0) EXECUTOR_ON("1", "a", 100, 4) EXECUTOR_ON("2", "b", 100, 4)
                     TASK_ON(0, 1, "b", 200, 300, READ(10, 20, 5))
                         TASK_ON(0, 0, "a", 200, 400, READ(0, 0, 0))
                             TASK_ON(0, 2, "c", 200, 500, "\"Executor Run Time\":1")
                                 TASK(0, 3, "Success", 200, 600, READ(7, 0, 0)) APP_END(1000),
                 7, &case_limits);
    const struct run_stage *stage = reading_stage(&r, 0);
    cr_assert_eq(r.run.n_nodes, 3);
    cr_assert_eq(stage->n_tasks, 4);
    const int64_t nodes[] = {0, 1, 2, -1};
    const int64_t bytes[] = {0, 35, -1, 7};
    for (size_t i = 0; i < 4; i++) {
        cr_assert_eq(stage->task_nodes[i], nodes[i], "%zu", i);
        cr_assert_eq(stage->task_read_bytes[i], bytes[i], "%zu", i);
    }
    cr_assert_eq(r.run.nodes[0].cores, 4);
    cr_assert_eq(r.run.nodes[2].cores, RUN_UNKNOWN, "no executor was seen there");
    reading_fini(&r);
}

Test(log_nodes, a_log_without_hosts_and_metrics_has_no_lists)
{
    struct reading r;
    reading_init(&r, APP_START(0) TASK(0, 0, "Success", 1, 2, "") APP_END(10), 0, &case_limits);
    cr_assert_null(reading_stage(&r, 0)->task_nodes);
    cr_assert_null(reading_stage(&r, 0)->task_read_bytes);
    cr_assert_eq(r.run.n_nodes, 0);
    reading_fini(&r);
}

/* Two executors of 4 and 2 at once, then one of 5. */
Test(log_nodes, cores_are_the_most_at_once)
{
    struct reading r;
    reading_init(&r,
                 APP_START(0) EXECUTOR_ON("1", "a", 100, 4) EXECUTOR_ON("2", "a", 200, 2)
                     GONE("1", 300) GONE("2", 300) EXECUTOR_ON("3", "a", 400, 5)
                         EXECUTOR_ON("4", "b", 400, 1) APP_END(1000),
                 0, &case_limits);
    cr_assert_eq(r.run.n_nodes, 2);
    cr_assert_eq(r.run.nodes[0].cores, 6);
    cr_assert_eq(r.run.nodes[1].cores, 1);
    reading_fini(&r);
}

/* Under `drop` nodes are still told apart. */
Test(log_nodes, hosts_whose_names_are_dropped_stay_different)
{
    struct joblog_limits limits = case_limits;
    struct reading r;
    limits.privacy.host_names = JOBLOG_DROP;
    reading_init(&r,
                 APP_START(0) TASK_ON(0, 0, "a", 1, 2, "") TASK_ON(0, 1, "b", 1, 2, "")
                     TASK_ON(0, 2, "a", 1, 2, "") APP_END(10),
                 0, &limits);
    cr_assert(r.run.n_nodes == 2 && r.run.nodes[0].name.at == NULL);
    cr_assert_eq(reading_stage(&r, 0)->task_nodes[2], 0);
    cr_assert_eq(reading_stage(&r, 0)->task_nodes[1], 1);
    reading_fini(&r);
}

Test(log_nodes, hosts_beyond_the_most_are_unknown)
{
    struct log_nodes nodes = {.n = 0};
    struct budget budget = {.limit = 1 << 26};
    const struct joblog_privacy privacy = {.host_names = JOBLOG_KEEP};
    uint32_t node = 0;
    for (size_t i = 0; i <= LOG_NODES_MAX; i++) {
        char host[16];
        int n = snprintf(host, sizeof host, "n%zu", i);
        cr_assert_eq(log_nodes_find(&nodes, &budget, &privacy,
                                    (struct json_text){host, (size_t)n, false}, &node, NULL),
                     PV_OK);
        cr_assert_eq(node, i < LOG_NODES_MAX ? i : LOG_NODE_UNKNOWN);
    }
    budget.limit = budget.used;
    cr_assert_eq(
        log_nodes_find(&nodes, &budget, &privacy, (struct json_text){"n7", 2, false}, &node, NULL),
        PV_OK, "one that is known takes no memory");
    cr_assert_eq(node, 7);
    log_nodes_fini(&nodes, &budget);
    cr_assert_eq(budget.used, 0);
}

#define EVENT(type, record, members)                                                               \
    "{\"type\":\"" type "\",\"event\":{\"org.apache.hadoop.mapreduce.jobhistory." record           \
    "\":{" members "}}}\n"
#define ID(task) "\"attemptId\":\"attempt_1_0007_m_" #task "_0\""
#define BEGUN(task, ms)                                                                            \
    EVENT("MAP_ATTEMPT_STARTED", "TaskAttemptStarted", ID(task) ",\"startTime\":" #ms)
#define DONE(task, ms, host)                                                                       \
    EVENT("MAP_ATTEMPT_FINISHED", "MapAttemptFinished",                                            \
          ID(task) ",\"finishTime\":" #ms ",\"hostname\":\"" host "\"")

/* Containers of b: 1 from 20 on, 2 until 20, so one at a time; of a two at once, one of them failed. */
Test(log_nodes, attempts_of_mapreduce_name_their_host_at_their_end)
{
    static const char history[] = "Avro-Json\n{}\n" EVENT(
        "JOB_SUBMITTED", "JobSubmitted", "\"jobid\":\"job_1_0007\",\"submitTime\":1") BEGUN(0, 10)
        BEGUN(1, 20) BEGUN(2, 10) BEGUN(3, 10) DONE(2, 20, "b") DONE(0, 30, "a") DONE(1, 40, "b")
            EVENT("MAP_ATTEMPT_FAILED", "TaskAttemptUnsuccessfulCompletion",
                  ID(3) ",\"finishTime\":25,\"hostname\":\"a\"")
                EVENT("JOB_FINISHED", "JobFinished", "\"jobid\":\"job_1_0007\",\"finishTime\":50");
    struct log_reader *log = log_reader_create(&mapreduce_kind, &case_limits);
    struct arena arena;
    struct run run;
    arena_init(&arena, 0);
    cr_assert_eq(log_reader_feed(log, history, sizeof history - 1, NULL), PV_OK);
    cr_assert_eq(log_reader_finish(log, &arena, &run, NULL), PV_OK);
    cr_assert(run.n_nodes == 2 && run.nodes[0].cores == 1 && run.nodes[1].cores == 2);
    cr_assert_eq(run.executors, 3);
    const int64_t nodes[] = {1, 0, 0};
    for (size_t i = 0; i < 3; i++)
        cr_assert_eq(run.stages[0].task_nodes[i], nodes[i]);
    cr_assert_null(run.stages[0].task_read_bytes);
    arena_fini(&arena);
    log_reader_destroy(log);
}
