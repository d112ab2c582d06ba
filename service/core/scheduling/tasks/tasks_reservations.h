#ifndef CORE_SCHEDULING_TASKS_TASKS_RESERVATIONS_H
#define CORE_SCHEDULING_TASKS_TASKS_RESERVATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/scheduling/tasks/tasks_reservations_index.h"

/*
 * Reservations of jobs at workers (docs/design.md, "Bags of tasks"): a worker takes one of the job
 * with the least remaining work, of equal ones, within rounding, the one that waits longest. That
 * passes over those that wait longer. Has the first one been passed over RESERVATIONS_PASSED_MAX
 * times, it is its turn. A job without tasks has the least remaining work; to take a reservation of
 * it passes over nobody.
 *
 * To take one of such a job, or one whose turn it is, costs O(1). So does another one where few wait;
 * where more do, O(log(those of jobs that have not begun) + those of jobs that have begun and have
 * tasks) at that worker (tasks_reservations_index.h). Each reservation costs as much more when its
 * job begins, and O(1) when its last task is given out. Places of those that were taken may be kept
 * until all ahead of them at the worker are taken, but not longer than their job has tasks.
 */
enum { RESERVATIONS_PASSED_MAX = 5 };

/* No job: one of those without tasks. */
#define RESERVATIONS_NO_JOB UINT32_MAX

/* At one worker. */
struct reservations_line {
    struct line line; /* in order of arrival */
    /* [k]: how many, at the front, were passed over more than k times; at a worker that is indexed,
     * counted from the first one that ever was there. */
    uint32_t passed[RESERVATIONS_PASSED_MAX];
    uint32_t waiting; /* that were not taken */
    uint32_t spent;   /* of these, whose jobs have no tasks */
    uint32_t taken;   /* of jobs without tasks, still in the line */
};

struct reservations {
    struct line_pool *pool;          /* borrowed */
    struct reservations_line *lines; /* of each worker */
    uint32_t workers;
    double *remaining_s; /* of each job; 0: it has no tasks */
    bool *begun;         /* each job: its work is not what it was when reservations came */
    uint32_t *of_job;    /* of each job with tasks: chain of its reservations */
    uint32_t jobs;
    struct reservations_index index;
};

/* Nothing waits, and jobs have no tasks yet. false: out of memory. */
bool reservations_init(struct reservations *reservations,
                       uint32_t workers,
                       uint32_t jobs,
                       struct line_pool *pool,
                       struct arena *arena);

/* Bytes, without those of places and of their index (reservations_index_nodes_memory). */
double reservations_memory(uint32_t workers, uint32_t jobs);

/* Work of a job changes: it decreases from call to call, to exactly 0 when its last task is given
 * out. O(1), but for that. */
void reservations_set_remaining(struct reservations *reservations, uint32_t job, double work_s);

/* A place of the pool, in no line, waits at a worker from now on. Its item and count are no longer
 * the caller's. */
void reservations_add(struct reservations *reservations, uint32_t worker, uint32_t place);

static inline bool reservations_wait(const struct reservations *reservations, uint32_t worker)
{
    return reservations->lines[worker].waiting > 0;
}

/* Take one at a worker where some wait. Returns its job, or RESERVATIONS_NO_JOB for one without
 * tasks: which one makes no difference. */
uint32_t reservations_take(struct reservations *reservations, uint32_t worker);

#endif
