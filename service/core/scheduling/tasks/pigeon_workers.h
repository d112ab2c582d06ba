#ifndef CORE_SCHEDULING_TASKS_PIGEON_WORKERS_H
#define CORE_SCHEDULING_TASKS_PIGEON_WORKERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/*
 * The workers of Pigeon's groups one by one, and the lists of idle ones that each master keeps, of
 * each level: those of level l take tasks of the classes 0 .. l. They are numbered group after
 * group, in a group those of the lowest class, who take all, first.
 */
#define PIGEON_NOBODY UINT32_MAX

struct pigeon_worker {
    uint32_t group;
    uint32_t level;
    uint32_t before; /* in the list of idle ones; PIGEON_NOBODY: it is the first */
    uint32_t after;
    bool idle;
};

/* Who has been idle longest is the first. */
struct pigeon_idle {
    uint32_t first; /* PIGEON_NOBODY: all are busy */
    uint32_t last;
};

struct pigeon_workers {
    struct pigeon_worker *items;
    struct pigeon_idle *idle; /* of each group, of each level */
    uint32_t n;               /* that were added */
    uint32_t levels;
};

/* Room for so many workers and groups. false: out of memory. */
bool pigeon_workers_init(struct pigeon_workers *workers,
                         uint32_t n,
                         uint32_t groups,
                         uint32_t levels,
                         struct arena *arena);

/* Bytes of that. */
double pigeon_workers_memory(uint32_t n, uint32_t groups, uint32_t levels);

/* Idle workers of a group, as many of each level as counts say. */
void pigeon_workers_add(struct pigeon_workers *workers, uint32_t group, const uint32_t counts[]);

/* A busy worker is idle, as the last one of its list. */
void pigeon_workers_rest(struct pigeon_workers *workers, uint32_t worker);

/* An idle worker is busy. */
void pigeon_workers_take(struct pigeon_workers *workers, uint32_t worker);

/* The idle workers of a group, n from `first` on, stand in their lists by number. */
void pigeon_workers_relist(struct pigeon_workers *workers, uint32_t first, uint32_t n);

static inline uint32_t
pigeon_workers_first_idle(const struct pigeon_workers *workers, uint32_t group, uint32_t level)
{
    return workers->idle[(size_t)group * workers->levels + level].first;
}

#endif
