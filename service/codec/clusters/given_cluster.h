#ifndef CODEC_CLUSTERS_GIVEN_CLUSTER_H
#define CODEC_CLUSTERS_GIVEN_CLUSTER_H

#include "codec/json/shape.h"
#include "core/cluster/traits.h"

/* The member `cluster` of requests: the name of a registered cluster, or the size of one. */

struct codec_cluster_size {
    int64_t executors;
    int64_t cores_per_executor;
    int64_t memory_bytes; /* of all executors together; RUN_UNKNOWN */
};

struct codec_given_cluster {
    struct strview name;                /* at == NULL: no cluster is named */
    const struct cluster_traits *sized; /* NULL: the request has no size */
    struct codec_cluster_size size;     /* as sent; zeros if the request has no size */
};

extern const struct shape codec_cluster_with_memory_shape;

/* Read the member `cluster` of top. flags: CODEC_REQUIRED, CODEC_OPTIONAL or CODEC_NULLABLE.
 * Faults: neither a name nor an object; more than cores_max cores. */
void codec_given_cluster_decode(const struct codec_node *top,
                                unsigned flags,
                                int64_t cores_max,
                                struct codec_given_cluster *given);

#endif
