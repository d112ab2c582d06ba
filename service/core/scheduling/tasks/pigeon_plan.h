#ifndef CORE_SCHEDULING_TASKS_PIGEON_PLAN_H
#define CORE_SCHEDULING_TASKS_PIGEON_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/finding.h"

/*
 * How large should Pigeon's groups be? A group of n workers with one master is a queue M/M/n, from
 * which follows how likely a task, and a whole job, starts without waiting (Z. Li, dissertation, UT
 * Arlington 2019, eqs 4.1 to 4.6; docs/design.md, "Pigeon plans").
 */
struct pigeon_terms {
    int64_t workers;           /* >= 1 */
    double load;               /* of all workers, between 0 and 1, both excluded */
    int64_t fanout;            /* tasks of a job, >= 1 */
    double task_s;             /* mean duration of a task, > 0 */
    double reserved_share;     /* of a group's workers, for short tasks alone; [0, 0.5] */
    bool equal_durations;      /* all tasks last task_s; false: exponential with that mean */
    double target_probability; /* that a job starts without waiting; (0, 1] */
};

struct pigeon_candidate {
    int64_t group_size;
    int64_t groups;
    int64_t leftover_workers; /* that no group has */
    int64_t reserved_workers; /* of each group */
    double task_zero_queuing; /* probability that a task does not wait (eq. 4.1) */
    double queuing_s;         /* mean waiting time of a task (eq. 4.2) */
    double job_equal;         /* probability that no task of a job waits (eq. 4.3) */
    double job_exponential;   /* that a job is not delayed by waiting (eqs 4.5, 4.6) */
    double master_tasks_per_s;
    bool within_model; /* no two tasks of a job meet in one group */
};

/* The weight that the thesis recommends for short tasks. */
enum { PIGEON_WEIGHT = 20 };

/* Workers of a group of n that are reserved for short tasks: the share, rounded to the nearest; at
 * least 1 of it where there is a share and n > 1, and never all. */
int64_t pigeon_reserved_workers(int64_t n, double share);

/* One group size, 1 to terms->workers. O(sqrt(group_size)). */
struct pigeon_candidate pigeon_candidate_of(const struct pigeon_terms *terms, int64_t group_size);

/* The probability that decides, by the terms' durations. */
double pigeon_probability(const struct pigeon_terms *terms,
                          const struct pigeon_candidate *candidate);

/* The smallest group with at least the target probability (*meets), else the most probable one, of
 * equal ones the smaller. n >= 1. */
size_t pigeon_recommend(const struct pigeon_terms *terms,
                        const struct pigeon_candidate candidates[],
                        size_t n,
                        bool *meets);

/* Probability that no task of a job waits under Sparrow, which probes two workers for each task
 * (eq. 4.4): that at least half of the 2 x fanout workers probed are idle. O(fanout). */
double sparrow_zero_queuing(int64_t fanout, double load);

/* What to be careful about: `fanout_exceeds_groups`, `target_not_met`, `leftover_workers`. */
void pigeon_plan_warn(const struct pigeon_terms *terms,
                      const struct pigeon_candidate *recommended,
                      bool meets,
                      struct findings *warnings);

#endif
