#ifndef CORE_JOBLOG_MAPREDUCE_MAPREDUCE_INTERNAL_H
#define CORE_JOBLOG_MAPREDUCE_MAPREDUCE_INTERNAL_H

#include "core/joblog/common/budget.h"
#include "core/joblog/common/idmap.h"
#include "core/joblog/common/lines.h"
#include "core/joblog/mapreduce/job_event.h"
#include "core/joblog/mapreduce/mapreduce.h"

/* Things that did not stop the reader: X(enumerator, code of the warning, detail). */
#define MAPREDUCE_NOTICES(X)                                                                       \
    X(NOTICE_DAMAGED_LINE, "damaged_lines", "lines that are not an event were passed over")        \
    X(NOTICE_LINE_TOO_LONG, "line_too_long", "lines over the allowed length were passed over")     \
    X(NOTICE_TRUNCATED, "truncated", "the compressed stream ends within a frame")                  \
    X(NOTICE_NO_END, "no_application_end", "the history ends before the job does")                 \
    X(NOTICE_BACKWARDS, "time_went_backwards", "ends before starts were taken as no time at all")  \
    X(NOTICE_BAD_TIME, "time_unusable", "instants are missing or lie outside years 1970 to 9999")  \
    X(NOTICE_OTHER_JOB, "several_applications", "events of other jobs were passed over")           \
    X(NOTICE_BAD_ID, "application_id_unusable", "the id of the job cannot be kept")                \
    X(NOTICE_FAILED_JOB, "failed_jobs", "the job failed or was killed")                            \
    X(NOTICE_MASTER_AGAIN, "master_restarted", "application masters that took over from another")  \
    X(NOTICE_WAITED, "reduces_waited",                                                             \
      "reduces launched before the last map had ended; their durations hold the wait for it")

#define MAPREDUCE_NOTICE_ENUM(notice, code, detail) notice,
enum notice { MAPREDUCE_NOTICES(MAPREDUCE_NOTICE_ENUM) NOTICE_COUNT };
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
    int64_t ran_ms; /* set when the run is built */
    struct job_work work;
};

struct mapreduce {
    struct joblog_limits limits;
    struct budget budget;
    enum pv_code failed; /* sticky */
    struct lines lines;
    uint64_t bytes;
    int64_t notices[NOTICE_COUNT];
    char job_id[256];
    char job_name[1024]; /* "" when there is none, or one too long to be a name */
    int64_t submit_ms;
    int64_t finish_ms;
    int64_t last_ms; /* the latest instant of any event */
    bool named;      /* an event named the job */
    bool ended;
    bool succeeded;
    int64_t masters;
    int64_t speculative;         /* copies launched */
    int64_t lost;                /* attempts whose output was lost after they had succeeded */
    int64_t planned[TASK_KINDS]; /* tasks; -1 when unknown */
    struct idmap attempt_at;     /* packed attempt id -> index in attempts */
    struct job_attempt *attempts;
    size_t n_attempts;
    size_t attempts_capacity;
};

/* Check and note an instant of an event; NO_INSTANT when it is absent or unusable (counted). */
int64_t mapreduce_see_time(struct mapreduce *log, int64_t ms);

/* later - earlier; 0 when one is unknown; 0, and counted, when time went backwards. */
int64_t mapreduce_elapsed(struct mapreduce *log, int64_t earlier_ms, int64_t later_ms);

/* What an event does (job_table.c). NULL for an event that is passed over. Applied only when the
 * whole line was sound; *sound becomes false when the event cannot be used after all. */
typedef enum pv_code (*job_take)(struct mapreduce *log,
                                 const struct job_event *event,
                                 bool *sound,
                                 struct pv_error *err);
job_take job_table_find(struct json_text type);

/* The run of what has been gathered (job_run.c); sorts the attempts. */
enum pv_code job_run_build(struct mapreduce *log,
                           struct arena *arena,
                           struct run *run,
                           struct pv_error *err) PV_MUSTCHECK;

#endif
