#include "codec/geo/simulation_internal.h"

#include <math.h>

static const double BYTES_MAX = 1e15;
static const double SECONDS_MAX = 1e9;
static const double SLOT_MIN_S = 1e-3; /* see RATE_MIN of simulation.c */
static const double POWER_MAX = 1e9;
static const double LEAST = 1e-3; /* power, bandwidth or share of it: below, speeds round to 0 */
static const double SLOTS_MAX = 1e6;

double simulation_known_or(double value, double otherwise)
{
    return isnan(value) ? otherwise : value;
}

/* A pair [low, high]; what is not given stays. */
static void decode_range(const struct codec_node *node,
                         const char *key,
                         unsigned flags,
                         double low,
                         double high,
                         struct geosim_range *range)
{
    struct codec_node pair = codec_array(node, key, CODEC_OPTIONAL, 2, 2);
    if (pair.json == NULL)
        return;
    struct codec_node first = codec_item(&pair, 0);
    struct codec_node second = codec_item(&pair, 1);
    range->low = codec_as_number(&first, flags, low, high);
    range->high = codec_as_number(&second, flags, low, high);
    if (range->low > range->high)
        codec_fault(&pair, "out_of_range", "begins above its end");
}

static void decode_slots(const struct codec_node *node, struct geosim_range *range)
{
    decode_range(node, "slots_range", CODEC_REQUIRED, 1, SLOTS_MAX, range);
    if (range->low != floor(range->low) || range->high != floor(range->high))
        codec_fault_member(node, "slots_range", "wrong_type", "must be whole numbers");
}

static void decode_scale(const struct codec_node *clusters,
                         enum geosim_scale scale,
                         struct geosim_scale_parameters *terms)
{
    static const char *const known[] = {"slots_range",
                                        "gate_ratio_range",
                                        "power_mips_range",
                                        "power_rsd_range",
                                        "wan_bytes_per_s_range",
                                        "wan_rsd_range",
                                        "outage_probability_range",
                                        "share",
                                        NULL};
    struct codec_node node = codec_object(clusters, geosim_scale_name(scale), CODEC_OPTIONAL);
    if (node.json == NULL)
        return;
    codec_refuse_unknown(&node, known);
    if (scale == GEOSIM_SMALL && codec_present(&node, "share"))
        codec_fault_member(&node, "share", "conflict", "small clusters are the rest");
    else
        terms->share =
            simulation_known_or(codec_number(&node, "share", CODEC_OPTIONAL, 0, 1), terms->share);
    decode_slots(&node, &terms->slots);
    decode_range(&node, "gate_ratio_range", 0, LEAST, 1000, &terms->gate_ratio);
    decode_range(&node, "power_mips_range", 0, LEAST, POWER_MAX, &terms->power);
    decode_range(&node, "power_rsd_range", 0, 0, 10, &terms->power_rsd);
    decode_range(&node, "wan_bytes_per_s_range", 0, LEAST, BYTES_MAX, &terms->wan_bytes_per_s);
    decode_range(&node, "wan_rsd_range", 0, 0, 10, &terms->wan_rsd);
    decode_range(&node, "outage_probability_range", 0, 0, 1, &terms->outage_probability);
}

static double
decode_positive(const struct codec_node *node, const char *key, double otherwise, double most)
{
    return simulation_known_or(codec_number(node, key, CODEC_OPTIONAL | CODEC_ABOVE, 0, most),
                               otherwise);
}

void simulation_decode_topology(const struct codec_node *top,
                                const struct codec_simulation_limits *limits,
                                struct geosim_world_parameters *terms)
{
    static const char *const known[] = {"cluster_count", "links_per_cluster",
                                        "slots_factor",  "reference_power_mips",
                                        "large",         "medium",
                                        "small",         "outage_period_s",
                                        "outage_s",      NULL};
    terms->slot_s = simulation_known_or(
        codec_number(top, "slot_s", CODEC_OPTIONAL, SLOT_MIN_S, SECONDS_MAX), terms->slot_s);
    if (terms->n_clusters > limits->clusters)
        terms->n_clusters = limits->clusters;
    struct codec_node node = codec_object(top, "topology", CODEC_OPTIONAL);
    if (node.json == NULL)
        return;
    codec_refuse_unknown(&node, known);
    int64_t count =
        codec_integer(&node, "cluster_count", CODEC_OPTIONAL, 1, (int64_t)limits->clusters);
    if (count != RUN_UNKNOWN)
        terms->n_clusters = (size_t)count;
    int64_t links = codec_integer(&node, "links_per_cluster", CODEC_OPTIONAL, 1, 100);
    if (links != RUN_UNKNOWN)
        terms->links = (size_t)links;
    terms->slots_factor = decode_positive(&node, "slots_factor", terms->slots_factor, 1000);
    terms->reference_power =
        decode_positive(&node, "reference_power_mips", terms->reference_power, POWER_MAX);
    terms->outage_period_s =
        decode_positive(&node, "outage_period_s", terms->outage_period_s, SECONDS_MAX);
    terms->outage_s = decode_positive(&node, "outage_s", terms->outage_s, SECONDS_MAX);
    for (int i = 0; i < GEOSIM_SCALES; i++)
        decode_scale(&node, (enum geosim_scale)i, &terms->scales[i]);
    if (terms->scales[GEOSIM_LARGE].share + terms->scales[GEOSIM_MEDIUM].share > 1 + 1e-9)
        codec_fault_member(&node, "medium", "out_of_range",
                           "the shares of large and medium clusters add up to more than 1");
}

/* --- with all defaults --- */

static void encode_range(struct writer *w, const char *key, const struct geosim_range *range)
{
    writer_member_array(w, key);
    writer_number(w, range->low);
    writer_number(w, range->high);
    writer_end_array(w);
}

void simulation_encode_topology(struct writer *w, const struct geosim_world_parameters *terms)
{
    writer_member_object(w, "topology");
    writer_member_integer(w, "cluster_count", (int64_t)terms->n_clusters);
    writer_member_integer(w, "links_per_cluster", (int64_t)terms->links);
    writer_member_number(w, "slots_factor", terms->slots_factor);
    writer_member_number(w, "reference_power_mips", terms->reference_power);
    writer_member_number(w, "outage_period_s", terms->outage_period_s);
    writer_member_number(w, "outage_s", terms->outage_s);
    for (int i = 0; i < GEOSIM_SCALES; i++) {
        const struct geosim_scale_parameters *scale = &terms->scales[i];
        writer_member_object(w, geosim_scale_name((enum geosim_scale)i));
        if (i != GEOSIM_SMALL)
            writer_member_number(w, "share", scale->share);
        encode_range(w, "slots_range", &scale->slots);
        encode_range(w, "gate_ratio_range", &scale->gate_ratio);
        encode_range(w, "power_mips_range", &scale->power);
        encode_range(w, "power_rsd_range", &scale->power_rsd);
        encode_range(w, "wan_bytes_per_s_range", &scale->wan_bytes_per_s);
        encode_range(w, "wan_rsd_range", &scale->wan_rsd);
        encode_range(w, "outage_probability_range", &scale->outage_probability);
        writer_end_object(w);
    }
    writer_end_object(w);
}
