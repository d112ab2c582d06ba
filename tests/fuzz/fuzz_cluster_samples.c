/*
 * Any bytes as the body of POST /v1/clusters/{name}/samples. Refused bodies say where they are
 * wrong; what is taken is remembered in bounded distributions that give every sample back in their
 * mean, in any order of the samples, and outages make a probability.
 */
#include <math.h>

#include "codec/clusters/cluster_samples.h"
#include "fuzz_body.h"

#define DAY_US (INT64_C(86400) * 1000000)
#define NOW_US (INT64_C(20000) * DAY_US)

static const struct codec_cluster_samples_limits limits = {
    .samples = 64, .now_us = NOW_US, .ahead_us = DAY_US};
static const struct performance_terms terms = {.half_life_s = 3600, .points = 8};

static void require_same(const struct performance *a, const struct performance *b)
{
    FUZZ_REQUIRE(a->n == b->n && a->level == b->level && a->samples == b->samples);
    FUZZ_REQUIRE(a->newest_us == b->newest_us && a->landmark_us == b->landmark_us);
    for (size_t i = 0; i < a->n; i++) {
        FUZZ_REQUIRE(a->index[i] == b->index[i]);
        FUZZ_REQUIRE(fabs(a->weight[i] - b->weight[i]) <= 1e-9 * a->weight[i]);
    }
}

static void require_remembered(const struct codec_speed speeds[], size_t n)
{
    struct performance forth;
    struct performance back;
    struct speeds found;
    double least = INFINITY;
    double most = 0;
    performance_init(&forth);
    performance_init(&back);
    for (size_t i = 0; i < n; i++) {
        performance_add(&forth, &terms, &speeds[i].sample);
        performance_add(&back, &terms, &speeds[n - 1 - i].sample);
        least = fmin(least, speeds[i].sample.value);
        most = fmax(most, speeds[i].sample.value);
    }
    FUZZ_REQUIRE(forth.n <= terms.points && forth.samples == (int64_t)n);
    require_same(&forth, &back);
    performance_speeds(&forth, &found);
    FUZZ_REQUIRE(found.n == forth.n);
    for (size_t i = 0; i < found.n; i++) {
        FUZZ_REQUIRE(found.value[i] >= least * (1 - 1e-9));
        FUZZ_REQUIRE(found.value[i] <= most * (1 + 1e-9));
    }
}

static void require_probability(const struct codec_cluster_samples *samples)
{
    static const struct reachability_prior prior = {
        .mean_time_between_outages_s = 86400, .mean_outage_s = 300, .weight_s = 86400};
    struct reachability found;
    size_t n = outages_join(samples->outages, samples->n_outages, 16);
    FUZZ_REQUIRE(n <= 16 && n <= samples->n_outages);
    reachability_find(samples->outages, n, samples->first_us, samples->newest_us,
                      samples->newest_us > NOW_US ? samples->newest_us : NOW_US, 3600, &prior, 10,
                      &found);
    FUZZ_REQUIRE(found.probability >= 0 && found.probability <= 1);
    FUZZ_REQUIRE(found.downtime_s >= 0);
    FUZZ_REQUIRE(found.downtime_s <= found.observed_s * (1 + 1e-9));
}

void fuzz_body(const struct codec_node *top)
{
    struct codec_cluster_samples samples;
    codec_cluster_samples_decode(top, strview_of("eu"), &limits, &samples);
    bool taken = fuzz_body_is_taken(top);
    if (taken) {
        FUZZ_REQUIRE(samples.first_us <= samples.newest_us);
        require_remembered(samples.processing, samples.n_processing);
        require_remembered(samples.transfers, samples.n_transfers);
        require_probability(&samples);
    }
}
