#ifndef CORE_DEADLINE_JOB_FROM_RUN_H
#define CORE_DEADLINE_JOB_FROM_RUN_H

#include "core/deadline/clairvoyant_edf.h"
#include "core/history/run.h"

/*
 * The job that a recorded run describes: its stages (skipped ones left out, their parents handed
 * on), task durations where known one by one, else the mean, and the overhead per task of
 * docs/design.md, "Jobs from recorded runs"
 * (`(duration - serialized/K_run) / (tasks/K_run)`, clamped at 0). release and deadline are the
 * caller's.
 *
 * The job borrows task durations from the run; the rest is in `arena`. Members release_s
 * and deadline_s of *job are not touched.
 * PV_E_TOO_FEW: the run has no stages, or a stage whose task times are unknown (detail says which).
 */
enum pv_code edf_job_from_run(const struct run *run,
                              struct arena *arena,
                              struct edf_job *job,
                              struct pv_error *err) PV_MUSTCHECK;

#endif
