#include "codec/clusters/given_cluster.h"

#include <math.h>

#include "base/plural.h"
#include "core/history/run.h"

struct size_limits {
    int64_t cores;
};

#define C struct codec_cluster_size
#define L struct size_limits
static const struct shape_member members[] = {
    {"executors", SHAPE_COUNT(C, executors), .flags = CODEC_REQUIRED, .least = 1,
     SHAPE_LIMIT(L, cores)},
    {"cores_per_executor", SHAPE_COUNT(C, cores_per_executor), .flags = CODEC_REQUIRED, .least = 1,
     SHAPE_LIMIT(L, cores)},
    {"memory_bytes", SHAPE_COUNT(C, memory_bytes), .flags = CODEC_NULLABLE, .least = 1,
     .most = CODEC_BYTES_MAX},
};
const struct shape codec_cluster_with_memory_shape = {.request = "ClusterWithMemory",
                                                      SHAPE_OF(members, C)};

static const struct cluster_traits *traits_of(const struct codec_node *node,
                                              const struct codec_cluster_size *size)
{
    const double unknown = (double)NAN;
    struct cluster_traits *traits = codec_allocate(node, 1, sizeof *traits);
    if (traits == NULL)
        return NULL;
    *traits = (struct cluster_traits){
        .executors = size->executors,
        .cores_per_executor = size->cores_per_executor,
        .memory_bytes_per_executor =
            size->memory_bytes == RUN_UNKNOWN ? RUN_UNKNOWN : size->memory_bytes / size->executors,
        .slots = RUN_UNKNOWN,
        .slot_s = unknown,
        .unreachable_probability = unknown,
        .ingress_bytes_per_s = unknown,
        .egress_bytes_per_s = unknown};
    return traits;
}

static void
decode_size(const struct codec_node *cluster, int64_t cores_max, struct codec_given_cluster *given)
{
    const struct size_limits limits = {cores_max};
    struct codec_cluster_size *size = &given->size;
    shape_decode(cluster, &codec_cluster_with_memory_shape, &limits, size);
    if (size->executors < 1 || size->cores_per_executor < 1)
        return; /* at fault already */
    if (size->executors > cores_max / size->cores_per_executor)
        codec_fault(cluster, "out_of_range", "has more than %lld core%s (cores_max)",
                    (long long)cores_max, PLURAL(cores_max));
    else
        given->sized = traits_of(cluster, size);
}

void codec_given_cluster_decode(const struct codec_node *top,
                                unsigned flags,
                                int64_t cores_max,
                                struct codec_given_cluster *given)
{
    const struct json_value *value = json_value_member(top->json, "cluster");
    *given = (struct codec_given_cluster){.size.memory_bytes = RUN_UNKNOWN};
    if (value == NULL || json_value_is_text(value) || json_value_is_null(value)) {
        given->name = codec_name(top, "cluster", flags);
    } else if (json_value_is_object(value)) {
        struct codec_node cluster = codec_member(top, "cluster");
        decode_size(&cluster, cores_max, given);
    } else {
        codec_fault_member(top, "cluster", "wrong_type",
                           "must be the name of a registered cluster, or its size such as "
                           "{\"executors\": 6, \"cores_per_executor\": 4}");
    }
}
