#include "api/operations/operation_accept.h"
#include "api/routes.h"
#include "api/shared/reply.h"
#include "api/simulations/simulation_run.h"

/* POST /v1/simulations. The request is checked as a whole and stored with all defaults; the work is
 * an operation (simulation_run.c). */

static enum pv_code simulations_decode(const struct api *api,
                                       struct http_request *request,
                                       struct writer *w,
                                       struct pv_error *err)
{
    struct codec_document body;
    PV_TRY(api_body_open(api->config, request, &body, err));
    const struct simulation_kind *kind = simulation_kind_decode(&body.top);
    enum pv_code code = kind == NULL ? PV_OK : kind->read(&body.top, api->config, w, err);
    enum pv_code closed = codec_close(&body);
    return code != PV_OK ? code : closed;
}

/* The state is the text of what is to be done. */
static enum pv_code simulations_create_decode(void *context,
                                              struct http_request *request,
                                              struct http_response *response,
                                              struct pv_error *err)
{
    static const char *const no_parameters[] = {NULL};
    struct strview *text = request->state;
    struct writer w;
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    writer_init(&w, request->arena);
    PV_TRY(simulations_decode(context, request, &w, err));
    text->at = writer_finish(&w, &text->n);
    return text->at == NULL ? pv_no_memory(err) : PV_OK;
}

static enum pv_code simulations_create_accept(void *context,
                                              struct http_request *request,
                                              struct http_response *response,
                                              struct pv_error *err)
{
    const struct strview *text = request->state;
    const struct operation_request wanted = {.kind = "simulation", .request = *text};
    return api_operation_accept(context, request, response, &wanted, err);
}

const struct http_call simulations_create = {
    .state_bytes = sizeof(struct strview),
    .steps = {{HTTP_BODY, simulations_create_decode}, {HTTP_IO, simulations_create_accept}},
};
