#include "api/api.h"
#include "api/routes.h"
#include "api/scheduling/decision_log.h"
#include "api/scheduling/speculation_make.h"
#include "api/scheduling/state_history.h"
#include "api/shared/reply.h"

/* POST /v1/speculation-decisions: which slow task gets a second copy; of a log, in each state. */

static struct codec_speculation_limits limits_of(const struct config *config)
{
    return (struct codec_speculation_limits){
        .nodes = (size_t)config->speculation_nodes_max,
        .tasks = (size_t)config->speculation_tasks_max,
        .types = (size_t)config->speculation_types_max,
        .auto_nodes = (size_t)config->speculation_auto_nodes_max,
    };
}

static enum pv_code decide_decode(void *context,
                                  struct http_request *request,
                                  struct http_response *response,
                                  struct pv_error *err)
{
    static const char *const no_parameters[] = {NULL};
    const struct api *api = context;
    const struct codec_speculation_limits limits = limits_of(api->config);
    struct codec_document body;
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_speculation_decode(&body.top, &limits, request->state);
    return codec_close(&body);
}

static enum pv_code decide_answer(void *context,
                                  struct http_request *request,
                                  struct http_response *response,
                                  struct pv_error *err)
{
    const struct codec_speculation *asked = request->state;
    struct speculation_made made;
    struct writer w;
    (void)context;
    PV_TRY(speculation_make(asked, request->arena, &made, err));
    writer_init(&w, request->arena);
    speculation_encode(&w, asked, &made);
    return api_reply(response, 200, &w, err);
}

const struct http_call speculation_decide = {
    .state_bytes = sizeof(struct codec_speculation),
    .steps = {{HTTP_BODY, decide_decode}, {HTTP_COMPUTE, decide_answer}},
};

/* --- logs --- */

static void decode_line(const struct codec_node *line, const struct config *config, void *decoded)
{
    const struct codec_speculation_limits limits = limits_of(config);
    codec_speculation_decode(line, &limits, decoded);
}

static enum pv_code decide_line(const void *decoded,
                                bool figures,
                                struct arena *scratch,
                                struct writer *w,
                                struct decision_made *counted,
                                struct pv_error *err)
{
    const struct codec_speculation *asked = decoded;
    struct speculation_made made;
    PV_TRY(speculation_make(asked, scratch, &made, err));
    speculation_encode_action(w, asked, &made);
    if (figures) {
        writer_key(w, "decision");
        speculation_encode(w, asked, &made);
    }
    struct codec_speculation_action action = asked->kind == CODEC_SPECULATION_ESPLASH
                                                 ? codec_esplash_action(asked, &made.esplash)
                                                 : codec_late_action(asked, &made.late);
    *counted = (struct decision_made){
        .kind = codec_speculation_kinds[asked->kind],
        .choice = action.task.at != NULL ? "copy" : "none",
        .recorded = asked->has_taken,
        .differs = asked->has_taken && !codec_speculation_taken_is(&asked->taken, &action),
    };
    return PV_OK;
}

/* A task that runs in two states has neither lost progress nor become younger. */
static enum pv_code follow_line(const void *decoded,
                                void *memory,
                                struct arena *scratch,
                                struct findings *warnings,
                                struct pv_error *err)
{
    static const struct state_words words = {
        .of = "task",
        .code = {"progress_fell", "elapsed_fell"},
        .what = {"the progress", "the time so far"},
    };
    const struct codec_speculation *asked = decoded;
    size_t n = 0;
    for (size_t i = 0; i < asked->n_nodes; i++)
        n += asked->nodes[i].n_running;
    struct state_item *tasks = arena_array(scratch, n, sizeof *tasks);
    if (tasks == NULL)
        return pv_no_memory(err);
    n = 0;
    for (size_t i = 0; i < asked->n_nodes; i++) {
        for (size_t t = 0; t < asked->nodes[i].n_running; t++) {
            const struct codec_speculation_task *task = &asked->nodes[i].running[t];
            tasks[n++] = (struct state_item){task->id, {task->progress, task->elapsed_s}};
        }
    }
    return state_history_follow(memory, &words, tasks, n, warnings, err);
}

static void forget_lines(void *memory)
{
    state_history_forget(memory);
}

static enum pv_code
begin_log(void *context, struct http_request *request, void **state, struct pv_error *err)
{
    static const struct decision_log_row row = {
        .line_bytes = sizeof(struct codec_speculation),
        .memory_bytes = sizeof(struct state_history),
        .decode = decode_line,
        .decide = decide_line,
        .follow = follow_line,
        .forget = forget_lines,
    };
    return decision_log_begin(&row, context, request, state, err);
}

const struct http_stream speculation_replay = {.begin = begin_log,
                                               .piece = decision_log_piece,
                                               .finish = decision_log_finish,
                                               .end = decision_log_end};
