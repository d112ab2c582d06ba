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
    struct codec_document body;
    PV_TRY(http_check_query(request, no_parameters, err));
    if (request->body_n == 0)
        request->body = "{}", request->body_n = 2;
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_refit_decode(&body.top, &limits, asked);
    return codec_close(&body);
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

struct refit_work {
    struct codec_refit asked;
    struct application_models models;
};

static enum pv_code application_refit_decode(void *context,
                                             struct http_request *request,
                                             struct http_response *response,
                                             struct pv_error *err)
{
    struct refit_work *work = request->state;
    (void)response;
    return refit_decode(context, request, &work->asked, err);
}

/* A repetition is answered as before, whatever has become of the history since. */
static enum pv_code application_refit_load(void *context,
                                           struct http_request *request,
                                           struct http_response *response,
                                           struct pv_error *err)
{
    struct refit_work *work = request->state;
    bool replayed = false;
    PV_TRY(api_write_replay(context, request, response, &replayed, err));
    if (replayed)
        return PV_OK;
    work->models.name = http_path_parameter(request, "name");
    return application_models_load(context, request, &work->models, err);
}

static enum pv_code application_refit_check(void *context,
                                            struct http_request *request,
                                            struct http_response *response,
                                            struct pv_error *err)
{
    struct api *api = context;
    struct refit_work *work = request->state;
    const struct application_model *stored = &work->models.stored;
    const struct model_kind *kind = work->asked.kind;
    (void)response;
    PV_TRY(application_models_fit(request, &work->models, err));
    if (stored->fitted == 0 || (kind == NULL && stored->selected.at == NULL))
        return application_models_refuse(stored, err);
    if (kind != NULL && stored->document.n > (size_t)api->config->inline_body_bytes)
        PV_TRY(http_move(request, HTTP_COMPUTE));
    return kind == NULL ? PV_OK : check_kind(request, stored, kind, err);
}

static enum pv_code application_refit_accept(void *context,
                                             struct http_request *request,
                                             struct http_response *response,
                                             struct pv_error *err)
{
    struct refit_work *work = request->state;
    struct operation_request wanted = {
        .kind = "refit", .application_name = strview_of(http_path_parameter(request, "name"))};
    struct writer w;
    PV_TRY(application_models_keep(context, request, &work->models));
    writer_init(&w, request->arena);
    codec_refit_encode(&w, &work->asked);
    wanted.request.at = writer_finish(&w, &wanted.request.n);
    if (wanted.request.at == NULL)
        return pv_no_memory(err);
    return api_operation_accept(context, request, response, &wanted, err);
}

const struct http_call application_refit = {
    .state_bytes = sizeof(struct refit_work),
    .steps = {{HTTP_BODY, application_refit_decode},
              {HTTP_IO, application_refit_load},
              {HTTP_ANYWHERE, application_refit_check},
              {HTTP_IO, application_refit_accept}},
};
