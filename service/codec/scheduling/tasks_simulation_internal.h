#ifndef CODEC_SCHEDULING_TASKS_SIMULATION_INTERNAL_H
#define CODEC_SCHEDULING_TASKS_SIMULATION_INTERNAL_H

#include "codec/scheduling/tasks_simulation.h"

/* The schedulers of bags of tasks and the terms of each. Groups are not compared with workers. */
extern const struct codec_policy_table codec_tasks_policies;

#endif
