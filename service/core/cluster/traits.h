#ifndef CORE_CLUSTER_TRAITS_H
#define CORE_CLUSTER_TRAITS_H

#include <stdint.h>

#include "base/strview.h"

/*
 * What a team specifies of its own cluster (docs/design.md, "Clusters"): each use takes the
 * members it needs. RUN_UNKNOWN, NAN and at == NULL are what was not specified.
 */
struct cluster_traits {
    /* where jobs run: deadlines, admissions, advice */
    int64_t executors;
    int64_t cores_per_executor;
    int64_t memory_bytes_per_executor;
    /* copies of tasks across clusters */
    int64_t slots;
    double slot_s;
    double unreachable_probability;
    double ingress_bytes_per_s;
    double egress_bytes_per_s;
    /* what it costs */
    struct strview machine_type;
};

#endif
