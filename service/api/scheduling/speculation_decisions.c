#include "api/api.h"
#include "api/routes.h"
#include "api/shared/reply.h"
#include "codec/scheduling/speculation.h"

/* POST /v1/speculation-decisions: which slow task gets a second copy, by the state in the request. */

static enum pv_code decide_decode(void *context,
                                  struct http_request *request,
                                  struct http_response *response,
                                  struct pv_error *err)
{
    static const char *const no_parameters[] = {NULL};
    const struct api *api = context;
    const struct codec_speculation_limits limits = {
        .nodes = (size_t)api->config->speculation_nodes_max,
        .tasks = (size_t)api->config->speculation_tasks_max,
        .types = (size_t)api->config->speculation_types_max,
        .auto_nodes = (size_t)api->config->speculation_auto_nodes_max,
    };
    struct codec_document body;
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_speculation_decode(&body.top, &limits, request->state);
    return codec_close(&body);
}

static enum pv_code decide_esplash(const struct codec_speculation *asked,
                                   const struct speculation_gaps *gaps,
                                   struct arena *arena,
                                   struct writer *w,
                                   struct pv_error *err)
{
    struct findings warnings = {.arena = arena};
    struct esplash_decision decision;
    struct node_levels levels;
    if (asked->level != NULL)
        levels = node_levels_given(asked->level, asked->n_nodes);
    else
        PV_TRY(node_levels_find(&asked->cluster, asked->level_count, arena, &levels, err));
    PV_TRY(esplash_decide(&asked->cluster, &levels, &asked->terms, arena, &decision, err));
    codec_speculation_warn(asked, &levels, gaps, &warnings);
    codec_esplash_encode(w, asked, &levels, &decision, &warnings);
    return PV_OK;
}

static enum pv_code decide_late(const struct codec_speculation *asked,
                                const struct speculation_gaps *gaps,
                                struct arena *arena,
                                struct writer *w,
                                struct pv_error *err)
{
    struct findings warnings = {.arena = arena};
    struct late_decision decision;
    PV_TRY(late_decide(&asked->cluster, arena, &decision, err));
    codec_speculation_warn(asked, NULL, gaps, &warnings);
    codec_late_encode(w, asked, &decision, &warnings);
    return PV_OK;
}

static enum pv_code decide_answer(void *context,
                                  struct http_request *request,
                                  struct http_response *response,
                                  struct pv_error *err)
{
    const struct codec_speculation *asked = request->state;
    struct speculation_gaps gaps;
    struct writer w;
    (void)context;
    writer_init(&w, request->arena);
    PV_TRY(speculation_find_gaps(&asked->cluster, request->arena, &gaps, err));
    if (asked->kind == CODEC_SPECULATION_ESPLASH)
        PV_TRY(decide_esplash(asked, &gaps, request->arena, &w, err));
    else
        PV_TRY(decide_late(asked, &gaps, request->arena, &w, err));
    return api_reply(response, 200, &w, err);
}

const struct http_call speculation_decide = {
    .state_bytes = sizeof(struct codec_speculation),
    .steps = {{HTTP_BODY, decide_decode}, {HTTP_COMPUTE, decide_answer}},
};
