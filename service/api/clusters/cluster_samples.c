#include <stdio.h>
#include <stdlib.h>

#include "api/clusters/performance_settings.h"
#include "api/routes.h"
#include "api/shared/reply.h"
#include "api/shared/write.h"
#include "base/plural.h"
#include "codec/clusters/cluster_samples.h"
#include "store/clusters/performance.h"
#include "threads/clock.h"

/* POST /v1/clusters/{name}/samples: what a cluster reports is added to what is known of it. */

static enum pv_code cluster_samples_decode(struct api *api,
                                           struct http_request *request,
                                           int64_t now_us,
                                           struct codec_cluster_samples *samples,
                                           struct pv_error *err)
{
    const struct codec_cluster_samples_limits limits = {.samples = (size_t)api->config->samples_max,
                                                        .now_us = now_us,
                                                        .ahead_us =
                                                            api->config->samples_ahead_s * 1000000};
    struct codec_document body;
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_cluster_samples_decode(&body.top, strview_of(http_path_parameter(request, "name")),
                                 &limits, samples);
    return codec_close(&body);
}

/* --- names, each once --- */

static int by_name(const void *a, const void *b)
{
    const struct codec_speed *x = a;
    const struct codec_speed *y = b;
    int order = memcmp(x->of.at, y->of.at, x->of.n < y->of.n ? x->of.n : y->of.n);
    if (order == 0)
        order = (x->of.n > y->of.n) - (x->of.n < y->of.n);
    return order != 0 ? order : (x->item > y->item) - (x->item < y->item);
}

/* Speeds of the same name come to lie side by side. NULL when memory is exhausted. */
static struct strview *
gather_names(struct arena *arena, struct codec_speed speeds[], size_t n, size_t *n_names)
{
    struct strview *names = arena_array(arena, n, sizeof *names);
    *n_names = 0;
    if (n > 0)
        qsort(speeds, n, sizeof *speeds, by_name);
    for (size_t i = 0; names != NULL && i < n; i++)
        if (i == 0 || !strview_equal(speeds[i - 1].of, speeds[i].of))
            names[(*n_names)++] = speeds[i].of;
    return names;
}

static enum pv_code name_all(struct api *api,
                             struct http_request *request,
                             int64_t now_us,
                             const struct codec_cluster_samples *samples,
                             struct performance_named *named,
                             struct pv_error *err)
{
    *named = (struct performance_named){.cluster = strview_of(http_path_parameter(request, "name")),
                                        .first_us = samples->first_us,
                                        .newest_us = samples->newest_us,
                                        .now_us = now_us,
                                        .outage_half_life_s = api->config->outage_half_life_s};
    named->operations = gather_names(request->arena, samples->processing, samples->n_processing,
                                     &named->n_operations);
    named->senders =
        gather_names(request->arena, samples->transfers, samples->n_transfers, &named->n_senders);
    return named->operations != NULL && named->senders != NULL ? PV_OK : pv_no_memory(err);
}

/* --- adding --- */

/* Speeds in the order of the names; what is forgotten on arrival leaves nothing behind. */
static void add_speeds(const struct performance_terms *terms,
                       const struct codec_speed speeds[],
                       size_t n,
                       int64_t now_us,
                       struct performance kept[])
{
    for (size_t i = 0, at = 0; i < n; i++) {
        struct performance one;
        at += i > 0 && !strview_equal(speeds[i - 1].of, speeds[i].of);
        performance_init(&one);
        performance_add(&one, terms, &speeds[i].sample);
        if (performance_weight(&one, now_us) > 0)
            performance_merge(&kept[at], terms, &one);
    }
}

