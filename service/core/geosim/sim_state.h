#ifndef CORE_GEOSIM_SIM_STATE_H
#define CORE_GEOSIM_SIM_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vector.h"
#include "core/geosim/parameters.h"
#include "core/geosim/world.h"
#include "core/sim/clock.h"
#include "core/sim/event_queue.h"

/*
 * The state of a simulation: which tasks are open, what runs where and until when, what is left of
 * clusters and gates. The operations here keep all of it consistent; engine.c decides when they
 * happen, planner_adapter.c which copies to start. Operations return false when memory is
 * exhausted.
 */
#define SIM_STATE_NONE UINT32_MAX

enum task_phase { TASK_BLOCKED, TASK_OPEN, TASK_DONE };

struct task_state {
    uint32_t workflow;
    enum task_phase phase;
    uint32_t pending; /* parents that are not done */
    uint32_t level;   /* longest way from a task without parents */
    uint32_t where;   /* once done: the cluster that its output lies in */
    uint32_t copies;  /* that run: the first, in the order started */
    uint32_t n_copies;
    uint32_t visits; /* chain of the clusters it has been in */
    uint32_t n_inputs;
    size_t *inputs; /* once open: clusters, rising */
    double ready_s; /* when it last became ready */
};

struct copy_state {
    uint32_t task;
    uint32_t cluster;
    uint32_t sibling; /* the task's next */
    uint32_t before;  /* in its cluster */
    uint32_t after;
    event_id completion;
    double began_s;
    double ends_s;
    double pace;     /* bytes per second, as drawn */
    double expected; /* as planned: what it takes of the gates */
};

struct visit {
    uint32_t cluster;
    uint32_t times;
    uint32_t next;
};

struct level_state {
    uint32_t tasks;
    uint32_t done;
    double *durations; /* of those done, rising */
};

struct workflow_state {
    size_t first; /* of its tasks among all */
    size_t left;  /* tasks that are not done */
    size_t running;
    uint32_t *open; /* tasks ready or running, rising */
    size_t n_open;
    uint32_t *child_from; /* of each of its tasks, into `children`; one more at the end */
    uint32_t *children;   /* counted within the workflow */
    struct level_state *levels;
    size_t n_levels;
    size_t level; /* the earliest with a task that is not done */
};

struct cluster_state {
    bool down;
    int64_t busy;
    uint32_t copies; /* chain of those that run here */
    size_t inflows;  /* copies that take part of a gate */
    size_t outflows;
    double ingress; /* taken */
    double egress;
    double busy_s;    /* slot time taken by copies that have ended */
    uint64_t outages; /* begun so far */
};

struct sim_state {
    const struct geosim_world *world;
    const struct geosim_workload *workload;
    uint64_t seed;
    struct arena *arena;
    struct sim_clock clock;
    struct task_state *tasks;
    struct workflow_state *workflows;
    struct cluster_state *clusters;
    uint32_t *alive; /* workflows, in order of arrival */
    size_t n_alive;
    size_t ready;                     /* open tasks without a copy */
    size_t running;                   /* copies */
    VECTOR(struct copy_state) copies; /* running, or free */
    uint32_t free;                    /* chain of those by `sibling` */
    VECTOR(struct visit) visits;
    struct event_queue completions; /* about: the copy */
    bool *marked;                   /* working memory: of each cluster */
    struct geosim_counts counts;
    double useful_s; /* that copies took which completed their task */
};

bool sim_state_init(struct sim_state *state);

/* The workflow arrives. */
bool sim_state_arrive(struct sim_state *state, size_t workflow);

/* The copy that completes next, and when; false: none runs. */
bool sim_state_next_completion(const struct sim_state *state, double *ends_s, uint32_t *copy);

/* The copy completes, and with it its task: the other copies of the task are cancelled. *last: it
 * was the last task of its workflow. */
bool sim_state_complete(struct sim_state *state, uint32_t copy, bool *last);

/* An outage ends the copies that run in the cluster and keeps its slots from use. */
void sim_state_begin_outage(struct sim_state *state, size_t cluster);
void sim_state_end_outage(struct sim_state *state, size_t cluster);

/* Does the cluster have an idle slot for a copy of the task, and the gates capacity for its
 * expected rate? */
bool sim_state_has_capacity(const struct sim_state *state,
                            uint32_t task,
                            size_t cluster,
                            double expected);

/* A copy starts, in a cluster that has capacity for it. */
bool sim_state_start_copy(struct sim_state *state, uint32_t task, size_t cluster, double expected);

/* The planner ends the oldest copy of the task in the cluster, if there is one. */
void sim_state_preempt_copy(struct sim_state *state, uint32_t task, size_t cluster);

const struct geosim_task *sim_state_task(const struct sim_state *state, uint32_t task);

#endif
