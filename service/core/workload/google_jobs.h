#ifndef CORE_WORKLOAD_GOOGLE_JOBS_H
#define CORE_WORKLOAD_GOOGLE_JOBS_H

#include "core/joblog/common/idmap.h"
#include "core/workload/workload_import_internal.h"

/*
 * From events of tasks, in order of time, to jobs (docs/workloads.md, "google_2011 and
 * google_2019"). A task is open from SUBMIT to FINISH, EVICT, FAIL, KILL or LOST; what counts of it
 * is the time from its last SCHEDULE to FINISH. A job arrives with the first SUBMIT of a task, and
 * has ended when none of its tasks has been open for an hour: then it is handed on, and forgotten.
 */
enum google_event {
    GOOGLE_SUBMIT,
    GOOGLE_SCHEDULE,
    GOOGLE_EVICT,
    GOOGLE_FAIL,
    GOOGLE_FINISH,
    GOOGLE_KILL,
    GOOGLE_LOST,
    GOOGLE_OTHER /* updates, and what comes between SUBMIT and SCHEDULE */
};
enum { GOOGLE_EVENTS = GOOGLE_OTHER + 1 };

struct google_job;

/* All zeros: no event yet. */
struct google_trace {
    struct google_job *jobs;
    size_t n_jobs; /* used or free */
    size_t jobs_capacity;
    uint32_t free_jobs; /* the first of a list; GOOGLE_NONE: none */
    uint32_t first_idle,
        last_idle;       /* jobs without open tasks, in the order in which they came so */
    struct idmap by_id;  /* of jobs that are used */
    uint64_t held_tasks; /* places for tasks in all jobs */
    int64_t now_us;
    uint64_t ended[GOOGLE_EVENTS]; /* attempts that ran, by how they ended */
    uint64_t without_start;        /* finished, but not seen to start */
    uint64_t instants;             /* finished in the microsecond they started in */
    uint64_t empty_jobs;           /* ended without a task that finished */
    uint64_t unended_tasks;        /* open when the trace ends */
    uint64_t other_rows;           /* of other tables, and of alloc sets */
    int columns[8];                /* of google_2019: where they are; -1: nowhere */
};

#define GOOGLE_NONE UINT32_MAX

void google_trace_init(struct google_trace *trace);

/* What happened to a task of a job. PV_E_INVALID: before the event above it. PV_E_LIMIT: too many
 * tasks are held, or as trace_end_job. Amortized O(1). */
enum pv_code google_event(struct workload_import *import,
                          int64_t at_us,
                          int64_t job,
                          int64_t task,
                          enum google_event event,
                          struct pv_error *err) PV_MUSTCHECK;

/* The trace ends: all jobs are handed on; warnings of what does not count. */
enum pv_code google_finish(struct workload_import *import,
                           struct findings *warnings,
                           struct pv_error *err) PV_MUSTCHECK;

void google_end(struct workload_import *import);

#endif
