#ifndef CORE_SCHEDULING_SLOTS_SLOTS_NETWORK_SIZE_H
#define CORE_SCHEDULING_SLOTS_SLOTS_NETWORK_SIZE_H

#include "core/scheduling/slots/slots_workload.h"

/* How much it is to share the network of the nodes among the shuffles of n jobs; 0 without bytes to
 * shuffle, or without nodes. O(n + entries of task lists). */

/* Bytes of memory that it takes at most. */
double
slots_network_memory(const struct slots_cluster *cluster, const struct slots_job jobs[], size_t n);

/*
 * About how many tasks without a network take as long. Each end of a map and each reduce changes what
 * flows, twice as it ends again; then all pairs of nodes are looked at that the job can use. What is more
 * or less than that, as with jobs that shuffle at once, is not known before.
 */
double
slots_network_tasks(const struct slots_cluster *cluster, const struct slots_job jobs[], size_t n);

/* Steps (network_steps_max) that take as long as so many tasks. */
double slots_network_steps(double tasks);

#endif
