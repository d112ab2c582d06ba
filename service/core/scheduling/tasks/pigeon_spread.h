#ifndef CORE_SCHEDULING_TASKS_PIGEON_SPREAD_H
#define CORE_SCHEDULING_TASKS_PIGEON_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/rng.h"
#include "core/sim/subset.h"

/*
 * How Pigeon's schedulers spread a job's tasks over groups (Z. Li, 4.2.2 and 4.6.2): each group gets
 * a share in proportion to its processing power.
 *
 * Of F tasks and a share s a group gets floor(F s), and one of those left with a probability of what
 * was cut off, so that the expected number is F s exactly: the cut-off parts stand in a row, in
 * random order, and one draw in [0, 1) says where the first task of those left falls; the others
 * follow at a distance of 1 (systematic sampling). Where all shares are equal, those left go to
 * different groups drawn, each set as likely.
 */
struct pigeon_portion {
    uint32_t group;
    uint32_t tasks;
};

struct pigeon_spread {
    uint32_t *groups; /* that get tasks */
    double *shares;   /* of each of them; they add up to 1 */
    double *parts;    /* of a task, cut off */
    uint32_t n;
    bool even;
    struct subset draws;
    struct pigeon_portion *portions;
};

/* Room for so many groups; none gets tasks yet. false: out of memory. */
bool pigeon_spread_init(struct pigeon_spread *spread, uint32_t groups, struct arena *arena);

/* Bytes of that. */
double pigeon_spread_memory(uint32_t groups);

/* From now on the first n of spread->groups get tasks, by their powers > 0, which stand in
 * spread->shares and become shares. */
void pigeon_spread_by_power(struct pigeon_spread *spread, uint32_t n);

/* So many tasks, in the order of the job's list: whose they are, in spread->portions, of more than no
 * task each and at most two a group. Some group gets tasks. Returns the number of portions. O(groups),
 * where shares are equal O(tasks) if those are fewer. */
uint32_t pigeon_spread_tasks(struct pigeon_spread *spread, uint32_t tasks, struct rng *stream);

#endif
