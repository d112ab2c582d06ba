#ifndef CODEC_SCHEDULING_SLOTS_SIMULATION_INTERNAL_H
#define CODEC_SCHEDULING_SLOTS_SIMULATION_INTERNAL_H

#include "codec/scheduling/slots_simulation.h"

/* The policies for slots and the terms of each. */
extern const struct codec_policy_table codec_slots_policies;

#endif
