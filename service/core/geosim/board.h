#ifndef CORE_GEOSIM_BOARD_H
#define CORE_GEOSIM_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/heap.h"
#include "core/geosim/engine.h"

/*
 * Where a simulation stands: which tasks are open, what runs where and until when, what is left of
 * clusters and gates. The moves that keep all of it in step are here; when they are made is the
 * business of engine.c, and which copies, of asking.c. Moves answer false when memory is exhausted.
 */
#define BOARD_NONE UINT32_MAX

enum board_stage { BOARD_BLOCKED, BOARD_OPEN, BOARD_DONE };

struct board_task {
    uint32_t workflow;
    enum board_stage stage;
    uint32_t pending; /* parents that are not done */
    uint32_t level;   /* longest way from a task without parents */
    uint32_t where;   /* once done: the cluster that its output lies in */
    uint32_t copies;  /* that run: the first, in the order started */
    uint32_t n_copies;
    uint32_t turns; /* chain of how often it has been in which cluster */
    uint32_t n_inputs;
    size_t *inputs; /* once open: clusters, rising */
    double ready_s; /* when it last became ready */
};

struct board_copy {
    uint32_t task;
    uint32_t cluster;
    uint32_t sibling; /* the task's next */
    uint32_t before;  /* in its cluster */
    uint32_t after;
    uint32_t serial; /* of the use of this place: what was planned for an earlier one is void */
    double began_s;
    double ends_s;
    double pace;     /* bytes per second, as drawn */
    double expected; /* as planned: what it takes of the gates */
};

struct board_turn {
    uint32_t cluster;
    uint32_t times;
    uint32_t next;
};

struct board_level {
    uint32_t tasks;
    uint32_t done;
    double *durations; /* of those done, rising */
};

struct board_workflow {
    size_t first; /* of its tasks among all */
    size_t left;  /* tasks that are not done */
    size_t running;
    uint32_t *open; /* tasks ready or running, rising */
    size_t n_open;
    uint32_t *child_from; /* of each of its tasks, into `children`; one more at the end */
    uint32_t *children;   /* counted within the workflow */
    struct board_level *levels;
    size_t n_levels;
    size_t level; /* the earliest with a task that is not done */
};

struct board_cluster {
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

struct board {
    const struct geosim_world *world;
    const struct geosim_workload *workload;
    uint64_t seed;
    struct arena *arena;
    double now_s;
    struct board_task *tasks;
    struct board_workflow *workflows;
    struct board_cluster *clusters;
    uint32_t *alive; /* workflows, in order of arrival */
    size_t n_alive;
    size_t ready;   /* open tasks without a copy */
    size_t running; /* copies */
    struct board_copy *copies;
    size_t n_copies; /* places in use or free */
    size_t copies_room;
    uint32_t free; /* chain of places by `sibling` */
    struct board_turn *turns;
    size_t n_turns;
    size_t turns_room;
    struct heap ends; /* of copies: seconds, place and serial; void ones are passed over */
    bool *marked;     /* working memory: of each cluster */
    struct geosim_counts counts;
    double useful_s; /* that copies took which completed their task */
};

bool board_open(struct board *board);

/* The workflow arrives. */
bool board_arrive(struct board *board, size_t workflow);

/* The end of the copy that comes to it next, and its place; false: none runs. */
bool board_next_end(struct board *board, double *ends_s, uint32_t *copy);

/* The copy comes to its end and with it its task; siblings end now. true in *last: the workflow is
 * done. */
bool board_finish(struct board *board, uint32_t copy, bool *last);

/* A cluster is lost to an outage, and found again. */
void board_lose(struct board *board, size_t cluster);
void board_regain(struct board *board, size_t cluster);

/* Has the cluster a slot for a copy of the task, and have the gates room for its expected rate? */
bool board_has_room(const struct board *board, uint32_t task, size_t cluster, double expected);

/* A copy starts, in a cluster with room. */
bool board_start(struct board *board, uint32_t task, size_t cluster, double expected);

/* The planner ends the oldest copy of the task in the cluster, if there is one. */
void board_stop(struct board *board, uint32_t task, size_t cluster);

const struct geosim_task *board_task(const struct board *board, uint32_t task);

#endif
