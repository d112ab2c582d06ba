#include "codec/clusters/cluster.h"

#include <math.h>

enum { DESCRIPTION_BYTES_MAX = 4096 };
static const int64_t BYTES_MAX = INT64_C(1000000000000000000);
static const int64_t SLOTS_MAX = 1000000000;
static const double SLOT_S_MAX = 1e9;
static const double RATE_MAX = 1e18;

static void
decode_size(const struct codec_node *node, int64_t cores_max, struct cluster_traits *traits)
{
    traits->executors = codec_integer(node, "executors", CODEC_NULLABLE, 1, cores_max);
    traits->cores_per_executor =
        codec_integer(node, "cores_per_executor", CODEC_NULLABLE, 1, cores_max);
    traits->memory_bytes_per_executor =
        codec_integer(node, "memory_bytes_per_executor", CODEC_NULLABLE, 1, BYTES_MAX);
    int64_t cores;
    if (traits->executors == RUN_UNKNOWN || traits->cores_per_executor == RUN_UNKNOWN)
        return;
    if (__builtin_mul_overflow(traits->executors, traits->cores_per_executor, &cores) ||
        cores > cores_max)
        codec_fault_member(node, "executors", "out_of_range",
                           "with cores_per_executor there are more than %lld cores (cores_max)",
                           (long long)cores_max);
}

static void decode_traits(const struct codec_node *node,
                          const struct codec_cluster_limits *limits,
                          struct cluster_traits *traits)
{
    decode_size(node, limits->cores, traits);
    traits->slots = codec_integer(node, "slots", CODEC_NULLABLE, 0, SLOTS_MAX);
    traits->slot_s = codec_number(node, "slot_s", CODEC_NULLABLE | CODEC_ABOVE, 0, SLOT_S_MAX);
    traits->unreachable_probability =
        codec_number(node, "unreachable_probability", CODEC_NULLABLE, 0, 1);
    traits->ingress_bytes_per_s =
        codec_number(node, "ingress_bytes_per_s", CODEC_NULLABLE, 0, RATE_MAX);
    traits->egress_bytes_per_s =
        codec_number(node, "egress_bytes_per_s", CODEC_NULLABLE, 0, RATE_MAX);
    traits->machine_type = codec_name(node, "machine_type", CODEC_NULLABLE);
}

void codec_cluster_decode(const struct codec_node *node,
                          const struct codec_cluster_limits *limits,
                          struct codec_cluster *cluster)
{
    static const char *const known[] = {"executors",
                                        "cores_per_executor",
                                        "memory_bytes_per_executor",
                                        "slots",
                                        "slot_s",
                                        "unreachable_probability",
                                        "ingress_bytes_per_s",
                                        "egress_bytes_per_s",
                                        "price_book",
                                        "machine_type",
                                        "description",
                                        "labels",
                                        NULL};
    *cluster = (struct codec_cluster){.id = NULL};
    codec_refuse_unknown(node, known);
    decode_traits(node, limits, &cluster->traits);
    cluster->price_book = codec_name(node, "price_book", CODEC_NULLABLE);
    cluster->description =
        codec_text(node, "description", CODEC_NULLABLE, 0, DESCRIPTION_BYTES_MAX);
    codec_labels(node, "labels", CODEC_NULLABLE, limits->labels, &cluster->labels,
                 &cluster->n_labels);
}

static void encode_traits(struct writer *w, const struct cluster_traits *traits)
{
    writer_member_count(w, "executors", traits->executors);
    writer_member_count(w, "cores_per_executor", traits->cores_per_executor);
    writer_member_count(w, "memory_bytes_per_executor", traits->memory_bytes_per_executor);
    writer_member_count(w, "slots", traits->slots);
    writer_member_number(w, "slot_s", traits->slot_s);
    writer_member_number(w, "unreachable_probability", traits->unreachable_probability);
    writer_member_number(w, "ingress_bytes_per_s", traits->ingress_bytes_per_s);
    writer_member_number(w, "egress_bytes_per_s", traits->egress_bytes_per_s);
}

void codec_cluster_encode(struct writer *w, const struct codec_cluster *cluster)
{
    writer_begin_object(w);
    writer_member_string(w, "id", cluster->id);
    writer_member_text(w, "name", cluster->name);
    writer_member_text(w, "description", cluster->description);
    writer_key(w, "labels");
    writer_begin_object(w);
    for (size_t i = 0; i < cluster->n_labels; i++) {
        writer_key_view(w, cluster->labels[i].key);
        writer_text(w, cluster->labels[i].value);
    }
    writer_end_object(w);
    encode_traits(w, &cluster->traits);
    writer_member_text(w, "price_book", cluster->price_book);
    writer_member_text(w, "machine_type", cluster->traits.machine_type);
    writer_member_integer(w, "version", cluster->version);
    writer_member_instant(w, "created_at", cluster->created_us);
    writer_member_instant(w, "updated_at", cluster->updated_us);
    writer_end_object(w);
}
