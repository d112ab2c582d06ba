#ifndef CORE_AUTOSCALING_EXECUTOR_POOL_H
#define CORE_AUTOSCALING_EXECUTOR_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/*
 * Executors that are there, by how many of their cores are free: the one to take the next task, and
 * the one that has been without a task for the longest time, in O(1) each. Instants never decrease
 * from call to call.
 */
#define POOL_NOBODY UINT32_MAX

struct pool_executor {
    size_t lease; /* the caller's number for how long it is held */
    double idle_since_s;
    int64_t free;      /* cores */
    uint32_t previous; /* in its list */
    uint32_t next;
    uint32_t unread; /* stages of which it holds shuffle output that is still to be read */
    bool holds_shuffle;
    bool leaves; /* takes no more tasks, and is gone with its last one */
};

struct pool_list {
    uint32_t first; /* idle or changed for the longest time */
    uint32_t last;
};

struct executor_pool {
    struct pool_executor *executors; /* by number; those that are gone are reused */
    uint32_t capacity;
    uint32_t numbered;
    uint32_t unused; /* first of a list of those that are gone, linked by `next` */
    int64_t n;       /* that are there */
    int64_t cores;
    int64_t highest;          /* no partly free executor has more free cores */
    struct pool_list *partly; /* by free cores, 1 .. cores - 1 */
    struct pool_list idle;    /* without a task, and without shuffle output */
    struct pool_list holding; /* without a task, with shuffle output */
};

/* An empty one for at most `capacity` executors of so many cores; memory is the arena's. False: out
 * of memory. */
bool pool_init(struct executor_pool *pool, struct arena *arena, uint32_t capacity, int64_t cores);

bool pool_has_room(const struct executor_pool *pool);

/* A new executor without tasks; its number. There is room. */
uint32_t pool_add(struct executor_pool *pool, size_t lease, double now_s);

/* An executor without tasks goes. */
void pool_remove(struct executor_pool *pool, uint32_t executor);

/* An executor with tasks goes when these have ended. It does not count as there any more. */
void pool_leave(struct executor_pool *pool, uint32_t executor);

/* One whose cores are all busy; there is one. O(n). */
uint32_t pool_find_busy(const struct executor_pool *pool);

/* Who takes the next task; POOL_NOBODY: all cores are busy. */
uint32_t pool_choose(struct executor_pool *pool);

/* A task of it, which takes so many cores, starts or ends. */
void pool_start_task(struct executor_pool *pool, uint32_t executor, int64_t cores);
void pool_end_task(struct executor_pool *pool, uint32_t executor, int64_t cores, double now_s);

/* It holds shuffle output from now on; it has a task. */
void pool_hold_shuffle(struct executor_pool *pool, uint32_t executor);

#endif
