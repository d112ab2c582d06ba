#ifndef CORE_SCHEDULING_SLOTS_WORKLOAD_H
#define CORE_SCHEDULING_SLOTS_WORKLOAD_H

#include <stddef.h>
#include <stdint.h>

/*
 * MapReduce jobs and the slots they run on (B. Ghit, D. Epema, "Reducing job slowdown variability
 * for data-intensive workloads", MASCOTS 2015; docs/design.md, "Jobs on slots").
 */
enum slots_kind { SLOTS_MAP, SLOTS_REDUCE };
enum { SLOTS_KINDS = SLOTS_REDUCE + 1 };

/* No job. */
#define SLOTS_NOBODY SIZE_MAX

/* Tasks that last equally long, one after another in a job's list. */
struct slots_tasks {
    double duration_s; /* > 0 */
    size_t count;      /* >= 1 */
};

/* All tasks of a kind, in the order in which they are given out. */
struct slots_task_list {
    const struct slots_tasks *tasks;
    size_t n;
};

struct slots_job {
    double arrival_s;                               /* >= 0 */
    struct slots_task_list task_lists[SLOTS_KINDS]; /* one task at least */
    double shuffle_s;        /* >= 0: how long a reduce holds its slot before it can work */
    double predicted_size_s; /* what policies go by; NAN: the size */
    size_t queue;            /* of the policy "capacity", from 0 */
};

struct slots_cluster {
    size_t slots[SLOTS_KINDS]; /* >= 1 map slot; >= 1 reduce slot where a job has reduces */
    double
        slow_start; /* 0 to 1: the part of its maps that a job has finished before its reduces are
                          given slots */
};

/* Pack n durations into tasks, which has room for n: equal neighbours become one entry. Returns the
 * number of entries. */
size_t slots_tasks_pack(const double durations_s[], size_t n, struct slots_tasks tasks[]);

size_t slots_tasks_count(const struct slots_task_list *list);

/* The durations of all tasks of a list, or of a job, summed exactly but for the last rounding: the
 * same, however the tasks are packed. */
double slots_tasks_work(const struct slots_task_list *list);
double slots_job_size(const struct slots_job *job);

#endif
