#include "api/api.h"
#include "api/routes.h"
#include "api/shared/reply.h"
#include "codec/scheduling/pigeon_plan.h"

/* POST /v1/pigeon-plans: group sizes for Pigeon, by the numbers in the request. */

static enum pv_code plan_decode(void *context,
                                struct http_request *request,
                                struct http_response *response,
                                struct pv_error *err)
{
    static const char *const no_parameters[] = {NULL};
    struct api *api = context;
    struct codec_document body;
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_pigeon_plan_decode(&body.top, request->state);
    return codec_close(&body);
}

static enum pv_code plan_answer(void *context,
                                struct http_request *request,
                                struct http_response *response,
                                struct pv_error *err)
{
    const struct codec_pigeon_plan *asked = request->state;
    struct findings warnings = {.arena = request->arena};
    struct writer w;
    bool meets;
    (void)context;
    struct pigeon_candidate *candidates = arena_array(request->arena, asked->n, sizeof *candidates);
    if (candidates == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < asked->n; i++)
        candidates[i] = pigeon_candidate_of(&asked->terms, asked->group_sizes[i]);
    size_t recommended = pigeon_recommend(&asked->terms, candidates, asked->n, &meets);
    pigeon_plan_warn(&asked->terms, &candidates[recommended], meets, &warnings);
    writer_init(&w, request->arena);
    codec_pigeon_plan_encode(&w, asked, candidates, recommended, meets, &warnings);
    return api_reply(response, 200, &w, err);
}

const struct http_call pigeon_plans_create = {
    .state_bytes = sizeof(struct codec_pigeon_plan),
    .steps = {{HTTP_BODY, plan_decode}, {HTTP_COMPUTE, plan_answer}},
};
