#ifndef CODEC_CLUSTERS_CLUSTER_H
#define CODEC_CLUSTERS_CLUSTER_H

#include "codec/json/shape.h"
#include "core/cluster/cluster.h"

struct codec_cluster_limits {
    int64_t labels;
    int64_t cores; /* executors x cores_per_executor */
};

extern const struct shape codec_cluster_shape;

/* PUT: the whole cluster; what is not there is not known, and null is absent. Faults: unknown
 * members, types, ranges, more cores or labels than `limits` allow. */
void codec_cluster_decode(const struct codec_node *node,
                          const struct codec_cluster_limits *limits,
                          struct cluster *cluster);

void codec_cluster_encode(struct writer *w, const struct cluster *cluster);

#endif
