#ifndef TESTS_CONTAINERS_CASES_H
#define TESTS_CONTAINERS_CASES_H

#include "core/scheduling/slots/slots_resources.h"
#include "slots_cases.h"

/* Small workloads for tests of simulations with containers. */
enum { CASE_NODES_MAX = 8 };

struct containers_case {
    struct slots_case of; /* its cluster has speeds and slow start, incidents and ramp-up */
    struct slots_node nodes[CASE_NODES_MAX];
    size_t n_nodes;
    struct slots_resources requests[CASE_JOBS_MAX][SLOTS_KINDS];
};

/* Make the jobs of those that are given, and measure the cluster, in the arena. */
void containers_case_prepare(struct containers_case *containers_case, struct arena *arena);

/* Likewise, and what becomes of them under a policy; observer may be NULL. Fails the test where it does
 * not succeed. */
void containers_case_run(struct containers_case *containers_case,
                         const struct slots_terms *terms,
                         const struct slots_observer *observer,
                         struct slots_job_times times[]);

/* The same simulation, written plainly: every task by itself, all nodes and jobs looked through for
 * every container. Without incidents and copies; fifo, fair, drf and capacity. */
void containers_reference(const struct slots_cluster *cluster,
                          const struct slots_job jobs[],
                          size_t n,
                          const struct slots_terms *terms,
                          struct slots_job_times times[]);

#endif
