#ifndef CODEC_SCHEDULING_SLOTS_SIMULATION_INTERNAL_H
#define CODEC_SCHEDULING_SLOTS_SIMULATION_INTERNAL_H

#include "codec/scheduling/slots_simulation.h"
#include "core/scheduling/slots/slots_network_size.h"

/* The policies for slots and the terms of each. */
extern const struct codec_policy_table codec_slots_policies;

/* What a search tries of each (codec/scheduling/policy_search.h). */
extern const struct codec_policy_table codec_slots_families;

/* Most limits of a policy, and queues of "comp": for each task that is given a slot, queues are looked at
 * one by one. */
enum { SLOTS_LIMITS_MAX = 100, SLOTS_QUEUES_MAX = 1000 };

/* Of a node: all nodes together have no more than CODEC_COUNT_MAX. */
enum { CODEC_VCORES_MAX = 100000 };

/* Incidents are looked up by the names of nodes, one by one. */
enum { CODEC_INCIDENTS_MAX = 1000 };

/* How many queues the policies "capacity" have, those that have fewest; SIZE_MAX: there are none. */
size_t codec_slots_tenants(const struct codec_slots_simulation *asked);

/* Some policy divides slots by how far a job's maps are: every job needs a map. */
bool codec_slots_need_maps(const struct codec_slots_simulation *asked);

/* Tasks of one run of every policy, each by its weight (slots_terms_weight). */
double codec_slots_probed(const struct codec_slots_simulation *asked, double tasks, size_t n_jobs);

/* The cluster as the core has it. Faults: those across its members, and with incidents. */
void codec_slots_take_cluster(const struct codec_node *top, struct codec_slots_simulation *asked);

/* Members of a job and of a request that are containers (codec/scheduling/slots_containers.c). */
void codec_slots_decode_containers(const struct codec_node *node,
                                   struct codec_slots_container containers[SLOTS_KINDS]);
void codec_slots_encode_container(struct writer *w,
                                  enum slots_kind kind,
                                  const struct codec_slots_container *container);

/* Tasks have containers: the nodes say what they have room for. */
bool codec_slots_has_room(const struct codec_slots_simulation *asked);

/* The nodes as the core has them, of which together too much is a fault. */
void codec_slots_take_rooms(const struct codec_node *top, struct codec_slots_simulation *asked);

/* The containers of the jobs of the request as the core has them, and those of jobs that say nothing else.
 * Faults: containers beside slots, or that fit on no node; policies, or a search, that are for slots. */
void codec_slots_take_containers(const struct codec_node *top,
                                 struct codec_slots_simulation *asked);

/* The member of the cluster where too few slots of a kind are a fault. */
const char *codec_slots_place(const struct codec_slots_simulation *asked, enum slots_kind kind);

/* A size as if all nodes were alike becomes one for these nodes and incidents. */
void codec_slots_size_by_nodes(const struct slots_cluster *cluster,
                               struct codec_comparison_size *size);

/* The bandwidth of a node's link, its own or that of all; 0: none was given. */
double codec_slots_bandwidth(const struct codec_slots_cluster *sent, size_t node);

/* Faults: bytes to shuffle, and no nodes, or nodes that take tasks without bandwidth. */
void codec_slots_check_network(const struct codec_node *top,
                               const struct codec_slots_simulation *asked);

/* What one simulation may take of the steps of all. */
void codec_slots_limit_network(const struct codec_comparison_limits *limits,
                               struct codec_slots_simulation *asked);

/* The size of a request as if nothing went over the network becomes one with it. */
void codec_slots_size_by_network(const struct codec_slots_simulation *asked,
                                 struct codec_comparison_size *size);

/* Terms of policies for copies of tasks. */
void codec_slots_decode_speculation(const struct codec_node *policy,
                                    const struct codec_comparison_limits *limits,
                                    void *terms);
void codec_slots_encode_speculation(struct writer *w, const void *terms);

/* Faults: copies without nodes; more levels than nodes, or a number of them beside levels. */
void codec_slots_check_speculation(const struct codec_node *top,
                                   const struct codec_comparison_limits *limits,
                                   struct codec_slots_simulation *asked);

/* Faults: more tasks than may be included in the result. */
void codec_slots_check_occupancy(const struct codec_node *top,
                                 const struct codec_comparison_limits *limits,
                                 const struct codec_slots_simulation *asked,
                                 double tasks);

/* How large a request with its jobs is, but for memory. */
struct codec_comparison_size codec_slots_size_of(const struct codec_slots_simulation *asked);

/* Faults: a policy tries all divisions of the slots, and these are too many for n jobs. */
void codec_slots_check_splits(const struct codec_node *top,
                              const struct codec_comparison_limits *limits,
                              const struct codec_slots_simulation *asked,
                              double n_jobs);

/* Choose the candidates of a search, if there is one, for the jobs of the request. Faults: as of
 * codec_search_check. */
void codec_slots_check_search(const struct codec_node *top, struct codec_slots_simulation *asked);
/* Likewise of a workload, before its jobs are loaded: candidates go by their sizes. */
void codec_slots_check_search_of(const struct codec_node *top,
                                 const struct workload_summary *workload,
                                 struct codec_slots_simulation *asked);
/* The candidates of a search, if there is one, for jobs that have been loaded. PV_E_INVALID: there are
 * too many, or none. */
enum pv_code codec_slots_choose_candidates(struct codec_slots_simulation *asked,
                                           struct arena *arena,
                                           struct pv_error *err);

/* The member slot_occupancy; spans NULL: it is not included. */
void codec_slots_occupancy_encode(struct writer *w,
                                  const struct codec_slots_result *result,
                                  const struct slots_terms *terms,
                                  struct slots_spans *spans);

/* Faults of a request that names a workload; limits->workload says what it comes to. */
void codec_slots_check_workload(const struct codec_node *top,
                                const struct codec_comparison_limits *limits,
                                struct codec_slots_simulation *asked);

#endif
