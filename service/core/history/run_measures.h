#ifndef CORE_HISTORY_RUN_MEASURES_H
#define CORE_HISTORY_RUN_MEASURES_H

#include "base/arena.h"
#include "base/error.h"
#include "core/history/run.h"

/* Where the time of a run went, as IPSO wants to know it (docs/design.md, "Where the time of a run
 * went"). Seconds; NAN where the run lacks them. */
struct run_measures {
    double parallel_s; /* task time added up over the stages */
    double max_task_s; /* task time of the busiest core, added up over the stages */
    double induced_s;  /* stage durations beyond that, added up */
    double serial_s;   /* time after initialization in which no stage runs */
};

/*
 * Which core ran which task is not kept. The busiest core of a stage is therefore the one with the
 * most to do when the stage's tasks, in their order, go to whichever of executors x
 * cores_per_executor cores is free first (list scheduling, R. L. Graham 1969); of tasks known by
 * their mean only, each core gets as many, rounded up.
 *
 *   - Skipped stages take no part. A stage whose tasks are unknown leaves max_task_s and induced_s
 *     unknown; a run without stages leaves all unknown.
 *   - A stage that is shorter than its busiest core (more cores than stated, or tasks that overlap)
 *     induces nothing.
 *   - Time with a stage running is what the log says, else the union of the stages' intervals, else
 *     (no starts known) their durations one after another.
 *
 * Needs the stages with their tasks. scratch is back at its mark. PV_E_MEMORY. O(tasks log cores).
 */
enum pv_code run_measure(const struct run *run,
                         struct arena *scratch,
                         struct run_measures *measures,
                         struct pv_error *err) PV_MUSTCHECK;

#endif
