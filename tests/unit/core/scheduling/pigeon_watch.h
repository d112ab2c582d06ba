#ifndef TESTS_PIGEON_WATCH_H
#define TESTS_PIGEON_WATCH_H

#include "core/scheduling/tasks/pigeon_layout.h"
#include "core/scheduling/tasks/tasks_simulation.h"
#include "tasks_cases.h"

/* Every task that a simulation sends to a worker, and whether that may be. */
enum { WATCH_STARTS_MAX = 40000, SCENE_FAILURES = 12 };

struct pigeon_watch {
    const struct tasks_model *model;
    const struct tasks_terms *terms;
    struct tasks_observer observer;
    struct tasks_start *starts;
    size_t n;
};

/* starts: room for WATCH_STARTS_MAX, in the arena. */
void pigeon_watch_init(struct pigeon_watch *watch,
                       const struct tasks_model *model,
                       const struct tasks_terms *terms,
                       struct arena *arena);

/* Simulate, watched; asserts that memory is bounded as said. */
enum pv_code pigeon_watch_run(struct pigeon_watch *watch,
                              uint64_t seed,
                              struct arena *arena,
                              struct tasks_result *result);

/* "" or what is wrong: a task that runs twice or not at all, too early, for another time than its
 * duration over the power of its group, on a worker that is busy, that is not one of those it is bound
 * to, or that is reserved for higher classes; or one that is sent by a master that has failed. */
const char *pigeon_watch_fault(const struct pigeon_watch *watch);

/* Durations times the powers of workers, summed over what ran. */
double pigeon_watch_work(const struct pigeon_watch *watch);

/* A workload under everything at once: groups of different size and power, three classes, tasks bound
 * to workers of one or more groups, and masters that fail in all ways. */
struct pigeon_scene {
    struct tasks_model model;
    struct tasks_terms terms;
    struct pigeon_layout layout;
    struct pigeon_group groups[5];
    struct pigeon_class classes[3];
    struct pigeon_failure failures[SCENE_FAILURES];
};

void pigeon_scene_make(struct pigeon_scene *scene, uint64_t seed, double load, struct arena *arena);

#endif
