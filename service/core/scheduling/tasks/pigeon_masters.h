#ifndef CORE_SCHEDULING_TASKS_PIGEON_MASTERS_H
#define CORE_SCHEDULING_TASKS_PIGEON_MASTERS_H

#include "core/scheduling/tasks/pigeon_layout.h"
#include "core/scheduling/tasks/pigeon_length.h"
#include "core/scheduling/tasks/pigeon_spread.h"
#include "core/scheduling/tasks/pigeon_workers.h"
#include "core/scheduling/tasks/tasks_line.h"
#include "core/scheduling/tasks/tasks_policy.h"

/*
 * Pigeon with a layout, in three parts: masters, which give tasks to workers (pigeon_masters.c),
 * schedulers, which give them to masters (pigeon_schedulers.c), and what happens when masters fail
 * (pigeon_failures.c).
 *
 * Places of lines stand for neighbouring tasks of a job: `item` is the first one, `count` how many
 * they are; a task that is bound to workers has a place of its own.
 */

/* At one instant in this order; jobs come last. */
enum {
    PIGEON_FAILED,                                     /* about the failure */
    PIGEON_IDLE,                                       /* about the worker; and its level more */
    PIGEON_RESUMED = PIGEON_IDLE + PIGEON_CLASSES_MAX, /* about the failure */
    PIGEON_LOSS_KNOWN,                                 /* likewise */
    PIGEON_RETURNED                                    /* likewise */
};

struct pigeon_master {
    struct pigeon_group group;
    uint32_t first;   /* of its workers */
    double resume_s;  /* messages that come before wait until then */
    bool lost;        /* nobody gives tasks to its workers */
    bool left_out;    /* schedulers know that */
    struct line held; /* tasks that came meanwhile */
};

/* Tasks of the scheduler's current job that were sent to a worker. */
struct pigeon_sent {
    uint32_t job;
    uint32_t tasks;
};

struct pigeon_masters {
    struct pigeon_master *items;
    uint32_t n;
    struct pigeon_class classes[PIGEON_CLASSES_MAX];
    uint32_t n_classes;
    struct line *queues;           /* of each master, of each class: free tasks */
    struct pigeon_length *lengths; /* of each of them */
    uint64_t *in_a_row; /* of each master, of each level, of each class: tasks that such workers
                             took while one of a class below waited */
    struct pigeon_workers workers;
    /* Where tasks are bound to workers; else NULL. */
    struct line *own;                  /* of each worker, of each class */
    struct pigeon_length *own_lengths; /* of each of them */
    struct pigeon_sent *sent;          /* to each worker */
    /* The schedulers'. */
    struct pigeon_spread spread;
    struct line stranded; /* tasks that may go to no group that there is */
    double report_every_s;
    struct line_pool pool;
};

/* --- masters --- */

/* A master receives n neighbouring tasks of a job, free ones or one that is bound to workers of its.
 * false: out of memory, as of all that follow. */
bool pigeon_master_receive(
    struct tasks_run *sim, uint32_t master, uint32_t job, uint32_t task, uint32_t n);

/* A worker is idle, and its master hears of it. */
bool pigeon_master_hear(struct tasks_run *sim, uint32_t worker);

/* n neighbouring tasks of a job join a line. */
bool pigeon_keep(struct tasks_run *sim, struct line *line, uint32_t job, uint32_t task, uint32_t n);

static inline struct line *
pigeon_queue(const struct pigeon_masters *pigeon, uint32_t master, uint32_t class)
{
    return &pigeon->queues[(size_t)master * pigeon->n_classes + class];
}

static inline struct line *
pigeon_own_queue(const struct pigeon_masters *pigeon, uint32_t worker, uint32_t class)
{
    return &pigeon->own[(size_t)worker * pigeon->n_classes + class];
}

static inline struct pigeon_length *
pigeon_length_of(const struct pigeon_masters *pigeon, uint32_t master, uint32_t class)
{
    return &pigeon->lengths[(size_t)master * pigeon->n_classes + class];
}

static inline struct pigeon_length *
pigeon_own_length(const struct pigeon_masters *pigeon, uint32_t worker, uint32_t class)
{
    return &pigeon->own_lengths[(size_t)worker * pigeon->n_classes + class];
}

/* The workers that a task is bound to; n 0: it is free. */
static inline struct tasks_binding
pigeon_binding(const struct tasks_run *sim, uint32_t job, uint32_t task)
{
    const struct tasks_binding *bindings = sim->model->jobs[job].bindings;
    return bindings != NULL ? bindings[task] : (struct tasks_binding){NULL, 0};
}

/* --- schedulers --- */

/* n neighbouring tasks of a job, which may be all, are with masters now: those that are bound first, in
 * their order. Draws are the stream's. */
bool pigeon_distribute(
    struct tasks_run *sim, uint32_t job, uint32_t task, uint32_t n, struct rng *stream);

/* Schedulers know which groups are left: tasks go to these. */
void pigeon_spread_anew(struct tasks_run *sim);

/* --- failures --- */

bool pigeon_failures_begin(struct tasks_run *sim);

/* One of the events from PIGEON_FAILED on but those of workers. */
bool pigeon_failure_happen(struct tasks_run *sim, const struct event *event);

#endif