static enum pv_code add_outages(struct arena *arena,
                                const struct codec_cluster_samples *samples,
                                size_t most,
                                struct performance_held *held,
                                struct pv_error *err)
{
    size_t n = held->n_outages + samples->n_outages;
    struct outage *all = arena_array(arena, n, sizeof *all);
    if (all == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        all[i] = i < held->n_outages ? held->outages[i] : samples->outages[i - held->n_outages];
    held->outages = all;
    held->n_outages = outages_join(all, n, most);
    return PV_OK;
}

/* Of each name the first item that has it. */
static enum pv_code refuse_unknown(const struct codec_cluster_samples *samples,
                                   const struct performance_held *held,
                                   struct pv_error *err)
{
    enum pv_code code = PV_OK;
    for (size_t i = 0, at = 0; i < samples->n_transfers; i++) {
        const struct codec_speed *speed = &samples->transfers[i];
        bool new_name = i == 0 || !strview_equal(speed[-1].of, speed->of);
        char pointer[64];
        at += i > 0 && new_name;
        if (!new_name || held->from_ids[at][0] != '\0')
            continue;
        (void)snprintf(pointer, sizeof pointer, "/transfers/%zu/from", speed->item);
        code = pv_fault(err, PV_PLACE_POINTER, pointer, "unknown_cluster",
                        "there is no cluster \"%.*s\"", (int)strview_clip(speed->of, 80).n,
                        speed->of.at);
    }
    return code;
}

static enum pv_code refuse_beyond(const struct config *config,
                                  const struct performance_named *named,
                                  const struct performance_held *held,
                                  struct pv_error *err)
{
    enum pv_code code = PV_OK;
    if (named->n_operations > 0 && held->operations > config->sampled_operations_max)
        code = pv_fault(err, PV_PLACE_POINTER, "/processing", "too_many_operations",
                        "the cluster would have %lld operations, more than %lld "
                        "(sampled_operations_max)",
                        (long long)held->operations, (long long)config->sampled_operations_max);
    if (named->n_senders > 0 && held->senders > config->sampled_senders_max)
        code = pv_fault(err, PV_PLACE_POINTER, "/transfers", "too_many_senders",
                        "transfers from %lld cluster%s would be kept, more than %lld "
                        "(sampled_senders_max)",
                        (long long)held->senders, PLURAL(held->senders),
                        (long long)config->sampled_senders_max);
    return code;
}

/* The transaction up to its commit. */
static enum pv_code api_cluster_samples_add(struct api *api,
                                            struct http_request *request,
                                            struct store_tx *tx,
                                            const struct performance_named *named,
                                            const struct codec_cluster_samples *samples,
                                            struct pv_error *err)
{
    struct performance_held held = {.cluster_id = ""};
    const struct performance_terms terms = performance_settings_terms(api->config);
    bool found = false;
    PV_TRY(store_performance_hold(tx, request->arena, named, &held, &found, err));
    if (!found)
        return pv_fail(err, PV_E_NOT_FOUND, "there is no cluster of that name");
    PV_TRY(refuse_unknown(samples, &held, err));
    PV_TRY(refuse_beyond(api->config, named, &held, err));
    add_speeds(&terms, samples->processing, samples->n_processing, named->now_us, held.processing);
    add_speeds(&terms, samples->transfers, samples->n_transfers, named->now_us, held.transfers);
    PV_TRY(add_outages(request->arena, samples, (size_t)api->config->outages_max, &held, err));
    return store_performance_save(tx, named, &held, err);
}

/* What the samples are, and whose. */
struct samples_sent {
    struct codec_cluster_samples samples;
    struct performance_named named;
};

static enum pv_code samples_decode(void *context,
                                   struct http_request *request,
                                   struct http_response *response,
                                   struct pv_error *err)
{
    static const char *const no_parameters[] = {NULL};
    struct samples_sent *sent = request->state;
    int64_t now_us = clock_wall_us();
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(cluster_samples_decode(context, request, now_us, &sent->samples, err));
    return name_all(context, request, now_us, &sent->samples, &sent->named, err);
}

static enum pv_code samples_store(void *context,
                                  struct http_request *request,
                                  struct http_response *response,
                                  struct pv_error *err)
{
    const struct samples_sent *sent = request->state;
    api_write_auto_t write = {0};
    bool replayed = false;
    PV_TRY(api_write_begin(context, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(api_cluster_samples_add(context, request, write.tx, &sent->named, &sent->samples, err));
    api_reply_empty(response);
    return api_write_commit(request, response, &write, err);
}

const struct http_call cluster_samples_add = {
    .state_bytes = sizeof(struct samples_sent),
    .steps = {{HTTP_BODY, samples_decode}, {HTTP_IO, samples_store}},
};
