#ifndef CORE_ADVICE_ALLOCATION_RECORD_H
#define CORE_ADVICE_ALLOCATION_RECORD_H

#include "base/arena.h"
#include "base/error.h"
#include "core/autoscaling/allocation_replay.h"
#include "core/history/run.h"

/*
 * Makes the record of a run's executors for a replay of `job`, which edf_job_from_run made of the run.
 * Each change follows the stage that was submitted last before it, because executors are requested
 * for waiting stages. Without dynamic allocation, executors that leave lose their tasks if the run
 * has failed tasks. If it has none, or their number is unknown, they finish their tasks.
 *
 * record->n is 0 if the replay needs no record: all executors existed from the first stage to the
 * last, the run has no lifetimes, or the lifetimes contradict the stages (a stage ended its tasks
 * while no executor existed).
 *
 * losses  false: as if the platform had taken no executor away; executors that replaced such ones are
 *         not counted twice.
 *
 * record->changes lives in `arena`. PV_E_MEMORY. O((E + S) log (E + S)) for E executors and S stages.
 */
enum pv_code allocation_record_of_run(const struct run *run,
                                      const struct edf_job *job,
                                      bool losses,
                                      struct arena *arena,
                                      struct allocation_record *record,
                                      struct pv_error *err) PV_MUSTCHECK;

#endif
