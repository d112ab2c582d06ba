#ifndef CORE_JOBLOG_SPARK_TASKS_H
#define CORE_JOBLOG_SPARK_TASKS_H

#include <stdint.h>

#include "core/joblog/common/budget.h"

/*
 * A stage's successful tasks. What a log holds most of is tasks, so one takes 24 bytes and stands
 * where the task's index says. A second success of the same task (another attempt of the stage, a
 * task that was resubmitted) and an index far beyond those seen so far are kept aside, so that
 * memory follows the number of tasks whatever a log claims.
 */
struct task_kept {
    int64_t ms;         /* that it took; -1 in a slot: none yet */
    int64_t read_bytes; /* from storage and shuffles; RUN_UNKNOWN */
    uint32_t node;      /* of the log's nodes; LOG_NODE_UNKNOWN */
};

struct tasks {
    size_t n;
    struct task_kept *slots; /* by index */
    size_t n_slots;
    size_t slots_capacity;
    struct aside {
        struct task_kept task;
        uint32_t index;
        uint32_t order; /* of arrival */
    } * asides;
    size_t n_asides;
    size_t asides_capacity;
};

/*
 * Keep a task of ms >= 0. index: of the task within its stage; one that is negative or does not
 * fit goes last. planned: how many tasks the stage is to have, or negative; only a hint.
 * PV_E_LIMIT, PV_E_MEMORY as budget_grow; nothing is kept then.
 */
enum pv_code tasks_add(struct tasks *tasks,
                       struct budget *budget,
                       int64_t index,
                       int64_t planned,
                       struct task_kept task,
                       struct pv_error *err) PV_MUSTCHECK;

/* What a run keeps of tasks, side by side; each with room for tasks->n. */
struct task_lists {
    double *durations_s;
    int64_t *nodes; /* RUN_UNKNOWN where unknown, as below */
    int64_t *read_bytes;
};

/*
 * The tasks, ascending by index. Those of one index come in the order they were added, except that
 * one kept aside for its index comes behind the one that was not. Sorts what is kept aside.
 */
void tasks_list(struct tasks *tasks, const struct task_lists *out);

void tasks_fini(struct tasks *tasks, struct budget *budget);

#endif
