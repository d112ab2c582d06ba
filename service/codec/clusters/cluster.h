#ifndef CODEC_CLUSTERS_CLUSTER_H
#define CODEC_CLUSTERS_CLUSTER_H

#include "base/json_writer.h"
#include "codec/json/reader.h"
#include "core/cluster/traits.h"

/* A cluster as it stands on the wire. Every member of a request is optional, and null is absent. */
struct codec_cluster {
    struct strview name; /* replies only: a request has it in its path */
    struct cluster_traits traits;
    struct strview price_book; /* at == NULL: none */
    struct strview description;
    struct run_label *labels;
    size_t n_labels;
    /* replies only */
    const char *id;
    int64_t version;
    int64_t created_us;
    int64_t updated_us;
};

struct codec_cluster_limits {
    size_t labels;
    int64_t cores; /* executors x cores_per_executor */
};

/* PUT: the whole cluster; what is not there is not known. Faults: unknown members, types, ranges,
 * more cores or labels than `limits` allow. */
void codec_cluster_decode(const struct codec_node *node,
                          const struct codec_cluster_limits *limits,
                          struct codec_cluster *cluster);

void codec_cluster_encode(struct writer *w, const struct codec_cluster *cluster);

#endif
