#include "api/api.h"
#include "api/routes.h"
#include "api/shared/reply.h"
#include "codec/deadlines/memory_plan.h"
#include "core/deadline/explain.h"

/* POST /v1/memory-plans: the memory of one worker, by the numbers in the request. */

static enum pv_code plan_decode(void *context,
                                struct http_request *request,
                                struct http_response *response,
                                struct pv_error *err)
{
    static const char *const no_parameters[] = {NULL};
    struct api *api = context;
    const struct codec_memory_plan_limits limits = {
        .applications = (size_t)api->config->memory_plan_applications_max};
    struct codec_document body;
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_memory_plan_decode(&body.top, &limits, request->state);
    return codec_close(&body);
}

static enum pv_code plan_answer(void *context,
                                struct http_request *request,
                                struct http_response *response,
                                struct pv_error *err)
{
    const struct codec_memory_plan *asked = request->state;
    struct findings warnings = {.arena = request->arena};
    struct worker_memory plan;
    struct writer w;
    (void)context;
    struct worker_memory_share *shares = arena_array(request->arena, asked->n, sizeof *shares);
    if (shares == NULL)
        return pv_no_memory(err);
    PV_TRY(worker_memory_share_out(asked->system_bytes, (enum worker_memory_order)asked->order,
                                   asked->applications, asked->n, request->arena, shares, &plan,
                                   err));
    worker_memory_warn(asked->names, asked->applications, asked->n, asked->system_bytes, &plan,
                       &warnings);
    writer_init(&w, request->arena);
    codec_memory_plan_encode(&w, asked, shares, &plan, &warnings);
    return api_reply(response, 200, &w, err);
}

const struct http_call memory_plans_create = {
    .state_bytes = sizeof(struct codec_memory_plan),
    .steps = {{HTTP_BODY, plan_decode}, {HTTP_COMPUTE, plan_answer}},
};
