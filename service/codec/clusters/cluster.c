#include "codec/clusters/cluster.h"

#include "base/plural.h"

#define C struct cluster
#define L struct codec_cluster_limits
enum { NULLABLE = CODEC_NULLABLE, REPLY = SHAPE_READ_ONLY };

static const struct shape_member members[] = {
    {"id", SHAPE_ID(C, id), .flags = REPLY},
    {"name", SHAPE_NAME(C, name), .flags = REPLY},
    {"description", SHAPE_TEXT(C, description), .flags = NULLABLE,
     .most = CODEC_DESCRIPTION_BYTES_MAX},
    {"labels", SHAPE_LABELS(C, labels, n_labels), .flags = NULLABLE, SHAPE_LIMIT(L, labels)},
    {"executors", SHAPE_COUNT(C, traits.executors), .flags = NULLABLE, .least = 1,
     SHAPE_LIMIT(L, cores)},
    {"cores_per_executor", SHAPE_COUNT(C, traits.cores_per_executor), .flags = NULLABLE, .least = 1,
     SHAPE_LIMIT(L, cores)},
    {"memory_bytes_per_executor", SHAPE_COUNT(C, traits.memory_bytes_per_executor),
     .flags = NULLABLE, .least = 1, .most = CODEC_BYTES_MAX},
    {"slots", SHAPE_COUNT(C, traits.slots), .flags = NULLABLE, .most = CODEC_COUNT_MAX},
    {"slot_s", SHAPE_NUMBER(C, traits.slot_s), .flags = NULLABLE | CODEC_ABOVE,
     .high = CODEC_SLOT_S_MAX},
    {"unreachable_probability", SHAPE_NUMBER(C, traits.unreachable_probability), .flags = NULLABLE,
     .high = 1},
    {"ingress_bytes_per_s", SHAPE_NUMBER(C, traits.ingress_bytes_per_s), .flags = NULLABLE,
     .high = CODEC_RATE_MAX},
    {"egress_bytes_per_s", SHAPE_NUMBER(C, traits.egress_bytes_per_s), .flags = NULLABLE,
     .high = CODEC_RATE_MAX},
    {"price_book", SHAPE_NAME(C, price_book), .flags = NULLABLE},
    {"machine_type", SHAPE_NAME(C, traits.machine_type), .flags = NULLABLE},
    {"version", SHAPE_COUNT(C, version), .flags = REPLY, .least = 1},
    {"created_at", SHAPE_INSTANT(C, created_us), .flags = REPLY},
    {"updated_at", SHAPE_INSTANT(C, updated_us), .flags = REPLY},
};

const struct shape codec_cluster_shape = {
    .request = "ClusterPut", .reply = "RegisteredCluster", SHAPE_OF(members, C)};

void codec_cluster_decode(const struct codec_node *node,
                          const struct codec_cluster_limits *limits,
                          struct cluster *cluster)
{
    const struct cluster_traits *traits = &cluster->traits;
    int64_t cores;
    *cluster = (struct cluster){.id = ""};
    shape_decode(node, &codec_cluster_shape, limits, cluster);
    if (traits->executors == RUN_UNKNOWN || traits->cores_per_executor == RUN_UNKNOWN)
        return;
    if (__builtin_mul_overflow(traits->executors, traits->cores_per_executor, &cores) ||
        cores > limits->cores)
        codec_fault_member(node, "executors", "out_of_range",
                           "with cores_per_executor there are more than %lld core%s (cores_max)",
                           (long long)limits->cores, PLURAL(limits->cores));
}

void codec_cluster_encode(struct writer *w, const struct cluster *cluster)
{
    shape_encode(w, &codec_cluster_shape, cluster, 0, NULL);
}
