#ifndef CORE_ADVICE_ALLOCATION_RECORD_H
#define CORE_ADVICE_ALLOCATION_RECORD_H

#include "base/arena.h"
#include "base/error.h"
#include "core/autoscaling/allocation_replay.h"
#include "core/history/run.h"

/*
 * The executors of a recorded run as they came and went, for a replay of `job`, which
 * edf_job_from_run made of the run. Each change stands after the stage that was submitted last
 * before it, so that it moves with that stage: executors are asked for because a stage waits.
 *
 * record->n is 0 where nothing has to be replayed: all of them were there from the first stage to the
 * last, the log does not say when they came, or what it says cannot be (a stage ended its tasks
 * while no executor was there).
 *
 * What *record points at lives in `arena`. PV_E_MEMORY. O((E + S) log (E + S)) for E executors and S
 * stages.
 */
enum pv_code allocation_record_of_run(const struct run *run,
                                      const struct edf_job *job,
                                      struct arena *arena,
                                      struct allocation_record *record,
                                      struct pv_error *err) PV_MUSTCHECK;

#endif
