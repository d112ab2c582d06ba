#ifndef CORE_JOBLOG_SPARK_STATE_H
#define CORE_JOBLOG_SPARK_STATE_H

#include "core/joblog/common/idmap.h"
#include "core/joblog/common/json.h"
#include "core/joblog/common/log_nodes.h"
#include "core/joblog/common/log_reader.h"
#include "core/joblog/spark/beginning.h"
#include "core/joblog/spark/properties.h"
#include "core/joblog/spark/session_signs.h"
#include "core/joblog/spark/tasks.h"

/*
 * What a reader gathers while the log passes, in milliseconds and counts as the log has them.
 * events_*.c fill it, profile.c makes the run of it.
 */

/* Things that did not stop the reader: X(enumerator, code of the warning, detail). */
#define SPARKLOG_NOTICES(X)                                                                        \
    X(NOTICE_STARTED_AGAIN, "several_applications", "later application starts were passed over")   \
    X(NOTICE_NO_START, "no_application_start",                                                     \
      "the log has no start of the application: its name and id are those of the properties, and " \
      "it began with the first event")                                                             \
    X(NOTICE_BAD_START, "application_start_unusable",                                              \
      "the start of the application has no instant, or lies after its first stage: it began with " \
      "the first event")                                                                           \
    X(NOTICE_CLOCK, "clock_set_back",                                                              \
      "the clock of the driver was set back while the application ran: its duration is unknown")   \
    X(NOTICE_DOUBLED, "doubled_events", "events that were there already were passed over")         \
    X(NOTICE_COMPACTED, "compacted_log",                                                           \
      "jobs are missing, as in a log that was compacted or lacks parts: the run has no problem "   \
      "size and no stages, and predictions leave it out")                                          \
    X(NOTICE_MISSING_PART, "missing_part",                                                         \
      "parts of the log are not there: the numbers of the other parts leave them out")             \
    X(NOTICE_BAD_ID, "application_id_unusable", "an application or attempt id cannot be kept")     \
    X(NOTICE_LATER_PARENT, "parents_dropped", "parents that do not come before their stage")       \
    X(NOTICE_FAILED_JOB, "failed_jobs", "jobs of the application failed")                          \
    X(NOTICE_OPEN_JOB, "unfinished_jobs", "jobs were still running when the application ended")    \
    X(NOTICE_BAD_AMOUNT, "amounts_unusable", "amounts below zero were passed over")                \
    X(NOTICE_MIXED_CORES, "mixed_executors", "executors had fewer cores than the largest ones")    \
    X(NOTICE_FAR_EVENT, "events_far_from_work",                                                    \
      "the log has no end, and its last event is more than a day after the last task: the time "   \
      "between is not counted")                                                                    \
    X(NOTICE_FAR_START, "work_far_from_start",                                                     \
      "the first stage began more than a day after the application: it waited, or a clock was "    \
      "set wrong; the time between counts")                                                        \
    X(NOTICE_FAR_END, "end_far_from_work",                                                         \
      "the application ended more than a day after its last task: it idled, or a clock was set "   \
      "wrong; the time between counts")                                                            \
    X(NOTICE_PROFILES, "resource_profiles_dropped", "more resource profiles than are kept")        \
    X(NOTICE_EXECUTORS, "executors_dropped",                                                       \
      "more executors than are stored: the run has no executor_lifetimes")

#define SPARKLOG_NOTICE_ENUM(notice, code, detail) notice,
enum { SPARKLOG_NOTICE_BEFORE = LOG_NOTICE_OWN - 1, SPARKLOG_NOTICES(SPARKLOG_NOTICE_ENUM) };
#undef SPARKLOG_NOTICE_ENUM

/*
 * What a task moved and used, as its log has it; -1 where it does not. Sums over successful tasks,
 * the peaks are the largest of any attempt.
 */
enum amount {
    AMOUNT_INPUT_BYTES,
    AMOUNT_INPUT_RECORDS,
    AMOUNT_OUTPUT_BYTES,
    AMOUNT_OUTPUT_RECORDS,
    AMOUNT_SHUFFLE_REMOTE_BYTES,
    AMOUNT_SHUFFLE_LOCAL_BYTES,
    AMOUNT_SHUFFLE_READ_RECORDS,
    AMOUNT_SHUFFLE_WRITE_BYTES,
    AMOUNT_SHUFFLE_WRITE_RECORDS,
    AMOUNT_MEMORY_SPILLED_BYTES,
    AMOUNT_DISK_SPILLED_BYTES,
    AMOUNT_RUN_MS,
    AMOUNT_CPU_NS,
    AMOUNT_GC_MS,
    AMOUNT_SUMS, /* the peaks follow */
    AMOUNT_PEAK_EXECUTION_BYTES = AMOUNT_SUMS,
    AMOUNT_PEAK_HEAP_BYTES,
    AMOUNT_PEAK_UNIFIED_BYTES,
    AMOUNT_PEAK_STORAGE_BYTES,
    AMOUNT_PEAK_OFF_HEAP_BYTES,
    AMOUNT_PEAK_NON_HEAP_BYTES,
    AMOUNT_PEAK_PROCESS_BYTES,
    AMOUNT_PEAK_PYTHON_BYTES,
    AMOUNT_COUNT
};

