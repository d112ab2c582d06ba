#include "api/api.h"
#include "api/routes.h"
#include "api/scheduling/decision_log.h"
#include "api/scheduling/slot_decision_make.h"
#include "api/scheduling/state_history.h"
#include "api/shared/reply.h"
#include "base/quantity_text.h"
#include "base/rounding.h"

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

/* The line before. */
struct slot_memory {
    struct state_history jobs;
    bool has_clock;
    double now_s;
};

static void check_clock(struct slot_memory *memory, double now_s, struct findings *warnings)
{
    if (memory->has_clock && now_s < memory->now_s && !rounding_equal(now_s, memory->now_s)) {
        struct finding *finding =
            finding_add(warnings, "now_fell", "It is %s s, and was %s s in the state before.",
                        quantity_digits(now_s, 9).text, quantity_digits(memory->now_s, 9).text);
        finding_number(finding, "now_s", now_s);
        finding_number(finding, "before_s", memory->now_s);
    }
    memory->has_clock = true;
    memory->now_s = now_s;
}

static struct state_item finished_of(struct strview name, size_t maps, size_t reduces)
{
    return (struct state_item){name, {(double)maps, (double)reduces}};
}

/* Clocks do not go back, and what has finished remains so. */
static enum pv_code follow_line(const void *decoded,
                                void *memory,
                                struct arena *scratch,
                                struct findings *warnings,
                                struct pv_error *err)
{
    static const struct state_words words = {
        .of = "job",
        .code = {"maps_finished_fell", "reduces_finished_fell"},
        .what = {"the number of finished maps", "the number of finished reduces"},
    };
    const struct codec_slot_decision *asked = decoded;
    struct slot_memory *before = memory;
    bool omo = asked->kind == SLOT_DECISION_OMO;
    size_t n = omo ? asked->omo.n : asked->fresh.n;
    struct state_item *jobs = arena_array(scratch, n, sizeof *jobs);
    if (jobs == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; omo && i < n; i++)
        jobs[i] = finished_of(asked->omo.jobs[i].name, asked->omo.jobs[i].job.maps_finished,
                              asked->omo.jobs[i].job.reduces_finished);
    for (size_t i = 0; !omo && i < n; i++)
        jobs[i] = finished_of(asked->fresh.jobs[i].name, asked->fresh.jobs[i].job.maps_finished,
                              asked->fresh.jobs[i].job.reduces_finished);
    if (!omo)
        check_clock(before, asked->fresh.now_s, warnings);
    return state_history_follow(&before->jobs, &words, jobs, n, warnings, err);
}

static void forget_lines(void *memory)
{
    struct slot_memory *before = memory;
    state_history_forget(&before->jobs);
}

static enum pv_code
begin_log(void *context, struct http_request *request, void **state, struct pv_error *err)
{
    static const struct decision_log_row row = {.line_bytes = sizeof(struct codec_slot_decision),
                                                .memory_bytes = sizeof(struct slot_memory),
                                                .decode = decode_line,
                                                .decide = decide_line,
                                                .follow = follow_line,
                                                .forget = forget_lines};
    return decision_log_begin(&row, context, request, state, err);
}

const struct http_stream slot_decisions_replay = {.begin = begin_log,
                                                  .piece = decision_log_piece,
                                                  .finish = decision_log_finish,
                                                  .end = decision_log_end};
