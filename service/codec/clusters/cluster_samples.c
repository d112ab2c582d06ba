#include "codec/clusters/cluster_samples.h"

#include <math.h>

#include "base/plural.h"

#define L struct codec_cluster_samples_limits

/* --- instants --- */

static bool is_ahead(const L *limits, int64_t us)
{
    return us > limits->now_us + limits->ahead_us;
}

/* Now, where no instant was sent. */
static void check_at(const struct codec_node *node, const L *limits, int64_t *at_us)
{
    if (*at_us == RUN_NO_INSTANT)
        *at_us = limits->now_us;
    else if (*at_us < 0)
        codec_fault_member(node, "at", "out_of_range", "is before 1970");
    else if (is_ahead(limits, *at_us))
        codec_fault_member(node, "at", "in_future", "is in the future (samples_ahead_s)");
}

/* --- items --- */

static void check_speed(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_speed *speed = object;
    speed->item = node->index;
    check_at(node, limits, &speed->sample.at_us);
}

#define S struct codec_speed
#define SPEED                                                                                      \
    {"bytes_per_s", SHAPE_NUMBER(S, sample.value), .flags = CODEC_REQUIRED, .low = CODEC_RATE_MIN, \
     .high = CODEC_RATE_MAX},                                                                      \
    {                                                                                              \
        "at", SHAPE_INSTANT(S, sample.at_us), .flags = CODEC_NULLABLE                              \
    }

static const struct shape_member processing_members[] = {
    {"operation", SHAPE_NAME(S, of), .flags = CODEC_REQUIRED}, SPEED};
const struct shape codec_processing_sample_shape = {
    .request = "ProcessingSample", SHAPE_OF(processing_members, S), .check = check_speed};

static const struct shape_member transfer_members[] = {
    {"from", SHAPE_NAME(S, of), .flags = CODEC_REQUIRED}, SPEED};
const struct shape codec_transfer_sample_shape = {
    .request = "TransferSample", SHAPE_OF(transfer_members, S), .check = check_speed};

static void check_outage(const struct codec_node *node, const void *limits, void *object)
{
    struct outage *outage = object;
    double duration_s =
        codec_number(node, "duration_s", CODEC_REQUIRED | CODEC_ABOVE, 0, CODEC_OUTAGE_S_MAX);
    check_at(node, limits, &outage->from_us);
    outage->until_us = outage->from_us + (isnan(duration_s) ? 0 : (int64_t)ceil(duration_s * 1e6));
    if (is_ahead(limits, outage->until_us) && !is_ahead(limits, outage->from_us))
        codec_fault_member(node, "duration_s", "in_future",
                           "the outage ends in the future: report what is over (samples_ahead_s)");
}

#define O struct outage
static const struct shape_member outage_members[] = {
    {"at", SHAPE_INSTANT(O, from_us), .flags = CODEC_REQUIRED},
    {"duration_s", SHAPE_CODE, .flags = CODEC_REQUIRED}, /* check_outage */
};
const struct shape codec_outage_shape = {
    .request = "OutageSample", SHAPE_OF(outage_members, O), .check = check_outage};

/* --- all --- */

#define A struct codec_cluster_samples
static const struct shape_member members[] = {
    {"processing", SHAPE_OBJECTS(A, processing, n_processing, &codec_processing_sample_shape),
     .flags = CODEC_NULLABLE, SHAPE_LIMIT(L, samples)},
    {"transfers", SHAPE_OBJECTS(A, transfers, n_transfers, &codec_transfer_sample_shape),
     .flags = CODEC_NULLABLE, SHAPE_LIMIT(L, samples)},
    {"outages", SHAPE_OBJECTS(A, outages, n_outages, &codec_outage_shape), .flags = CODEC_NULLABLE,
     SHAPE_LIMIT(L, samples)},
};
const struct shape codec_cluster_samples_shape = {.request = "ClusterSamples",
                                                  SHAPE_OF(members, A)};

static void note(struct codec_cluster_samples *s, int64_t from_us, int64_t until_us)
{
    s->first_us = from_us < s->first_us ? from_us : s->first_us;
    s->newest_us = until_us > s->newest_us ? until_us : s->newest_us;
}

/* All lists count towards one limit. */
static void refuse_many(const struct codec_node *node, const A *samples, size_t most)
{
    const char *const keys[] = {"processing", "transfers", "outages"};
    const size_t counts[] = {samples->n_processing, samples->n_transfers, samples->n_outages};
    size_t n = 0;
    for (size_t i = 0; i < 3 && n <= most; i++) {
        n += counts[i];
        if (n > most)
            codec_fault_member(node, keys[i], "too_many_items",
                               "with it there are more than %zu sample%s (samples_max)", most,
                               PLURAL(most));
    }
}

void codec_cluster_samples_decode(const struct codec_node *node,
                                  struct strview cluster,
                                  const struct codec_cluster_samples_limits *limits,
                                  struct codec_cluster_samples *samples)
{
    *samples = (struct codec_cluster_samples){.first_us = INT64_MAX, .newest_us = INT64_MIN};
    shape_decode(node, &codec_cluster_samples_shape, limits, samples);
    refuse_many(node, samples, limits->samples);
    struct codec_node transfers = codec_member(node, "transfers");
    for (size_t i = 0; i < samples->n_processing; i++)
        note(samples, samples->processing[i].sample.at_us, samples->processing[i].sample.at_us);
    for (size_t i = 0; i < samples->n_transfers; i++) {
        struct codec_node item = codec_item(&transfers, i);
        const struct codec_speed *speed = &samples->transfers[i];
        note(samples, speed->sample.at_us, speed->sample.at_us);
        if (speed->of.n > 0 && strview_equal(speed->of, cluster))
            codec_fault_member(&item, "from", "same_cluster",
                               "is the cluster itself: nothing is transferred");
    }
    for (size_t i = 0; i < samples->n_outages; i++)
        note(samples, samples->outages[i].from_us, samples->outages[i].until_us);
    if (samples->first_us > samples->newest_us)
        note(samples, limits->now_us, limits->now_us);
}
