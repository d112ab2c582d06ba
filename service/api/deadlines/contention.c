#include "codec/deadlines/contention.h"

#include <math.h>

#include "api/api.h"
#include "api/clusters/named_cluster.h"
#include "api/routes.h"
#include "api/shared/reply.h"
#include "core/deadline/explain.h"

/* POST /v1/contention: one supervisor step over the numbers in the request. */

static enum pv_code contention_decode(const struct config *config,
                                      struct http_request *request,
                                      struct codec_contention *asked,
                                      struct pv_error *err)
{
    const struct codec_contention_limits limits = {.applications = (size_t)config->jobs_max,
                                                   .cores = config->cores_max};
    struct codec_document body;
    PV_TRY(api_body_open(config, request, &body, err));
    codec_contention_decode(&body.top, &limits, asked);
    return codec_close(&body);
}

/* All cores of the cluster that is named, where the request does not say how many. */
static enum pv_code load_cluster(struct api *api,
                                 struct http_request *request,
                                 struct codec_contention *asked,
                                 struct pv_error *err)
{
    static const char at[] = "/cluster";
    struct cluster cluster;
    int64_t cores = 0;
    PV_TRY(given_cluster_load(api, request, &asked->cluster, at, &cluster, err));
    if (!isnan(asked->terms.max_cores))
        return PV_OK;
    int64_t executors = cluster.traits.executors;
    int64_t each = cluster.traits.cores_per_executor;
    PV_TRY(cluster_need(&cluster, executors, "executors", at, err));
    PV_TRY(cluster_need(&cluster, each, "cores_per_executor", at, err));
    PV_TRY(cluster_count_cores(executors, each, api->config->cores_max, at, &cores, err));
    asked->terms.max_cores = (double)cores;
    return PV_OK;
}

static enum pv_code share_decode(void *context,
                                 struct http_request *request,
                                 struct http_response *response,
                                 struct pv_error *err)
{
    static const char *const no_parameters[] = {NULL};
    struct api *api = context;
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    return contention_decode(api->config, request, request->state, err);
}

static enum pv_code share_load(void *context,
                               struct http_request *request,
                               struct http_response *response,
                               struct pv_error *err)
{
    struct codec_contention *asked = request->state;
    (void)response;
    if (asked->cluster.name.at == NULL && asked->cluster.sized == NULL)
        return PV_OK;
    return load_cluster(context, request, asked, err);
}

static enum pv_code share_answer(void *context,
                                 struct http_request *request,
                                 struct http_response *response,
                                 struct pv_error *err)
{
    const struct codec_contention *asked = request->state;
    struct contention_outcome outcome;
    struct writer w;
    (void)context;
    struct contention_share *shares = arena_array(request->arena, asked->n, sizeof *shares);
    if (shares == NULL)
        return pv_no_memory(err);
    PV_TRY(contention_resolve(asked->strategy, &asked->terms, asked->applications, asked->n,
                              request->arena, shares, &outcome, err));
    writer_init(&w, request->arena);
    struct findings reasons = {.arena = request->arena};
    contention_explain(asked->strategy, &asked->terms, &outcome, &reasons);
    codec_contention_encode(&w, asked, shares, &outcome, &reasons);
    return api_reply(response, 200, &w, err);
}

const struct http_call contention_share = {
    .state_bytes = sizeof(struct codec_contention),
    .steps = {{HTTP_BODY, share_decode}, {HTTP_ANYWHERE, share_load}, {HTTP_COMPUTE, share_answer}},
};
