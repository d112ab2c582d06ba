#ifndef CORE_ADVICE_RECORDED_JOB_H
#define CORE_ADVICE_RECORDED_JOB_H

#include "base/arena.h"
#include "base/error.h"
#include "base/finding.h"
#include "base/strview.h"
#include "core/advice/replay.h"
#include "core/history/warned_runs.h"

/*
 * The job of an application for schedules together with other jobs, from its recorded runs
 * (docs/design.md, "Jobs from recorded runs"): the tasks of the run nearest in problem size and
 * cores as a replay of it has them, its start-up and its driver's time as delays of stages.
 */

/* Where the overhead of a job's tasks comes from. */
enum job_overhead {
    JOB_OVERHEAD_REPLAY, /* calibrated: alone on the target the job takes its predicted duration */
    JOB_OVERHEAD_IDLE_TIME, /* all idle core time of the run, start-up included (edf_job_from_run) */
    JOB_OVERHEAD_GIVEN, /* by the request; start-up and the driver's time are those of the run */
    JOB_OVERHEAD_NONE   /* the job is a block of its predicted duration */
};
extern const char *const job_overhead_words[]; /* ends with NULL */

struct recorded_job_question {
    const struct run *runs; /* n_runs >= 1 of the application, nearest to the target first */
    size_t n_runs;
    struct replay_target target; /* problem_size NAN: that of the nearest run */
    double predicted_duration_s; /* on the target, as advice predicts it; NAN: as the replay does */
    bool idle_time;              /* JOB_OVERHEAD_IDLE_TIME is asked for */
    double overhead_s;           /* a task, given by the request; NAN: none */
};

/* As recommendations have it (core/advice/question.h). */
#define RECORDED_CONFIDENCE 0.95

struct recorded_job {
    struct edf_job job;    /* release 0, deadline 1; its overhead per task is the one used */
    const struct run *run; /* that the tasks are from; NULL: a block */
    enum job_overhead overhead;
    bool not_replayed; /* the idle time was not asked for: the run cannot be replayed */
    double fixed_s; /* of the job's duration: start-up and the driver's time, which take no core */
    int64_t block_executors; /* of a block */
    double
        longer; /* its duration alone over the predicted one is not above this with the probability
                      RECORDED_CONFIDENCE; NAN: nothing is predicted */
    struct warned_runs warned; /* of the runs behind the job; zeros if another job counts them */
};

/*
 * *made lives in `arena` and borrows from the runs. A run that cannot be replayed, since its duration
 * is unknown, is used with JOB_OVERHEAD_IDLE_TIME.
 * PV_E_TOO_FEW: no run has stages with known task times. PV_E_LIMIT: it has too many tasks
 * (ADVISED_JOB_TASKS_MAX). PV_E_MEMORY.
 */
enum pv_code recorded_job_make(const struct recorded_job_question *question,
                               struct arena *arena,
                               struct recorded_job *made,
                               struct pv_error *err) PV_MUSTCHECK;

/* Adds a warning for jobs that are blocks, one for jobs that cannot be replayed, and one for the
 * warnings of the runs behind all jobs. names: n. */
void recorded_jobs_warn(const struct strview names[],
                        const struct recorded_job jobs[],
                        size_t n,
                        struct findings *warnings);

/*
 * Adds the assumptions of an answer about these jobs as reasons: `durations_as_predicted`, with the job that the
 * error of its prediction makes late first; `stages_share_cores` where there are several jobs. names,
 * jobs, outcomes and recorded have n entries; a job with stages of its own has neither run nor block.
 */
void recorded_jobs_explain(const struct strview names[],
                           const struct edf_job jobs[],
                           const struct edf_outcome outcomes[],
                           const struct recorded_job recorded[],
                           size_t n,
                           struct findings *reasons);

/* A job that is known by its duration on `cores` >= 1 cores only: as many tasks as cores, each as long
 * as the job. Alone on these cores the job takes that duration. PV_E_MEMORY. */
enum pv_code recorded_job_block(int64_t cores,
                                double duration_s,
                                struct arena *arena,
                                struct edf_job *job,
                                struct pv_error *err) PV_MUSTCHECK;

#endif
