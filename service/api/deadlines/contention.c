#include "codec/deadlines/contention.h"

#include <math.h>

#include "api/api.h"
#include "api/clusters/named_cluster.h"
#include "api/handlers.h"
#include "api/shared/reply.h"

/* POST /v1/contention: one supervisor step over the numbers in the request. */

static enum pv_code decode(const struct config *config,
                           struct http_request *request,
                           struct codec_contention *asked,
                           struct pv_error *err)
{
    const struct codec_contention_limits limits = {.applications = (size_t)config->jobs_max,
                                                   .cores = (double)config->cores_max};
    json_t *json = NULL;
    enum pv_code code = api_parse(config, request, &json, err);
    if (code != PV_OK)
        return code;
    struct codec_reader reader = {request->arena, err};
    struct codec_node top = codec_top(&reader, json);
    codec_contention_decode(&top, &limits, asked);
    json_decref(json);
    return codec_result(&reader);
}

/* All cores of the cluster that is named, where the request does not tell how many. */
static enum pv_code load_cluster(struct api *api,
                                 struct http_request *request,
                                 struct codec_contention *asked,
                                 struct pv_error *err)
{
    static const char at[] = "/cluster";
    struct cluster cluster;
    int64_t cores = 0;
    enum pv_code code = named_cluster_load(api, request, asked->cluster, at, &cluster, err);
    if (code != PV_OK || !isnan(asked->terms.max_cores))
        return code;
    int64_t executors = cluster.traits.executors;
    int64_t each = cluster.traits.cores_per_executor;
    code = named_cluster_need(&cluster, executors, "executors", at, err);
    if (code == PV_OK)
        code = named_cluster_need(&cluster, each, "cores_per_executor", at, err);
    if (code == PV_OK)
        code = named_cluster_cores(api, executors, each, at, &cores, err);
    asked->terms.max_cores = (double)cores;
    return code;
}

enum pv_code contention_share(void *context,
                              struct http_request *request,
                              struct http_response *response,
                              struct pv_error *err)
{
    struct api *api = context;
    static const char *const no_parameters[] = {NULL};
    struct codec_contention asked;
    struct contention_outcome outcome;
    enum pv_code code = http_check_query(request, no_parameters, err);
    if (code == PV_OK)
        code = decode(api->config, request, &asked, err);
    if (code == PV_OK && asked.cluster.at != NULL)
        code = load_cluster(api, request, &asked, err);
    if (code != PV_OK)
        return code;
    struct contention_share *shares = arena_array(request->arena, asked.n, sizeof *shares);
    if (shares == NULL)
        return pv_no_memory(err);
    code = contention_resolve(asked.strategy, &asked.terms, asked.applications, asked.n,
                              request->arena, shares, &outcome, err);
    if (code != PV_OK)
        return code;
    struct writer w;
    writer_init(&w, request->arena);
    codec_contention_encode(&w, &asked, shares, &outcome);
    return api_reply(response, 200, &w, err);
}