struct amounts {
    int64_t of[AMOUNT_COUNT];
};

/* A job; its times NO_TIME where they are unknown. */
struct job {
    int64_t id;
    int64_t submitted_ms;
    int64_t completed_ms;
    bool ended;
};

/* When an executor existed. */
struct logged_lifetime {
    int64_t added_ms;
    int64_t removed_ms; /* NO_TIME if it stayed */
    int64_t cores;      /* RUN_UNKNOWN, as the profile */
    int64_t profile;
    bool lost; /* the platform took the executor away */
};

/* An executor, from its first event on. */
struct executor {
    int64_t cores;      /* RUN_UNKNOWN */
    int64_t profile;    /* RUN_UNKNOWN */
    int64_t since_ms;   /* when it was last added */
    int64_t removed_ms; /* when it was last removed; NO_TIME */
    int64_t core_ms;    /* of the times it was there before */
    uint32_t node;      /* LOG_NODE_UNKNOWN */
    int64_t startup_ms; /* from its request to its registration; RUN_UNKNOWN */
    size_t lifetime;    /* while alive: its place in lifetimes, beyond them where none is kept */
    bool alive;
    bool added; /* false: only excluded or removed so far */
    bool excluded;
};

/* A resource profile. */
enum { PROFILES_MAX = 64, RESOURCE_NAME_MAX = 32 };

/* A GPU or another custom resource of its executors. */
struct profile_resource {
    char name[RESOURCE_NAME_MAX]; /* "": there is none */
    int64_t per_executor;
    double per_task;
};

struct profile {
    int64_t id;
    int64_t alive;
    int64_t most;
    int64_t cores_asked; /* RUN_UNKNOWN, as the four below */
    int64_t cores_most;
    int64_t memory_mib;
    int64_t task_cpus;
    struct profile_resource resource; /* that allows the fewest tasks at once */
};

struct attempt {
    int64_t id;
    int64_t planned; /* tasks that it had to run; RUN_UNKNOWN */
    int64_t submitted_ms;
    int64_t completed_ms;
    bool completed;
    bool failed;
};

struct stage {
    int64_t id;
    char *name;
    size_t n_name;
    size_t name_capacity;
    int64_t *parents;
    size_t n_parents;
    size_t parents_capacity;
    int64_t tasks_planned; /* "Number of Tasks"; negative when unknown */
    struct attempt *attempts;
    size_t n_attempts;
    size_t attempts_capacity;
    struct tasks tasks; /* successful ones of all attempts */
    int64_t task_ms;
    int64_t longest_ms;    /* of the successful tasks; RUN_UNKNOWN */
    int64_t longest_bytes; /* that one read; RUN_UNKNOWN */
    int64_t tasks_failed;
    int64_t resource_profile; /* RUN_UNKNOWN */
    bool barrier;
    int64_t cache_source; /* id of the stage that cached what this one reads; RUN_UNKNOWN */
    struct amounts amounts;
    bool ran; /* submitted, completed or with a task */
};

/* When a SQL execution ran; its end NO_TIME while the log has none. */
struct sql_execution {
    int64_t started_ms;
    int64_t ended_ms;
};

struct application {
    char name[1024]; /* "" when there is none, or one too long to be a name */
    char id[256];
    char attempt_id[256];
    char log_version[64];      /* SparkListenerLogStart */
    char metadata_version[64]; /* DBCEventLoggingListenerMetadata, which some logs have instead */
    bool started;
    bool ended;
    int64_t start_ms;
    int64_t end_ms;
    int64_t exit_code; /* RUN_NO_EXIT_CODE */
    bool interrupted;  /* ended while a job and a stage were at work */
};

