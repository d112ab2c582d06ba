#include "store/usage/usage.h"
#include "api/access/find_team.h"
#include "api/routes.h"
#include "api/shared/reply.h"
#include "api/shared/write.h"
#include "codec/access/access.h"

/* /v1/usage, /v1/teams/{name}/usage and .../quotas: what a team stores, and how much it may. */

static const char *const no_parameters[] = {NULL};

static enum pv_code reply_usage(struct api *api,
                                struct http_request *request,
                                struct store_tx *tx,
                                struct http_response *response,
                                struct pv_error *err)
{
    const struct config *config = api->config;
    const struct usage_most most = {.clusters = config->clusters_max,
                                    .price_books = config->price_books_max,
                                    .workloads = config->workloads_max,
                                    .workload_bytes = config->workload_bytes_max};
    struct usage_list usage = {.n = 0};
    struct writer w;
    PV_TRY(store_usage_list(tx, request->arena, &most, &usage, err));
    writer_init(&w, request->arena);
    codec_usage_encode(&w, &usage);
    http_response_header(request, response, "Cache-Control", "no-store");
    return api_reply(response, 200, &w, err);
}

enum pv_code usage_get(void *context,
                       struct http_request *request,
                       struct http_response *response,
                       struct pv_error *err)
{
    struct api *api = context;
    store_tx_auto_t *tx = NULL;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_read(api, request, &tx, err));
    return reply_usage(api, request, tx, response, err);
}

/* *as: the request as the team of the path would send it; the operators' team alone finds it. */
static enum pv_code as_team(struct api *api,
                            struct http_request *request,
                            struct http_request *as,
                            struct pv_error *err)
{
    bool found;
    *as = *request;
    PV_TRY(api_team_find(api, request, strview_of(http_path_parameter(request, "name")),
                         as->principal.team_id, &found, err));
    return found ? PV_OK : pv_fail(err, PV_E_NOT_FOUND, "there is no such team");
}

enum pv_code team_usage_get(void *context,
                            struct http_request *request,
                            struct http_response *response,
                            struct pv_error *err)
{
    struct api *api = context;
    struct http_request as;
    store_tx_auto_t *tx = NULL;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(as_team(api, request, &as, err));
    PV_TRY(api_read(api, &as, &tx, err));
    return reply_usage(api, request, tx, response, err);
}

enum pv_code team_quotas_put(void *context,
                             struct http_request *request,
                             struct http_response *response,
                             struct pv_error *err)
{
    struct api *api = context;
    struct codec_document body;
    struct team_quotas quotas;
    struct http_request as;
    store_tx_auto_t *tx = NULL;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_team_quotas_decode(&body.top, &quotas);
    PV_TRY(codec_close(&body));
    PV_TRY(as_team(api, request, &as, err));
    PV_TRY(store_begin(api->store, &as.principal, request->request_id, STORE_WRITE, &tx, err));
    PV_TRY(store_quotas_set(tx, QUOTAS_ALL, &quotas, err));
    PV_TRY(reply_usage(api, request, tx, response, err));
    PV_TRY(store_commit(&tx, err));
    quotas_log(http_path_parameter(request, "name"), request->request_id, QUOTAS_ALL, &quotas);
    return PV_OK;
}
