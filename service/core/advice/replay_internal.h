#ifndef CORE_ADVICE_REPLAY_INTERNAL_H
#define CORE_ADVICE_REPLAY_INTERNAL_H

#include "core/advice/replay.h"

/* A job and the executors to schedule it on. */
struct replay_schedule {
    const struct edf_job *job; /* the job of the replay, or one with the same stages */
    const struct stage_slots *slots;
    const double *longest_s; /* one a stage: its longest task */
    int64_t executors;
    int64_t cores_per_executor;
    double driver_scale; /* of the driver's recorded times */
    const struct allocation_record *record;
};

/* How long the stages take without the driver's time. scratch is back at its mark. PV_E_MEMORY. */
enum pv_code replay_makespan(const struct replay *replay,
                             const struct replay_schedule *on,
                             struct arena *scratch,
                             double *seconds,
                             struct pv_error *err) PV_MUSTCHECK;

/* Task seconds of stage s as recorded. */
double replay_recorded_work(const struct replay *replay, size_t s);

/* Sets fixed_s and overhead_s so that a replay on the run's own executors takes what the run took.
 * PV_E_TOO_FEW: it takes longer, and why. PV_E_MEMORY. */
enum pv_code
replay_calibrate(struct replay *replay, struct arena *scratch, struct pv_error *err) PV_MUSTCHECK;

#endif
