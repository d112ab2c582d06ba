#ifndef CODEC_CLUSTERS_CLUSTER_SAMPLES_H
#define CODEC_CLUSTERS_CLUSTER_SAMPLES_H

#include "codec/json/shape.h"
#include "core/geo/performance.h"
#include "core/geo/reachability.h"

extern const struct shape codec_processing_sample_shape;
extern const struct shape codec_transfer_sample_shape;
extern const struct shape codec_outage_shape;
extern const struct shape codec_cluster_samples_shape;

/* What a cluster reports: POST /v1/clusters/{name}/samples. */
struct codec_speed {
    struct strview of; /* the operation; the cluster from which the data comes */
    size_t item;       /* of its list */
    struct performance_sample sample;
};

struct codec_cluster_samples {
    struct codec_speed *processing;
    size_t n_processing;
    struct codec_speed *transfers;
    size_t n_transfers;
    struct outage *outages;
    size_t n_outages;
    int64_t first_us; /* of all instants; that of the request where there is none */
    int64_t newest_us;
};

struct codec_cluster_samples_limits {
    size_t samples;   /* of all three lists */
    int64_t now_us;   /* what is meant where an instant is not given */
    int64_t ahead_us; /* how far beyond that an instant may be */
};

/*
 * cluster: whose report it is; transfers from itself are a fault. Further faults: unknown members,
 * types, ranges; instants before 1970 or too far ahead, outages that end there; more than `limits`
 * allow. Everything lives in the reader's arena.
 */
void codec_cluster_samples_decode(const struct codec_node *node,
                                  struct strview cluster,
                                  const struct codec_cluster_samples_limits *limits,
                                  struct codec_cluster_samples *samples);

#endif
