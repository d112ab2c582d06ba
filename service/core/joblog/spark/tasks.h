#ifndef CORE_JOBLOG_SPARK_TASKS_H
#define CORE_JOBLOG_SPARK_TASKS_H

#include <stdint.h>

#include "core/joblog/common/budget.h"

/*
 * The durations of a stage's successful tasks. What a log holds most of is tasks, so a duration
 * takes 8 bytes and stands where the task's index says. A second success of the same task (another
 * attempt of the stage, a task that was resubmitted) and an index far beyond those seen so far are
 * kept aside, so that memory follows the number of tasks whatever a log claims.
 */
struct tasks {
    size_t n;
    int64_t *slots; /* by index; -1: none yet */
    size_t n_slots;
    size_t slots_capacity;
    struct aside {
        int64_t ms;
        uint32_t index;
        uint32_t order; /* of arrival */
    } * asides;
    size_t n_asides;
    size_t asides_capacity;
};

/*
 * Keep a duration of ms >= 0. index: of the task within its stage; one that is negative or does not
 * fit goes last. planned: how many tasks the stage is to have, or negative; only a hint.
 * PV_E_LIMIT, PV_E_MEMORY as budget_grow; nothing is kept then.
 */
enum pv_code tasks_add(struct tasks *tasks,
                       struct budget *budget,
                       int64_t index,
                       int64_t planned,
                       int64_t ms,
                       struct pv_error *err) PV_MUSTCHECK;

/*
 * The durations in seconds, ascending by index, into room for tasks->n. Those of one index come in
 * the order they were added, except that one kept aside for its index comes behind the one that was
 * not. Sorts what is kept aside.
 */
void tasks_list_s(struct tasks *tasks, double out[]);

void tasks_fini(struct tasks *tasks, struct budget *budget);

#endif
