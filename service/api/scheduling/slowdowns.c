#include "api/api.h"
#include "api/routes.h"
#include "api/shared/reply.h"
#include "codec/scheduling/slowdown.h"

/* POST /v1/slowdowns: slowdowns of finished jobs, by the numbers in the request. */

static enum pv_code summarize_decode(void *context,
                                     struct http_request *request,
                                     struct http_response *response,
                                     struct pv_error *err)
{
    static const char *const no_parameters[] = {NULL};
    struct api *api = context;
    const struct codec_slowdown_limits limits = {.jobs = (size_t)api->config->slowdown_jobs_max};
    struct codec_document body;
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_slowdown_decode(&body.top, &limits, request->state);
    return codec_close(&body);
}

static enum pv_code summarize_answer(void *context,
                                     struct http_request *request,
                                     struct http_response *response,
                                     struct pv_error *err)
{
    const struct codec_slowdown *asked = request->state;
    struct findings warnings = {.arena = request->arena};
    struct slowdown_summary summary;
    struct writer w;
    (void)context;
    PV_TRY(slowdown_summarize(asked->jobs, asked->n, asked->percentiles, asked->n_percentiles,
                              request->arena, &summary, err));
    slowdown_warn(&summary, &warnings);
    writer_init(&w, request->arena);
    codec_slowdown_encode(&w, asked, &summary, &warnings);
    return api_reply(response, 200, &w, err);
}

const struct http_call slowdowns_summarize = {
    .state_bytes = sizeof(struct codec_slowdown),
    .steps = {{HTTP_BODY, summarize_decode}, {HTTP_COMPUTE, summarize_answer}},
};
