#ifndef CORE_HISTORY_TASK_SLOTS_H
#define CORE_HISTORY_TASK_SLOTS_H

#include "core/history/run.h"

/*
 * Task slots: how many tasks of a resource profile an executor runs at once,
 *
 *     min(executor cores / cores of a task, executor resource amount / task resource amount)
 *
 * each rounded down, for cores and for every GPU or other custom resource. The default profile, 0,
 * is what the properties set: spark.executor.cores, spark.task.cpus,
 * spark.executor.resource.gpu.amount and spark.task.resource.gpu.amount. (Apache Spark 3.5,
 * "Configuration", "Custom Resource Scheduling", and "Stage Level Scheduling Overview".)
 *
 * A profile whose executors are in the log has executors of its own, which run no other tasks. All
 * other profiles share the executors of the default profile.
 */
struct task_slots {
    int64_t profile;          /* id; 0: the default profile */
    int64_t task_cores;       /* that each task takes, >= 1 */
    int64_t by_resource;      /* tasks at once that `resource` allows; RUN_UNKNOWN: any number */
    struct strview resource;  /* at == NULL: only cores count */
    double resource_per_task; /* NAN without a resource */
    int64_t per_executor;     /* amount of the resource; RUN_UNKNOWN without one */
    size_t pool;              /* profiles with the same number share executors */
    double share;             /* of the run's executors that are in the pool, in (0, 1] */
    int64_t cores;            /* of an executor of the pool in the run; RUN_UNKNOWN */
    bool cores_are_fixed;     /* the program sets them, not spark.executor.cores */
};

/* Tasks at once that so much of a resource allows: floor(1 / share) for each whole one if tasks
 * share it. RUN_UNKNOWN: an amount is unknown or 0. */
int64_t task_slots_by_resource(int64_t per_executor, double per_task);

/* The largest amount of a resource a task, to six digits, with which so many tasks run at once. */
double task_slots_share(int64_t per_executor, int64_t tasks);

/* The slots of a profile of the run; RUN_UNKNOWN is the default profile. `asked`: with what each
 * task takes in the run that is asked about. */
struct task_slots task_slots_of(const struct run *run, int64_t profile_id, bool asked);

/* Cores of an executor of the pool where executors have so many; `run`: that the slots are of. */
int64_t
task_slots_cores(const struct task_slots *slots, const struct run *run, int64_t cores_per_executor);

/* Tasks that an executor of so many cores runs at once; 0: its cores are too few for one. */
int64_t task_slots_per_executor(const struct task_slots *slots,
                                const struct run *run,
                                int64_t cores_per_executor);

/* Executors of the pool, of so many in all; at least 1. */
int64_t task_slots_executors(const struct task_slots *slots, int64_t executors);

/* Tasks of a stage that the executors of the run itself ran at once, at least 1; NAN: unknown. */
double task_slots_of_run(const struct run *run, const struct run_stage *stage);

/*
 * The fewest executors of so many cores that run all tasks of each barrier stage at once; 1: there is
 * no barrier stage.
 */
int64_t task_slots_least_executors(const struct run *run, int64_t cores_per_executor);

#endif
