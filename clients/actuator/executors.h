#ifndef ACTUATOR_EXECUTORS_H
#define ACTUATOR_EXECUTORS_H

#include <stdbool.h>
#include <stddef.h>

#include "actuator/configuration.h"
#include "actuator/quota_loop.h"
#include "actuator/target.h"

/*
 * The executors of a loop, what each is to have, what it has, and what it had before. Only what
 * differs is written: first what gets less, then what gets more, so that on one worker they never add
 * up to more than it has. Where taking away fails, nobody on that worker is given more in that round.
 */
struct executors;

enum executors_goal {
    GOAL_GRANTS, /* as the last sample granted */
    GOAL_FLOOR,  /* the same, but at least floor_cores */
    GOAL_BEFORE  /* what was there before */
};

struct executors_round {
    size_t written;
    size_t failed; /* not written, or refused; what is gone does not count */
};

/* Reads the state file. dry_run: nothing is written; what would be is printed on standard output.
 * verbose: each change is said. All are borrowed. */
bool executors_open(const struct configuration *configuration,
                    const struct target *target,
                    bool dry_run,
                    bool verbose,
                    struct executors **executors,
                    struct failure *failure);
void executors_close(struct executors *executors);

/* What is granted from now on. Who is not named any more gets what it had before, if the configuration
 * says so, and is forgotten. False when memory ran out. */
bool executors_grant(struct executors *executors, const struct quota_loop *loop);

struct executors_round executors_apply(struct executors *executors, enum executors_goal goal);

/* The end: all of them get what they had before, and are forgotten. */
struct executors_round executors_restore(struct executors *executors);

#endif
