#include "api/api.h"
#include "api/routes.h"
#include "api/scheduling/slot_profiles.h"
#include "api/shared/reply.h"
#include "codec/scheduling/slot_plan.h"

/* POST /v1/slot-plans: map and reduce slots for a batch of jobs, by the numbers in the request or
 * what recent runs show. */

static enum pv_code plan_decode(void *context,
                                struct http_request *request,
                                struct http_response *response,
                                struct pv_error *err)
{
    static const char *const no_parameters[] = {NULL};
    struct api *api = context;
    const struct codec_slot_plan_limits limits = {.jobs = (size_t)api->config->jobs_max,
                                                  .splits = (size_t)api->config->slot_splits_max};
    struct codec_document body;
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_slot_plan_decode(&body.top, &limits, request->state);
    return codec_close(&body);
}

static enum pv_code plan_load(void *context,
                              struct http_request *request,
                              struct http_response *response,
                              struct pv_error *err)
{
    (void)response;
    return slot_profiles_load(context, request, request->state, err);
}

static enum pv_code plan_answer(void *context,
                                struct http_request *request,
                                struct http_response *response,
                                struct pv_error *err)
{
    const struct codec_slot_plan *asked = request->state;
    struct findings warnings = {.arena = request->arena};
    struct fresh_plan_terms terms;
    struct fresh_plan plan;
    struct writer w;
    (void)context;
    PV_TRY(codec_slot_plan_take(asked, request->arena, &terms, err));
    PV_TRY(fresh_plan_make(&terms, request->arena, &plan, err));
    codec_slot_plan_warn(asked, &plan, &warnings);
    writer_init(&w, request->arena);
    codec_slot_plan_encode(&w, asked, &plan, &warnings);
    return api_reply(response, 200, &w, err);
}

const struct http_call slot_plans_create = {
    .state_bytes = sizeof(struct codec_slot_plan),
    .steps = {{HTTP_BODY, plan_decode}, {HTTP_ANYWHERE, plan_load}, {HTTP_COMPUTE, plan_answer}},
};
