#ifndef CORE_JOBLOG_MAPREDUCE_MAPREDUCE_INTERNAL_H
#define CORE_JOBLOG_MAPREDUCE_MAPREDUCE_INTERNAL_H

#include "core/joblog/common/idmap.h"
#include "core/joblog/common/log_nodes.h"
#include "core/joblog/common/log_reader.h"
#include "core/joblog/mapreduce/job_event.h"

/* Things that did not stop the reader: X(enumerator, code of the warning, detail). */
#define MAPREDUCE_NOTICES(X)                                                                       \
    X(NOTICE_OTHER_JOB, "several_applications", "events of other jobs were passed over")           \
    X(NOTICE_BAD_ID, "application_id_unusable", "the id of the job cannot be kept")                \
    X(NOTICE_FAILED_JOB, "failed_jobs", "the job failed or was killed")                            \
    X(NOTICE_MASTER_AGAIN, "master_restarted", "application masters that took over from another")  \
    X(NOTICE_WAITED, "reduces_waited",                                                             \
      "reduces launched before the last map had ended; their durations hold the wait for it")

#define MAPREDUCE_NOTICE_ENUM(notice, code, detail) notice,
enum { MAPREDUCE_NOTICE_BEFORE = LOG_NOTICE_OWN - 1, MAPREDUCE_NOTICES(MAPREDUCE_NOTICE_ENUM) };
#undef MAPREDUCE_NOTICE_ENUM

enum task_kind { TASK_MAP, TASK_REDUCE, TASK_KINDS };

enum attempt_state {
    ATTEMPT_RUNNING, /* launched, or known by its name only */
    ATTEMPT_SUCCEEDED,
    ATTEMPT_FAILED,
    ATTEMPT_KILLED
};

struct job_attempt {
    enum task_kind kind;
    enum attempt_state state;
    bool launched; /* an event reported its start */
    int64_t task;  /* number of the task among its kind */
    int64_t start_ms;
    int64_t finish_ms;
    uint32_t node;  /* LOG_NODE_UNKNOWN */
    int64_t ran_ms; /* set when the run is built */
    struct job_work work;
};

struct mapreduce {
    struct log_reader reader;
    char job_id[256];
    char job_name[1024]; /* "" when there is none, or one too long to be a name */
    int64_t submit_ms;
    int64_t finish_ms;
    bool named; /* an event named the job */
    bool ended;
    bool succeeded;
    int64_t masters;
    int64_t speculative;         /* copies launched */
    int64_t lost;                /* attempts whose output was lost after they had succeeded */
    int64_t planned[TASK_KINDS]; /* tasks; -1 when unknown */
    struct log_nodes nodes;
    struct idmap attempt_at; /* packed attempt id -> index in attempts */
    struct job_attempt *attempts;
    size_t n_attempts;
    size_t attempts_capacity;
};

/* What an event does (job_table.c). NULL for an event that is passed over. Applied only when the
 * whole line was sound; *sound becomes false when the event cannot be used after all. */
typedef enum pv_code (*job_take)(struct mapreduce *log,
                                 const struct job_event *event,
                                 bool *sound,
                                 struct pv_error *err);
job_take job_table_find(struct json_text type);

/* When the job ended; the last instant of the history where it does not say. */
int64_t job_containers_end_ms(const struct mapreduce *log);

/* Set executors, their cores and the nodes of the run. False: no memory. O(n log n). */
bool job_containers_count(struct mapreduce *log, struct arena *arena, struct run *run);

/* The run of what has been gathered (job_run.c, log_kind.build); sorts the attempts. */
enum pv_code job_run_build(struct log_reader *reader,
                           struct arena *arena,
                           struct run *run,
                           struct pv_error *err) PV_MUSTCHECK;

#endif
