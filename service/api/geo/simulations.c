#include "api/geo/simulation_run.h"
#include "api/operations/operation_accept.h"
#include "api/routes.h"
#include "api/shared/reply.h"

/* POST /v1/simulations. The request is checked as a whole and stored with all defaults; the work is
 * an operation (simulation_run.c). */

static enum pv_code read_request(const struct api *api,
                                 struct http_request *request,
                                 struct strview *text,
                                 struct pv_error *err)
{
    static const char *const no_parameters[] = {NULL};
    json_t *json = NULL;
    struct writer w;
    enum pv_code code = http_check_query(request, no_parameters, err);
    if (code == PV_OK)
        code = api_parse(api->config, request, &json, err);
    if (code != PV_OK)
        return code;
    struct codec_reader reader = {request->arena, err};
    struct codec_node top = codec_top(&reader, json);
    const struct simulation_kind *kind = simulation_kind_decode(&top);
    writer_init(&w, request->arena);
    code = kind != NULL ? kind->read(&top, api->config, &w, err) : codec_result(&reader);
    json_decref(json);
    if (code != PV_OK)
        return code;
    text->at = writer_finish(&w, &text->n);
    return text->at == NULL ? pv_no_memory(err) : PV_OK;
}

enum pv_code simulations_create(void *context,
                                struct http_request *request,
                                struct http_response *response,
                                struct pv_error *err)
{
    struct api *api = context;
    struct operation_request wanted = {.kind = "simulation"};
    if (api_operation_resumed(request))
        return api_operation_answer(api, request, response, err);
    PV_TRY(read_request(api, request, &wanted.request, err));
    return api_operation_accept(api, request, response, &wanted, err);
}
