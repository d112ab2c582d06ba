#include "codec/clusters/cluster_samples.h"

#include <math.h>

static const double RATE_MIN = 1e-9;
static const double RATE_MAX = 1e18;
static const double OUTAGE_S_MAX = 1e9;

struct decoding {
    const struct codec_cluster_samples_limits *limits;
    struct codec_cluster_samples *samples;
    struct strview cluster;
    size_t n; /* of all lists so far */
};

/* --- instants --- */

static void note(struct decoding *d, int64_t from_us, int64_t until_us)
{
    struct codec_cluster_samples *s = d->samples;
    s->first_us = from_us < s->first_us ? from_us : s->first_us;
    s->newest_us = until_us > s->newest_us ? until_us : s->newest_us;
}

static bool is_ahead(const struct decoding *d, int64_t us)
{
    return us > d->limits->now_us + d->limits->ahead_us;
}

static int64_t decode_at(struct decoding *d, const struct codec_node *node, unsigned flags)
{
    int64_t at_us = codec_instant(node, "at", flags);
    if (at_us == RUN_NO_INSTANT)
        return d->limits->now_us;
    if (at_us < 0)
        codec_fault_member(node, "at", "out_of_range", "is before 1970");
    else if (is_ahead(d, at_us))
        codec_fault_member(node, "at", "in_future", "lies in the future (samples_ahead_s)");
    return at_us;
}

/* --- lists --- */

/* The items of a list, counted towards the limit of all. */
static struct codec_node
open_list(struct decoding *d, const struct codec_node *top, const char *key, size_t *n)
{
    size_t most = d->limits->samples;
    struct codec_node list = codec_array(top, key, CODEC_NULLABLE, 0, most);
    *n = list.json == NULL ? 0 : json_array_size(list.json);
    d->n += *n;
    if (d->n > most) {
        codec_fault(&list, "too_many_items",
                    "with it there are more than %zu samples (samples_max)", most);
        *n = 0;
    }
    return list;
}

static void *allocate(const struct codec_node *node, size_t n, size_t size)
{
    void *items = arena_calloc(node->reader->arena, n, size);
    if (items == NULL)
        (void)pv_no_memory(node->reader->err);
    return items;
}

static void decode_speed(struct decoding *d,
                         const struct codec_node *node,
                         const char *of,
                         size_t item,
                         struct codec_speed *speed)
{
    const char *const known[] = {of, "bytes_per_s", "at", NULL};
    if (!codec_expect_object(node))
        return;
    codec_refuse_unknown(node, known);
    speed->item = item;
    speed->of = codec_name(node, of, CODEC_REQUIRED);
    speed->sample.value = codec_number(node, "bytes_per_s", CODEC_REQUIRED, RATE_MIN, RATE_MAX);
    speed->sample.at_us = decode_at(d, node, CODEC_NULLABLE);
    note(d, speed->sample.at_us, speed->sample.at_us);
}

static void decode_processing(struct decoding *d, const struct codec_node *top)
{
    size_t n;
    struct codec_node list = open_list(d, top, "processing", &n);
    struct codec_speed *speeds = allocate(top, n, sizeof *speeds);
    for (size_t i = 0; speeds != NULL && i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_speed(d, &item, "operation", i, &speeds[i]);
    }
    d->samples->processing = speeds;
    d->samples->n_processing = speeds == NULL ? 0 : n;
}

static void decode_transfers(struct decoding *d, const struct codec_node *top)
{
    size_t n;
    struct codec_node list = open_list(d, top, "transfers", &n);
    struct codec_speed *speeds = allocate(top, n, sizeof *speeds);
    for (size_t i = 0; speeds != NULL && i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_speed(d, &item, "from", i, &speeds[i]);
        if (speeds[i].of.n > 0 && strview_equal(speeds[i].of, d->cluster))
            codec_fault_member(&item, "from", "same_cluster",
                               "is the cluster itself: nothing is transferred");
    }
    d->samples->transfers = speeds;
    d->samples->n_transfers = speeds == NULL ? 0 : n;
}

static void decode_outage(struct decoding *d, const struct codec_node *node, struct outage *outage)
{
    static const char *const known[] = {"at", "duration_s", NULL};
    if (!codec_expect_object(node))
        return;
    codec_refuse_unknown(node, known);
    outage->from_us = decode_at(d, node, CODEC_REQUIRED);
    double duration_s =
        codec_number(node, "duration_s", CODEC_REQUIRED | CODEC_ABOVE, 0, OUTAGE_S_MAX);
    outage->until_us = outage->from_us;
    if (isnan(duration_s))
        return;
    outage->until_us += (int64_t)ceil(duration_s * 1e6);
    if (is_ahead(d, outage->until_us) && !is_ahead(d, outage->from_us))
        codec_fault_member(node, "duration_s", "in_future",
                           "the outage ends in the future: report what is over (samples_ahead_s)");
    note(d, outage->from_us, outage->until_us);
}

static void decode_outages(struct decoding *d, const struct codec_node *top)
{
    size_t n;
    struct codec_node list = open_list(d, top, "outages", &n);
    struct outage *outages = allocate(top, n, sizeof *outages);
    for (size_t i = 0; outages != NULL && i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_outage(d, &item, &outages[i]);
    }
    d->samples->outages = outages;
    d->samples->n_outages = outages == NULL ? 0 : n;
}

void codec_cluster_samples_decode(const struct codec_node *node,
                                  struct strview cluster,
                                  const struct codec_cluster_samples_limits *limits,
                                  struct codec_cluster_samples *samples)
{
    static const char *const known[] = {"processing", "transfers", "outages", NULL};
    struct decoding d = {limits, samples, cluster, 0};
    *samples = (struct codec_cluster_samples){.first_us = INT64_MAX, .newest_us = INT64_MIN};
    codec_refuse_unknown(node, known);
    decode_processing(&d, node);
    decode_transfers(&d, node);
    decode_outages(&d, node);
    if (samples->first_us > samples->newest_us)
        note(&d, limits->now_us, limits->now_us);
}
