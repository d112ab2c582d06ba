#include "api/api.h"
#include "api/routes.h"
#include "api/scheduling/decision_log.h"
#include "api/scheduling/slot_decision_make.h"
#include "api/shared/reply.h"

/* POST /v1/slot-decisions: what a slot that has come free is to serve; of a log, each in turn. */

static struct codec_slot_decision_limits limits_of(const struct config *config)
{
    return (struct codec_slot_decision_limits){.jobs = (size_t)config->slot_decision_jobs_max};
}

static enum pv_code decide(void *context,
                           struct http_request *request,
                           struct http_response *response,
                           struct pv_error *err)
{
    static const char *const no_parameters[] = {NULL};
    const struct api *api = context;
    const struct codec_slot_decision_limits limits = limits_of(api->config);
    struct codec_slot_decision asked;
    struct slot_decision_made made;
    struct codec_document body;
    struct writer w;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_slot_decision_decode(&body.top, &limits, &asked);
    PV_TRY(codec_close(&body));
    PV_TRY(slot_decision_make(&asked, request->arena, &made, err));
    writer_init(&w, request->arena);
    slot_decision_encode(&w, &asked, &made);
    return api_reply(response, 200, &w, err);
}

static enum http_place begin_at(const struct http_request *request)
{
    (void)request;
    return HTTP_COMPUTE;
}

/* In one step, for whoever asks at every free slot. */
const struct http_call slot_decisions_make = {
    .steps = {{HTTP_BODY, decide}},
    .begins_at = begin_at,
};

/* --- logs --- */

static void decode_line(const struct codec_node *line, const struct config *config, void *decoded)
{
    const struct codec_slot_decision_limits limits = limits_of(config);
    codec_slot_decision_decode(line, &limits, decoded);
}

static enum pv_code decide_line(const void *decoded,
                                bool figures,
                                struct arena *scratch,
                                struct writer *w,
                                struct decision_made *counted,
                                struct pv_error *err)
{
    const struct codec_slot_decision *asked = decoded;
    const struct codec_slot_taken *taken =
        asked->kind == SLOT_DECISION_OMO ? &asked->omo.taken : &asked->fresh.taken;
    struct slot_decision_made made;
    PV_TRY(slot_decision_make(asked, scratch, &made, err));
    codec_slot_action_encode(w, &made.action);
    if (figures) {
        writer_key(w, "decision");
        slot_decision_encode(w, asked, &made);
    }
    *counted = (struct decision_made){
        .kind = codec_slot_decision_kinds[asked->kind],
        .choice = made.action.slot,
        .rule = made.action.rule,
        .recorded = taken->recorded,
        .differs = !codec_slot_taken_is(taken, &made.action),
    };
    return PV_OK;
}

static enum pv_code
begin_log(void *context, struct http_request *request, void **state, struct pv_error *err)
{
    static const struct decision_log_row row = {.line_bytes = sizeof(struct codec_slot_decision),
                                                .decode = decode_line,
                                                .decide = decide_line};
    return decision_log_begin(&row, context, request, state, err);
}

const struct http_stream slot_decisions_replay = {.begin = begin_log,
                                                  .piece = decision_log_piece,
                                                  .finish = decision_log_finish,
                                                  .end = decision_log_end};
