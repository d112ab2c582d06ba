#include "api/operations/operation_accept.h"
#include "api/routes.h"
#include "api/shared/reply.h"
#include "api/shared/write.h"
#include "api/simulations/simulation_run.h"
#include "api/simulations/workload_jobs.h"
#include "codec/scheduling/policy_comparison.h"

/* POST /v1/simulations. The request is checked as a whole and stored with all defaults; the work is
 * an operation (simulation_run.c). */

struct simulations_call {
    struct strview text; /* of what is to be done */
    char workload[37];   /* that it names; "": none */
};

/* The body, or its text again once the workload is known, to the text with all defaults. */
static enum pv_code simulations_read(const struct api *api,
                                     const struct codec_node *top,
                                     const struct workload_summary *workload,
                                     struct simulations_call *call,
                                     struct pv_error *err)
{
    struct writer w;
    const struct simulation_kind *kind = simulation_kind_decode(top);
    if (kind == NULL)
        return PV_OK; /* a fault */
    writer_init(&w, top->reader->arena);
    PV_TRY(kind->read(top, api->config, workload, &w, err));
    if (kind->has_workloads)
        (void)codec_comparison_find_workload(top, call->workload);
    call->text.at = writer_finish(&w, &call->text.n);
    return call->text.at == NULL ? pv_no_memory(err) : PV_OK;
}

static enum pv_code simulations_create_decode(void *context,
                                              struct http_request *request,
                                              struct http_response *response,
                                              struct pv_error *err)
{
    static const char *const no_parameters[] = {NULL};
    const struct api *api = context;
    struct codec_document body;
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_body_open(api->config, request, &body, err));
    enum pv_code code = simulations_read(api, &body.top, NULL, request->state, err);
    enum pv_code closed = codec_close(&body);
    return code != PV_OK ? code : closed;
}

/* What depends on the workload is checked when it is known: its jobs are counted there, not here. A
 * repetition is answered as before, whatever has become of the workload since. */
static enum pv_code simulations_check_workload(void *context,
                                               struct http_request *request,
                                               struct http_response *response,
                                               struct pv_error *err)
{
    struct simulations_call *call = request->state;
    store_tx_auto_t *tx = NULL;
    struct workload_summary workload;
    struct codec_document document;
    bool replayed = false;
    if (call->workload[0] == '\0')
        return PV_OK;
    PV_TRY(http_move(request, HTTP_IO));
    PV_TRY(api_write_replay(context, request, response, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(api_read(context, request, &tx, err));
    PV_TRY(workload_jobs_look_up(tx, request->arena, call->workload, &workload, err));
    store_rollback(&tx);
    PV_TRY(simulation_open(call->text, request->arena, &document, err));
    enum pv_code code = simulations_read(context, &document.top, &workload, call, err);
    enum pv_code closed = codec_close(&document);
    return code != PV_OK ? code : closed;
}

static enum pv_code simulations_create_accept(void *context,
                                              struct http_request *request,
                                              struct http_response *response,
                                              struct pv_error *err)
{
    const struct simulations_call *call = request->state;
    const struct operation_request wanted = {.kind = "simulation", .request = call->text};
    return api_operation_accept(context, request, response, &wanted, err);
}

const struct http_call simulations_create = {
    .state_bytes = sizeof(struct simulations_call),
    .steps = {{HTTP_BODY, simulations_create_decode},
              {HTTP_ANYWHERE, simulations_check_workload},
              {HTTP_IO, simulations_create_accept}},
};
