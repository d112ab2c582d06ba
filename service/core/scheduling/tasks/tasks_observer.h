#ifndef CORE_SCHEDULING_TASKS_TASKS_OBSERVER_H
#define CORE_SCHEDULING_TASKS_TASKS_OBSERVER_H

#include "core/scheduling/tasks/tasks_model.h"
#include "core/sim/occupancy.h"

/* What may be seen of a simulation of bags of tasks while it runs, beside its result. */

/* A task is sent to where it runs. */
struct tasks_start {
    double sent_s; /* from whoever schedules it */
    double start_s;
    double end_s;
    uint32_t job;
    uint32_t task;
    uint32_t place; /* the worker; of pigeon without a layout, which counts workers, and of
                       centralised: the group */
};

/* The messages of one master: each task that it receives, each that it sends to a worker, and each
 * report of a worker that it is idle; and its workers that long tasks never get. */
struct tasks_master {
    uint64_t messages;
    uint64_t peak;   /* the most in one second, [n, n + 1) of the simulation's time */
    double second;   /* of the latest one */
    uint64_t latest; /* messages in it */
    uint32_t reserved;
    double reserved_s; /* how long these have worked, summed */
};

/* Any of these may be NULL: nobody looks at that. */
struct tasks_observer {
    void (*started)(void *context, const struct tasks_start *start);
    void *context;
    /* Tasks by class (tasks_class_of), of `classes` classes: series c, those of jobs that have
     * arrived that have not begun, whatever they wait for; series classes + c, those that run. Its
     * origin is not after the first arrival. */
    struct occupancy *occupancy;
    uint32_t classes;
    /* Of each group of pigeon, of centralised one; zeroed by whoever hands them over. */
    struct tasks_master *masters;
};

/* The series of an occupancy of so many classes. */
static inline uint32_t tasks_observer_series(uint32_t classes)
{
    return 2 * classes;
}

/* All tasks of a job wait. */
void tasks_observe_arrival(const struct tasks_observer *observer, const struct tasks_job *job);

void tasks_observe_start(const struct tasks_observer *observer,
                         const struct tasks_job *job,
                         const struct tasks_start *start);

/* n messages at an instant that is not before those of earlier calls. */
static inline void tasks_master_count(struct tasks_master *master, double now_s, uint64_t n)
{
    if (now_s >= master->second + 1) {
        master->second = (double)(uint64_t)now_s;
        master->latest = 0;
    }
    master->messages += n;
    master->latest += n;
    if (master->latest > master->peak)
        master->peak = master->latest;
}

#endif
