#ifndef CORE_STRAGGLERS_SLOW_TASKS_H
#define CORE_STRAGGLERS_SLOW_TASKS_H

#include "core/stragglers/stage_times.h"

/* Younger tasks are not slow (spark.speculation.minTaskRuntime). */
static const double SLOW_TASK_LEAST_S = 0.1;

/* The tasks of a stage that Spark would call slow, and why each was. */
struct slow_rule {
    double quantile;   /* part of the stage that is done before tasks are judged; 0 to 1 */
    double multiplier; /* slow: longer than so many medians of the tasks done; > 0 */
};

/* Why a task took longer than the median of its stage; the parts add up to `extra_s`. */
struct slow_task {
    size_t task;
    double extra_s;
    double read_s;    /* as it read more than others */
    double node_s;    /* as it ran on a slow node */
    double unknown_s; /* neither */
};

struct slow_stage {
    double threshold_s;
    struct slow_task *tasks; /* most extra time first */
    size_t n;
    struct slow_task sum; /* of all of them; `task` is of no use */
};

/*
 * The slow tasks of a stage: among those that are left when `quantile` of it is done, the shortest
 * first, those that take longer than `multiplier` times the median of the ones done (and 100 ms, as
 * for Spark). factors: how much longer each node of the run takes, 1 where that is not known; nodes
 * of tasks may be unknown. The result is of `arena`. PV_E_MEMORY. O(tasks log tasks).
 */
enum pv_code slow_tasks_find(const struct run_stage *stage,
                             const struct stage_times *times,
                             const double factors[],
                             const struct slow_rule *rule,
                             struct arena *arena,
                             struct slow_stage *slow,
                             struct pv_error *err) PV_MUSTCHECK;

#endif
