#ifndef CODEC_SCHEDULING_SLOTS_SIMULATION_INTERNAL_H
#define CODEC_SCHEDULING_SLOTS_SIMULATION_INTERNAL_H

#include "codec/scheduling/slots_simulation.h"

/* The policies for slots and the terms of each. */
extern const struct codec_policy_table codec_slots_policies;

/* How many queues the policies "capacity" have, those that have fewest; SIZE_MAX: there are none. */
size_t codec_slots_tenants(const struct codec_slots_simulation *asked);

/* Some policy divides slots by how far a job's maps are: every job needs a map. */
bool codec_slots_need_maps(const struct codec_slots_simulation *asked);

/* How large a request with its jobs is, but for memory. */
struct codec_comparison_size codec_slots_size_of(const struct codec_slots_simulation *asked);

/* Faults: a policy tries all divisions of the slots, and these are too many for n jobs. */
void codec_slots_check_splits(const struct codec_node *top,
                              const struct codec_slots_simulation *asked,
                              double n_jobs);

/* Faults of a request that names a workload; limits->workload says what it comes to. */
void codec_slots_check_workload(const struct codec_node *top,
                                const struct codec_comparison_limits *limits,
                                const struct codec_slots_simulation *asked);

#endif
