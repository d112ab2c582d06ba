#include "codec/models/refit.h"

#include "api/models/application_models.h"
#include "api/models/refit_run.h"
#include "api/operations/operation_accept.h"
#include "api/routes.h"
#include "api/shared/reply.h"
#include "api/shared/write.h"

/*
 * POST /v1/applications/{name}/refit. What can be known early is said early, from the models that
 * are kept of the history; the work itself is an operation (refit_run.c).
 */

/* Nothing asked for is all defaults. */
static enum pv_code refit_decode(const struct api *api,
                                 struct http_request *request,
                                 struct codec_refit *asked,
                                 struct pv_error *err)
{
    static const char *const no_parameters[] = {NULL};
    const struct codec_refit_limits limits = refit_limits(api->config);
    struct api_body body;
    PV_TRY(http_check_query(request, no_parameters, err));
    if (request->body_n == 0)
        request->body = "{}", request->body_n = 2;
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_refit_decode(&body.top, &limits, asked);
    return api_body_close(&body);
}

/* The kind asked for, out of the document that is kept of the history. */
static enum pv_code check_kind(struct http_request *request,
                               const struct application_model *stored,
                               const struct model_kind *kind,
                               struct pv_error *err)
{
    struct codec_history_model model;
    PV_TRY(application_models_read(request->arena, stored, kind, &model, err));
    if (!model.fitted)
        return pv_fault(err, PV_PLACE_POINTER, "/model", "not_fitted", "%.180s", model.why);
    return PV_OK;
}

static enum pv_code check_history(struct api *api,
                                  struct http_request *request,
                                  const struct codec_refit *asked,
                                  struct pv_error *err)
{
    struct application_model stored;
    PV_TRY(
        application_models_load(api, request, http_path_parameter(request, "name"), &stored, err));
    if (stored.fitted == 0 || (asked->kind == NULL && stored.selected.at == NULL))
        return application_models_refuse(&stored, err);
    return asked->kind == NULL ? PV_OK : check_kind(request, &stored, asked->kind, err);
}

enum pv_code application_refit(void *context,
                               struct http_request *request,
                               struct http_response *response,
                               struct pv_error *err)
{
    struct api *api = context;
    struct codec_refit asked;
    struct writer w;
    unsigned char hash[32];
    bool replayed = false;
    if (api_operation_resumed(request))
        return api_operation_answer(api, request, response, err);
    PV_TRY(refit_decode(api, request, &asked, err));
    /* A repetition is answered as before, whatever has become of the history since. */
    api_body_hash(request, hash);
    PV_TRY(api_write_replay(api, request, response, hash, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(check_history(api, request, &asked, err));
    struct operation_request wanted = {
        .kind = "refit", .application_name = strview_of(http_path_parameter(request, "name"))};
    writer_init(&w, request->arena);
    codec_refit_encode(&w, &asked);
    wanted.request.at = writer_finish(&w, &wanted.request.n);
    if (wanted.request.at == NULL)
        return pv_no_memory(err);
    return api_operation_accept(api, request, response, &wanted, err);
}
