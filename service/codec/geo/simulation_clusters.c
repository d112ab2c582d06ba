#include <math.h>

#include "codec/geo/simulation_internal.h"

#define POWER_MAX 1e9
#define LEAST 1e-3 /* power, bandwidth or share of it: below, speeds round to 0 */
#define SLOTS_MAX 1e6
enum { KEEP = SHAPE_KEEP };

/* What is not given stays as it is by default. */
#define S struct geosim_scale_parameters
/* clang-format off */
#define RANGES                                                                                     \
    {"slots_range", SHAPE_RANGE(S, slots), .flags = KEEP, .low = 1, .high = SLOTS_MAX},            \
    {"gate_ratio_range", SHAPE_RANGE(S, gate_ratio), .flags = KEEP, .low = LEAST, .high = 1000},   \
    {"power_mips_range", SHAPE_RANGE(S, power), .flags = KEEP, .low = LEAST, .high = POWER_MAX},   \
    {"power_rsd_range", SHAPE_RANGE(S, power_rsd), .flags = KEEP, .high = 10},                     \
    {"wan_bytes_per_s_range", SHAPE_RANGE(S, wan_bytes_per_s), .flags = KEEP, .low = LEAST,        \
     .high = CODEC_RATE_MAX},                                                                      \
    {"wan_rsd_range", SHAPE_RANGE(S, wan_rsd), .flags = KEEP, .high = 10},                         \
    {"outage_probability_range", SHAPE_RANGE(S, outage_probability), .flags = KEEP, .high = 1}
/* clang-format on */

static const struct shape_member scale_members[] = {
    {"share", SHAPE_NUMBER(S, share), .flags = KEEP, .high = 1}, RANGES};
static const struct shape scale_shape = {SHAPE_OF(scale_members, S)};

/* Small clusters are the rest. */
static const struct shape_member small_members[] = {RANGES};
static const struct shape small_shape = {SHAPE_OF(small_members, S)};

#define W struct geosim_world_parameters
static const struct shape_member members[] = {
    {"cluster_count", SHAPE_SIZE(W, n_clusters), .flags = KEEP, .least = 1,
     SHAPE_LIMIT(struct codec_simulation_limits, clusters)},
    {"links_per_cluster", SHAPE_SIZE(W, links), .flags = KEEP, .least = 1, .most = 100},
    {"slots_factor", SHAPE_NUMBER(W, slots_factor), .flags = KEEP | CODEC_ABOVE, .high = 1000},
    {"reference_power_mips", SHAPE_NUMBER(W, reference_power), .flags = KEEP | CODEC_ABOVE,
     .high = POWER_MAX},
    {"outage_period_s", SHAPE_NUMBER(W, outage_period_s), .flags = KEEP | CODEC_ABOVE,
     .high = CODEC_OUTAGE_S_MAX},
    {"outage_s", SHAPE_NUMBER(W, outage_s), .flags = KEEP | CODEC_ABOVE,
     .high = CODEC_OUTAGE_S_MAX},
    {"large", SHAPE_OBJECT(W, scales[GEOSIM_LARGE], &scale_shape)},
    {"medium", SHAPE_OBJECT(W, scales[GEOSIM_MEDIUM], &scale_shape)},
    {"small", SHAPE_OBJECT(W, scales[GEOSIM_SMALL], &small_shape)},
};
const struct shape codec_simulation_topology_shape = {.request = "SimulationTopology",
                                                      SHAPE_OF(members, W)};

void simulation_check_topology(const struct codec_node *top,
                               const struct geosim_world_parameters *terms)
{
    struct codec_node node = codec_member(top, "topology");
    for (int i = 0; i < GEOSIM_SCALES; i++) {
        const struct geosim_range *slots = &terms->scales[i].slots;
        struct codec_node scale = codec_member(&node, geosim_scale_name((enum geosim_scale)i));
        if (slots->low > floor(slots->low) || slots->high > floor(slots->high))
            codec_fault_member(&scale, "slots_range", "wrong_type", "must be whole numbers");
    }
    if (terms->scales[GEOSIM_LARGE].share + terms->scales[GEOSIM_MEDIUM].share > 1 + 1e-9)
        codec_fault_member(&node, "medium", "out_of_range",
                           "the shares of large and medium clusters add up to more than 1");
}
