#ifndef CORE_ADVICE_ADVISED_JOB_H
#define CORE_ADVICE_ADVISED_JOB_H

#include "base/arena.h"
#include "base/error.h"
#include "core/advice/replay.h"

/*
 * The tasks of an application as they are predicted to run on some configuration: those of the
 * nearest run that can be replayed, by the laws of all of them, stretched so that a replay takes the
 * predicted duration. What needs no core is apart: the start, what the driver does between stages,
 * and its end, each the share of the recorded run's.
 */
struct advised_job {
    const struct run *run;           /* whose tasks they are */
    struct edf_job job;              /* deadline 1, release 0 */
    const struct edf_stage *graph;   /* its stages without those that only the driver awaits */
    struct allocation_record record; /* of its executors; n == 0 if all exist all the time */
    bool awaited_executors;          /* the first stage of that run began with executors there */
    double waiting_s;                /* of the duration: for executors; */
    double fixed_s;                  /* all that needs no core, */
    double initialization_s;         /* of that: before the first stage, */
    double *delays_s;                /* by stage: of the driver, before it is submitted, */
    double ending_s;                 /* and the rest */
};

/*
 * runs     of the application, nearest in size first; those that cannot be replayed are passed over
 * target   the configuration
 * arena    holds what *made points at; it borrows from the runs, too
 *
 * PV_E_TOO_FEW: no run can be replayed. PV_E_MEMORY.
 */
enum pv_code advised_job_make(const struct run runs[],
                              size_t n_runs,
                              const struct replay_target *target,
                              double predicted_duration_s,
                              struct arena *arena,
                              struct advised_job *made,
                              struct pv_error *err) PV_MUSTCHECK;

#endif
