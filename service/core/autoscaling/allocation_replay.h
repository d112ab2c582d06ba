#ifndef CORE_AUTOSCALING_ALLOCATION_REPLAY_H
#define CORE_AUTOSCALING_ALLOCATION_REPLAY_H

#include "base/arena.h"
#include "base/error.h"
#include "core/autoscaling/allocation_policy.h"
#include "core/deadline/clairvoyant_edf.h"

/*
 * A job on executors that come and go.
 *
 * Tasks are started as Clairvoyance EDF starts those of a single job: a stage is submitted when its
 * parents have ended, and the driver is done with what it does between; of the submitted ones the
 * lowest goes first. A task goes to the executor with the most free cores, of several to the one
 * that had no task for the longest time, which spreads tasks as Spark's random order does.
 *
 * Executors follow Spark's ExecutorAllocationManager (org.apache.spark, Spark 3.5):
 *
 * - The target begins at initial_executors, and stays there until the first stage is submitted.
 * - Needed are ceil(allocation_ratio x slots of tasks that run or wait / slots of an executor). A
 *   target above that falls to it at once, never below the minimum; requests for executors that
 *   have not come yet are cancelled.
 * - Once tasks have waited for backlog_timeout_s, 1 executor is added to the target, then 2, 4, 8
 *   and so on each sustained_backlog_timeout_s for as long as tasks wait and the target is below
 *   the number needed. It begins again with 1 when no task waits, or the target was cut short.
 * - An executor that was asked for takes its first task startup_s later.
 * - One that had no task for idle_timeout_s is let go, unless the minimum or the target needs it,
 *   or, with shuffle_tracking, unless it holds shuffle output: as long as the stages that read
 *   it have not ended, and shuffle_timeout_s after it had its last task.
 *
 * Not simulated: that a task runs only on executors of its resource profile; cached blocks, which
 * hold executors as well; nodes that are excluded; executors that the cluster manager refuses or
 * delays beyond startup_s; that Spark looks ten times a second and not at each instant.
 *
 * With a record, executors come and go as in a recorded run instead, and the policy only gives the
 * greatest number. Each change happens so long after the submission of the stage before it. If half
 * of the recorded executors existed at an instant, half of the greatest number does. An executor
 * leaves by allocation_leave:
 *
 * - IDLE: it leaves when it has no task and no task waits.
 * - DONE: it takes no more tasks, and leaves when its last task has ended.
 * - LOST: it leaves at once; other executors run its tasks again.
 *
 * The last executor stays while there are tasks, and if the record has no later change.
 */
#define ALLOCATION_START SIZE_MAX

struct allocation_change {
    size_t after; /* the stage; ALLOCATION_START: the start of the run */
    double by_s;
    int64_t executors; /* from then on */
};

enum allocation_leave { ALLOCATION_LEAVE_IDLE, ALLOCATION_LEAVE_DONE, ALLOCATION_LEAVE_LOST };

struct allocation_record {
    const struct allocation_change *changes; /* in the order in which they happened */
    size_t n;
    int64_t most; /* executors at once; >= 1 */
    enum allocation_leave leave;
};

struct allocation_job {
    const struct edf_job *job;        /* its tasks; release and deadline do not matter */
    const struct edf_stage *shuffles; /* the same stages with the parents whose shuffle output they
                                         read, without those that only the driver awaits; NULL: as
                                         in `job` */
    const double *delays_s;  /* by stage: the driver's time before it is submitted; NULL: none */
    double initialization_s; /* from the start to the first stage; initial executors are there then
                              */
    double ending_s;         /* of the driver, after the last stage */
    int64_t cores_per_executor; /* task slots of an executor; >= 1 */
    /* By stage: slots that each task takes, at most those of an executor; NULL: 1. */
    const int64_t *task_units;
    double startup_s;                       /* of an executor, >= 0 */
    const struct allocation_record *record; /* NULL if the policy decides */
};

/* So many executors from that instant on. */
struct allocation_step {
    double at_s;
    int64_t executors;
};

/* From the request of an executor to its end. */
struct allocation_lease {
    double from_s;
    double to_s;
};

struct allocation_outcome {
    double duration_s;
    double executor_s;               /* of all leases */
    struct allocation_lease *leases; /* of each executor that started, in order of request */
    size_t n_leases;
    int64_t peak_executors;
    size_t started;                /* beyond the initial ones */
    size_t released;               /* before the end */
    struct allocation_step *steps; /* what there was, each later than the one before */
    size_t n_steps;
};

/*
 * Run the job under the policy.
 *
 * task_budget  tasks that may be simulated at most
 * arena        holds what *outcome points at, and is not `scratch`, which is back at its mark; NULL:
 *              steps and leases are left out
 *
 * PV_E_LIMIT beyond the budget, PV_E_DOMAIN for stages that wait for each other, PV_E_MEMORY.
 * O(T (log K + log S)) for T tasks on K cores in S stages, and K for each stage where shuffles are
 * tracked with a timeout. One input has one outcome.
 */
enum pv_code allocation_replay(const struct allocation_job *job,
                               const struct allocation_policy *policy,
                               uint64_t task_budget,
                               struct arena *arena,
                               struct arena *scratch,
                               struct allocation_outcome *outcome,
                               struct pv_error *err) PV_MUSTCHECK;

#endif
