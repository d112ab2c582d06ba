#ifndef CODEC_SCHEDULING_TASKS_SIMULATION_INTERNAL_H
#define CODEC_SCHEDULING_TASKS_SIMULATION_INTERNAL_H

#include "codec/scheduling/tasks_simulation.h"

/* The schedulers of bags of tasks and the terms of each. Groups are not compared with workers. */
extern const struct codec_policy_table codec_tasks_policies;

/* What a search tries of each (codec/scheduling/policy_search.h). */
extern const struct codec_policy_table codec_tasks_families;

#define TASKS_RESERVED_SHARE_MAX 0.5

#endif
