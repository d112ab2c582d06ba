#ifndef CODEC_SCHEDULING_SLOTS_SIMULATION_INTERNAL_H
#define CODEC_SCHEDULING_SLOTS_SIMULATION_INTERNAL_H

#include "codec/scheduling/slots_simulation.h"

/* The policies for slots and the terms of each. */
extern const struct codec_policy_table codec_slots_policies;

/* What a search tries of each (codec/scheduling/policy_search.h). */
extern const struct codec_policy_table codec_slots_families;

/* Most limits of a policy, and queues of "comp": for each task that is given a slot, queues are looked at
 * one by one. */
enum { SLOTS_LIMITS_MAX = 100, SLOTS_QUEUES_MAX = 1000 };

#endif
