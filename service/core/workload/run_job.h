#ifndef CORE_WORKLOAD_RUN_JOB_H
#define CORE_WORKLOAD_RUN_JOB_H

#include "base/arena.h"
#include "base/error.h"
#include "core/history/run.h"
#include "core/workload/workload_record.h"

/*
 * A recorded run as a job of a workload. Each stage gives its tasks in the order of the stages, with
 * their durations one by one, as its sketch spreads them, or all as long as its mean: whichever is
 * the best there is; the sum is the stage's recorded task time in any case. A run of two stages, 0
 * `map` and 1 `reduce`, as job histories of MapReduce are read, has maps and reduces; the tasks of
 * any other are one bag. Input is what the stages read from storage, where that is known.
 */

/* Clocks of logs count milliseconds, so a task of 0 s took less than one. It counts as one. */
#define RUN_JOB_LEAST_S 0.001

struct run_job {
    struct workload_job job; /* without name, arrival, shuffle, predicted size, queue and class */
    struct workload_durations durations;
    int64_t raised_tasks; /* from 0 s to RUN_JOB_LEAST_S */
};

/*
 * stages  n, ascending by id; skipped ones have no tasks
 * arena   holds the job's runs
 * *known  false: there are no tasks, or there is a stage of which neither durations nor a mean and
 *         a count are known; *made is not written then
 *
 * PV_E_MEMORY. O(tasks).
 */
enum pv_code run_job_make(const struct run_stage stages[],
                          size_t n,
                          struct arena *arena,
                          struct run_job *made,
                          bool *known,
                          struct pv_error *err) PV_MUSTCHECK;

#endif
