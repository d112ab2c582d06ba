#ifndef CORE_SCHEDULING_SLOTS_SLOTS_RESOURCES_H
#define CORE_SCHEDULING_SLOTS_SLOTS_RESOURCES_H

#include "base/arena.h"
#include "base/code.h"
#include "base/error.h"
#include "core/scheduling/slots/slots_workload.h"

/*
 * Amounts of virtual cores and memory. Sums stay below 2^53, so that shares are quotients of exact
 * doubles: equal shares are equal doubles, whatever the resource.
 */

/* The cluster's nodes have room for containers. */
static inline bool slots_cluster_has_room(const struct slots_cluster *cluster)
{
    return cluster->room.vcores > 0;
}

static inline bool slots_resources_fit(const struct slots_resources *wanted,
                                       const struct slots_resources *room)
{
    return wanted->vcores <= room->vcores && wanted->memory_bytes <= room->memory_bytes;
}

/* Add n of them, or take n away. */
static inline void
slots_resources_add(struct slots_resources *sum, const struct slots_resources *of, size_t n)
{
    sum->vcores += n * of->vcores;
    sum->memory_bytes += n * of->memory_bytes;
}

static inline void
slots_resources_take(struct slots_resources *sum, const struct slots_resources *of, size_t n)
{
    sum->vcores -= n * of->vcores;
    sum->memory_bytes -= n * of->memory_bytes;
}

/* How many fit; `of` is above 0 in both. */
static inline uint64_t slots_resources_count(const struct slots_resources *of,
                                             const struct slots_resources *room)
{
    uint64_t by_vcores = room->vcores / of->vcores;
    uint64_t by_memory = room->memory_bytes / of->memory_bytes;
    return by_vcores < by_memory ? by_vcores : by_memory;
}

/* The dominant share: the larger one of the shares of both resources (A. Ghodsi et al., "Dominant
 * resource fairness", NSDI 2011). `all` is above 0 in both. */
static inline double slots_resources_share(const struct slots_resources *of,
                                           const struct slots_resources *all)
{
    double vcores = (double)of->vcores / (double)all->vcores;
    double memory = (double)of->memory_bytes / (double)all->memory_bytes;
    return vcores > memory ? vcores : memory;
}

/* The sizes among n requests, no two alike, rising, into an array of n; their number. O(n log n). */
size_t slots_resources_sizes(const struct slots_resources wanted[],
                             size_t n,
                             struct slots_resources sizes[]);

/*
 * Find what a cluster whose nodes have room comes to: its room, the sizes of containers, in the
 * arena, and as `slots` of a node (those of maps, none of reduces) how many containers it has room for
 * at one time: exactly where all are of one size, else at most.
 *
 * nodes: those of the cluster, whose room is given; wanted: n >= 1 requests, all above 0, in any order.
 * PV_E_MEMORY. O(n log n + nodes).
 */
enum pv_code slots_resources_measure(struct slots_cluster *cluster,
                                     struct slots_node nodes[],
                                     const struct slots_resources wanted[],
                                     size_t n,
                                     struct arena *arena,
                                     struct pv_error *err) PV_MUSTCHECK;

/* Which of the cluster's sizes a request is. O(log sizes). */
size_t slots_resources_size(const struct slots_cluster *cluster,
                            const struct slots_resources *request);

/* How long the cluster would be busy with the tasks of jobs by its scarcest resource: the larger one of
 * durations x requests over what there is of either resource, which by_speed counts by the speed of
 * the nodes. O(nodes + entries of task lists). */
double slots_resources_busy_s(const struct slots_cluster *cluster,
                              const struct slots_job jobs[],
                              size_t n,
                              bool by_speed);

#endif