struct sparklog {
    struct log_reader reader;
    struct application application;
    struct log_beginning beginning;
    struct properties properties; /* as submitted */
    bool has_environment;         /* the log has the submitted properties */
    char *raw_properties;         /* the object as the log has it; names of jobs stand in it */
    size_t n_raw_properties;
    size_t raw_properties_capacity;
    bool has_modified;            /* SQL executions say what the job set */
    struct properties set_by_job; /* the latest values that the job gave them itself */
    struct session_signs session;
    struct idmap streaming_at; /* hash of the id of a streaming query */
    struct idmap sql_at;       /* execution id -> index in sql_executions */
    struct sql_execution *sql_executions;
    size_t n_sql_executions;
    size_t sql_executions_capacity;
    int64_t parts; /* Databricks numbers the parts of a log from 0: number of parts */
    int64_t part;  /* number of the latest part; RUN_UNKNOWN */
    int64_t last_part;
    bool has_events;      /* a line is an event of Spark that the reader knows */
    bool has_lines;       /* one that is not blank */
    bool begins_as_event; /* the first line, which may be cut */
    int64_t first_stage_ms;
    int64_t last_work_ms; /* of a job, a stage or a task; NO_TIME */
    int64_t jobs;
    int64_t first_job;    /* the least id of a job; RUN_UNKNOWN */
    int64_t last_job;     /* the greatest */
    uint32_t *tasks_seen; /* two for each task id, of its end otherwise and well: a hash; 0: none */
    size_t tasks_seen_capacity;
    int64_t tasks_lost; /* tasks and stages whose ends are missing; known once the run is built */
    int64_t stage_ends_lost;
    int64_t job_starts_lost; /* jobs whose end alone is logged */
    int64_t stages_completed;
    int64_t stages_failed;
    int64_t tasks_succeeded;
    int64_t tasks_failed;
    int64_t task_ms;
    int64_t failed_task_ms;
    int64_t tasks_killed;
    int64_t tasks_resubmitted;
    int64_t tasks_speculative;
    int64_t driver_heap; /* RUN_UNKNOWN */
    int64_t out_of_memory_errors;
    int64_t memory_limit_kills;
    int64_t blocks_dropped;     /* RUN_UNKNOWN: no update of a block is logged */
    int64_t first_executor_ms;  /* NO_TIME */
    struct idmap cached_blocks; /* hash of executor and block -> 1: in memory */
    struct idmap rdds_unwanted; /* ids of RDDs that were unpersisted */
    struct idmap rdd_cached_by; /* id of an RDD that is cached -> index of the stage that made it */
    int64_t storage_memory[2];  /* heap for blocks: of the driver, of an executor; RUN_UNKNOWN */
    int64_t executors_added;
    int64_t executors_added_again; /* part of it: there already, and added at the same instant */
    int64_t executors_removed;
    int64_t executors_removed_again;
    int64_t executors_lost;
    int64_t executors_excluded;
    int64_t executors_most;
    int64_t executors_alive;
    int64_t cores_most;
    struct idmap executor_at; /* hash of the id -> index in executors */
    struct executor *executors;
    size_t n_executors;
    size_t executors_capacity;
    struct logged_lifetime *lifetimes; /* by when they came */
    size_t n_lifetimes;
    size_t lifetimes_capacity;
    struct idmap nodes_excluded; /* hash of the host */
    struct log_nodes nodes;
    struct profile profiles[PROFILES_MAX];
    size_t n_profiles;
    struct idmap job_at; /* job id -> index in jobs_seen */
    struct job *jobs_seen;
    size_t n_jobs_seen;
    size_t jobs_capacity;
    int64_t jobs_open;
    int64_t attempts_open; /* of stages: submitted, not completed */
    struct idmap stage_at; /* stage id -> index in stages */
    struct stage *stages;
    size_t n_stages;
    size_t stages_capacity;
    size_t n_attempts; /* over all stages; a stage that never ran counts as one */
    size_t n_tasks;    /* kept */
};

/* The stage of an id, made when it is new. PV_E_LIMIT, PV_E_MEMORY. */
enum pv_code sparklog_get_stage(struct sparklog *log,
                                int64_t id,
                                struct stage **stage,
                                struct pv_error *err) PV_MUSTCHECK;

/* log_kind.init and log_kind.fini. */
void sparklog_init(struct log_reader *reader);
void sparklog_fini(struct log_reader *reader);

/* Amounts of an event or stage before anything is known. */
extern const struct amounts amounts_unknown;

/* Take what one attempt of a task used: sums only when it succeeded, peaks always. */
void sparklog_add_amounts(struct sparklog *log,
                          struct amounts *to,
                          const struct amounts *of,
                          bool succeeded);

/* The larger of what was seen and what is said now; 0 says nothing. */
void sparklog_raise(struct sparklog *log, int64_t *peak, int64_t bytes);

/* log_reader_see_time of a job, a stage or a task, for last_work_ms. */
int64_t sparklog_see_work(struct sparklog *log, int64_t ms);

/* a * b of two that are not negative, held at the end of the range. */
int64_t sparklog_times(int64_t a, int64_t b);

#endif
