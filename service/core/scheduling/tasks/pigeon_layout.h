#ifndef CORE_SCHEDULING_TASKS_PIGEON_LAYOUT_H
#define CORE_SCHEDULING_TASKS_PIGEON_LAYOUT_H

#include "core/scheduling/tasks/tasks_terms.h"

/*
 * Pigeon beyond equal groups, two classes and masters that never fail (Z. Li, dissertation, UT
 * Arlington 2019, 4.2.2 footnote 1, 4.6.1, 4.6.2; docs/design.md, "Pigeon's layouts").
 */
struct pigeon_group {
    uint32_t workers; /* >= 1 */
    double power;     /* > 0: a task of duration d takes its workers d / power */
};

/* Of the classes, the highest first. */
struct pigeon_class {
    double reserved_share; /* [0, 0.5]: of a group's workers, for this class and those above; of the
                              lowest one not looked at */
    uint64_t weight; /* >= 1 or TASKS_WEIGHT_INFINITE: of so many tasks of this class and those
                              below, one of below, where one waits; of the lowest one not looked at */
};

enum { PIGEON_CLASSES_MAX = TASKS_CLASSES_MAX };

/* What becomes of a group whose master has failed. */
enum pigeon_recovery {
    PIGEON_SECOND_TAKES_OVER, /* with all that the master knew */
    PIGEON_WORKER_TAKES_OVER, /* the second master failed, too: a worker asks all workers and
                                 schedulers */
    PIGEON_GROUP_LOST         /* nobody takes over: its tasks that wait are sent to other groups */
};

struct pigeon_failure {
    uint32_t group;
    enum pigeon_recovery recovery;
    double at_s;        /* >= 0 */
    double detection_s; /* >= 0: until it is noticed */
    double return_s;    /* > detection_s: how long a lost group is away; HUGE_VAL: for good */
};

/* Arrays may be NULL where there are none. All is borrowed. */
struct pigeon_layout {
    const struct pigeon_group *groups; /* their workers are the model's; NULL: as many as the terms
                                          say, of equal workers */
    uint32_t n_groups;
    const struct pigeon_class *classes; /* 1 .. PIGEON_CLASSES_MAX; NULL: short and long tasks, by
                                           the terms' share and weight */
    uint32_t n_classes;
    const struct pigeon_failure *failures;
    uint32_t n_failures;
    double report_every_s; /* masters report the lengths of their queues; at least two messages
                              long; 0: never */
};

/* Seconds of tasks that all workers of the groups do in one: what is a model's capacity. */
double pigeon_layout_capacity(const struct pigeon_group groups[], uint32_t n);

/* How many groups Pigeon has under terms with a layout. */
uint32_t pigeon_layout_groups(const struct tasks_terms *terms);

/* One of them. */
struct pigeon_group pigeon_layout_group(const struct tasks_model *model,
                                        const struct tasks_terms *terms,
                                        uint32_t group);

/* The first worker of one of them, group after group. O(group) where they are listed. */
uint32_t pigeon_layout_first(const struct tasks_model *model,
                             const struct tasks_terms *terms,
                             uint32_t group);

/* The classes of terms with a layout; returns how many they are. */
uint32_t pigeon_layout_classes(const struct tasks_terms *terms,
                               struct pigeon_class classes[PIGEON_CLASSES_MAX]);

/* Of a group of n >= 1 workers, how many take class c and those above and no other: workers[c]. Those
 * of the lowest class, one at least, take all. */
void pigeon_layout_levels(const struct pigeon_class classes[],
                          uint32_t n_classes,
                          uint32_t n,
                          uint32_t workers[]);

#endif
