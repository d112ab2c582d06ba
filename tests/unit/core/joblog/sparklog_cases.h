#ifndef UNIT_CORE_SPARKLOG_CASES_H
#define UNIT_CORE_SPARKLOG_CASES_H

#include "core/joblog/spark/sparklog.h"

/* A log read in pieces: the run, its memory, and what the reader answered. */
struct reading {
    struct arena arena;
    struct run run;
    struct pv_error err;
    enum pv_code code;
    struct joblog_counts counts;
};

extern const struct joblog_limits case_limits;

/* Stands in for the keyed hash of the service; its first digits are the length of the text. */
void case_hash(const unsigned char key[32], struct strview text, char digits[17]);

/* piece 0: at once. Free with reading_fini. */
void reading_init(struct reading *reading,
                  const char *log,
                  size_t piece,
                  const struct joblog_limits *limits);
void reading_fini(struct reading *reading);

/* Count of a warning, 0 when it is not there. */
int64_t reading_warning(const struct reading *reading, const char *code);

const struct run_stage *reading_stage(const struct reading *reading, int64_t id);

/* Lines of a log. */
#define LOG_START "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.1\"}\n"
#define APP_START(ms)                                                                              \
    "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"n\",\"App ID\":\"app-1\","        \
    "\"Timestamp\":" #ms ",\"User\":\"u\",\"App Attempt ID\":\"2\"}\n"
#define APP_END(ms) "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":" #ms "}\n"
#define SUBMITTED(stage, attempt, tasks, ms)                                                       \
    "{\"Event\":\"SparkListenerStageSubmitted\",\"Stage Info\":{\"Stage ID\":" #stage              \
    ",\"Stage Attempt ID\":" #attempt ",\"Number of Tasks\":" #tasks ",\"Submission Time\":" #ms   \
    "},\"Properties\":{}}\n"
#define COMPLETED(stage, attempt, tasks, from, to, more)                                           \
    "{\"Event\":\"SparkListenerStageCompleted\",\"Stage Info\":{\"Stage ID\":" #stage              \
    ",\"Stage Attempt ID\":" #attempt ",\"Number of Tasks\":" #tasks ",\"Submission Time\":" #from \
    ",\"Completion Time\":" #to more "}}\n"
#define FAILURE ",\"Failure Reason\":\"fetch failed\""
#define TASK(stage, index, reason, from, to, metrics)                                              \
    "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":" #stage ",\"Stage Attempt ID\":0,"          \
    "\"Task End Reason\":{\"Reason\":\"" reason "\"},\"Task Info\":{\"Index\":" #index             \
    ",\"Launch Time\":" #from ",\"Finish Time\":" #to                                              \
    ",\"Accumulables\":[]},\"Task Metrics\":{" metrics "}}\n"
#define EXECUTOR(id, ms, cores)                                                                    \
    "{\"Event\":\"SparkListenerExecutorAdded\",\"Timestamp\":" #ms ",\"Executor ID\":\"" id        \
    "\",\"Executor Info\":{\"Host\":\"h\",\"Total Cores\":" #cores "}}\n"
#define GONE(id, ms)                                                                               \
    "{\"Event\":\"SparkListenerExecutorRemoved\",\"Timestamp\":" #ms ",\"Executor ID\":\"" id      \
    "\"}\n"

#endif
