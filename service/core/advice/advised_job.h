#ifndef CORE_ADVICE_ADVISED_JOB_H
#define CORE_ADVICE_ADVISED_JOB_H

#include "base/arena.h"
#include "base/error.h"
#include "core/advice/replay.h"

/*
 * The tasks of an application as they are predicted to run on some configuration: those of the run
 * nearest in size and cores (replay_curve_distance) that can be replayed, by the laws of all of them,
 * stretched so that a replay takes the predicted duration. What needs no core is apart: the start, what the driver does between stages,
 * and its end, each the share of the recorded run's.
 */
struct advised_job {
    const struct run *run;           /* whose tasks they are */
    struct edf_job job;              /* deadline 1, release 0 */
    size_t recorded_tasks;           /* of the run */
    const struct edf_stage *graph;   /* its stages without those that only the driver awaits */
    struct stage_slots slots;        /* of its stages, on the configuration */
    struct allocation_record record; /* of its executors; n == 0 if all exist all the time */
    double duration_s;               /* predicted, less the rounding of a schedule */
    bool awaited_executors;          /* the first stage of that run began with executors there */
    double fixed_s;                  /* all that needs no core, */
    double initialization_s;         /* of that: before the first stage, */
    double *delays_s;                /* by stage: of the driver, before it is submitted, */
    double ending_s;                 /* and the rest */
};

/* A job that would have more tasks, and more than its run had, is refused: a problem size far beyond
 * the runs would take minutes to schedule. A task that holds several cores counts as many times. */
#define ADVISED_JOB_TASKS_MAX 10000000

/*
 * runs     of the application; those that cannot be replayed are passed over, and of those that are
 *          equally near, the first is taken
 * target   the configuration
 * predicted_duration_s  NAN: what a replay of that run gives
 * arena    holds what *made points at; it borrows from the runs, too
 *
 * PV_E_TOO_FEW: no run can be replayed. PV_E_LIMIT: it has too many tasks. PV_E_MEMORY.
 */
enum pv_code advised_job_make(const struct run runs[],
                              size_t n_runs,
                              const struct replay_target *target,
                              double predicted_duration_s,
                              struct arena *arena,
                              struct advised_job *made,
                              struct pv_error *err) PV_MUSTCHECK;

/*
 * The same for a schedule together with other jobs: the start-up and the driver's time are delays of
 * stages (struct edf_stage), and a last stage without tasks is the driver's time at the end. Alone
 * on the target's cores the job takes its predicted duration, or longer by what a schedule with
 * delays takes longer.
 *
 * arena    holds what *job points at; it borrows from *made
 * PV_E_LIMIT: it has too many tasks. PV_E_MEMORY.
 */
enum pv_code advised_job_delay(const struct advised_job *made,
                               const struct replay_target *target,
                               struct arena *arena,
                               struct edf_job *job,
                               struct pv_error *err) PV_MUSTCHECK;

#endif
