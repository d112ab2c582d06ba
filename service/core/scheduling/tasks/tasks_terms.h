#ifndef CORE_SCHEDULING_TASKS_TASKS_TERMS_H
#define CORE_SCHEDULING_TASKS_TASKS_TERMS_H

#include "core/scheduling/tasks/tasks_model.h"

/* What a simulation of bags of tasks goes by, and what comes of it. */
struct pigeon_layout;
struct tasks_policy;

#define TASKS_WEIGHT_INFINITE UINT64_MAX

/* A policy and its terms. Those that are not the policy's are not looked at. */
struct tasks_terms {
    const struct tasks_policy *policy;
    uint32_t groups;          /* pigeon: 1 .. workers */
    double reserved_share;    /* pigeon, centralised, eagle: of the workers; [0, 0.5] */
    uint64_t weight;          /* pigeon, centralised: one of so many tasks is a long one; >= 1 */
    uint32_t probes_per_task; /* sparrow, eagle: >= 1 */
    const struct pigeon_layout
        *layout; /* pigeon: what it is made of beyond these (pigeon_layout.h);
                                           NULL: nothing */
};

struct tasks_result {
    double *start_s;  /* of each job: when its first task began to run */
    double *finish_s; /* when its last result was at its scheduler */
    uint64_t events;
    size_t memory; /* bytes by which the scratch memory had to grow */
};

#endif
