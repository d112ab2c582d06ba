#include "api/deadlines/control_run.h"
#include "api/deadlines/job_set_load.h"
#include "api/operations/operation_accept.h"
#include "api/routes.h"
#include "api/shared/reply.h"
#include "base/quantity_text.h"

/* POST /v1/control-simulations. What takes few steps is answered at once; the rest is queued as an
 * operation (control_run.c), with its request checked as a whole and all defaults filled in. */

struct control_call {
    struct codec_control asked;
    struct strview text; /* of the operation's request, where there is to be one */
};

/* One that turns out to take so many times the steps of those answered at once becomes an operation
 * after all. */
enum { INLINE_SLACK = 4 };

static enum pv_code control_decode(void *context,
                                   struct http_request *request,
                                   struct http_response *response,
                                   struct pv_error *err)
{
    static const char *const no_parameters[] = {NULL};
    const struct api *api = context;
    struct control_call *call = request->state;
    const struct codec_control_limits limits = {
        .set = {.jobs = (size_t)api->config->jobs_max,
                .stages = (size_t)api->config->stages_max,
                .tasks = (size_t)api->config->tasks_max,
                .cores = api->config->cores_max},
        .repetitions = api->config->control_repetitions_max,
        .simulations = api->config->control_search_simulations_max,
    };
    struct codec_document body;
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_control_decode(&body.top, &limits, &call->asked);
    return codec_close(&body);
}

static enum pv_code control_load(void *context,
                                 struct http_request *request,
                                 struct http_response *response,
                                 struct pv_error *err)
{
    struct control_call *call = request->state;
    (void)response;
    PV_TRY(job_set_load_cluster(context, request, &call->asked.set, err));
    return job_set_load_jobs(context, request, &call->asked.set, err);
}

static enum pv_code
control_queue(struct control_call *call, struct arena *arena, struct pv_error *err)
{
    struct writer w;
    writer_init(&w, arena);
    codec_control_encode(&w, &call->asked);
    call->text.at = writer_finish(&w, &call->text.n);
    return call->text.at == NULL ? pv_no_memory(err) : PV_OK;
}

/* The answer, or the text of the operation that is to find it. */
static enum pv_code control_compute(void *context,
                                    struct http_request *request,
                                    struct http_response *response,
                                    struct pv_error *err)
{
    const struct config *config = ((const struct api *)context)->config;
    struct control_call *call = request->state;
    const struct control_answer answer = {.asked = &call->asked,
                                          .steps_max =
                                              INLINE_SLACK * (double)config->control_inline_steps,
                                          .arena = request->arena};
    struct pv_error why = {0};
    struct writer w;
    double steps = 0;
    PV_TRY(job_set_make_jobs(config, request->arena, &call->asked.set, err));
    PV_TRY(control_take_rates(&call->asked, err));
    PV_TRY(control_check_size(config, &call->asked, err));
    PV_TRY(control_estimate(config, &answer, &steps, err));
    if (!(steps <= (double)config->control_steps_max))
        return pv_fault(err, PV_PLACE_POINTER, "/jobs", "too_large",
                        "the number of steps would be about %s, above %lld (control_steps_max): "
                        "ask for fewer strategies or gammas%s, or sample less often",
                        quantity_digits(steps, 3).text, (long long)config->control_steps_max,
                        call->asked.stakes == NULL ? "" : ", repetitions or simulations");
    if (steps > (double)config->control_inline_steps)
        return control_queue(call, request->arena, err);
    writer_init(&w, request->arena);
    enum pv_code code = control_answer_write(config, &answer, &w, &why);
    if (code == PV_E_LIMIT)
        return control_queue(call, request->arena, err);
    if (code != PV_OK)
        return pv_fail(err, code, "%s", why.detail);
    return api_reply(response, 200, &w, err);
}

static enum pv_code control_accept(void *context,
                                   struct http_request *request,
                                   struct http_response *response,
                                   struct pv_error *err)
{
    const struct control_call *call = request->state;
    const struct operation_request wanted = {.kind = "control_simulation", .request = call->text};
    return api_operation_accept(context, request, response, &wanted, err);
}

const struct http_call control_simulations_create = {
    .state_bytes = sizeof(struct control_call),
    .steps = {{HTTP_BODY, control_decode},
              {HTTP_ANYWHERE, control_load},
              {HTTP_COMPUTE, control_compute},
              {HTTP_IO, control_accept}},
};
