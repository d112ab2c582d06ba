#ifndef CORE_DEADLINE_SLOT_MAKESPAN_H
#define CORE_DEADLINE_SLOT_MAKESPAN_H

#include <stdbool.h>

#include "core/deadline/makespan.h"

/*
 * The makespan of one job whose stages differ in the task slots that their tasks take: tasks that
 * take several cores, executors that serve only some stages, barrier stages. A job whose tasks all
 * take one slot of the same executors is makespan_find's, which is faster and gives the same.
 *
 * A pool of executors has a number of units; each task of a stage takes some units of one pool while
 * it runs. The submitted stages are served in the order of their ids, as Clairvoyance EDF does it; a
 * stage whose pool has too few free units lets the next one pass, as Spark's scheduler does. A
 * barrier stage starts when all of its tasks can start at once. One that the whole pool is too small
 * for runs as if it were not one: Spark would fail the job.
 *
 * Not simulated: free units that are spread over executors so that none has enough for a task.
 */
struct slot_need {
    size_t pool;
    int64_t units; /* of each task, >= 1 */
    bool is_barrier;
};

/*
 * When the last task ends of a job that is released at instant 0, seconds.
 *
 * plan    of this job, or of one with the same stages and parents
 * needs   by stage
 * units   by pool; each at least the units of any task of its stages
 * scratch back at its mark
 * PV_E_MEMORY. O(T log T + E S) for T tasks, S stages that wait and E instants at which tasks end; O(T
 * log T) if all tasks of a pool take as many units.
 */
enum pv_code slot_makespan_find(const struct edf_plan *plan,
                                const struct edf_job *job,
                                const struct slot_need needs[],
                                const int64_t units[],
                                size_t n_pools,
                                struct arena *scratch,
                                double *seconds,
                                struct pv_error *err) PV_MUSTCHECK;

#endif
