#include <string.h>

#include "api/models/application_models.h"
#include "api/routes.h"
#include "api/shared/query.h"
#include "api/shared/reply.h"
#include "codec/models/fitted_model.h"

/* GET /v1/applications/{name}/models: what the history teaches of how it scales. */

/* The document as it is kept, with what the last refit found if that is of the same history. */
static enum pv_code tell_models(struct http_request *request,
                                const struct application_model *model,
                                struct http_response *response,
                                struct pv_error *err)
{
    bool fresh = model->refit.at != NULL && model->refit_version == model->history_version;
    struct strview refit = fresh ? model->refit : strview_of("null");
    response->body =
        arena_printf(request->arena, "%.*s,\"refit\":%.*s}", (int)model->document.n - 1,
                     model->document.at, (int)refit.n, refit.at);
    if (response->body == NULL)
        return pv_no_memory(err);
    response->status = 200;
    response->body_n = strlen(response->body);
    return PV_OK;
}

/* Of the context with the labels asked for, else of that of the latest run. */
static enum pv_code load_models(struct api *api,
                                struct http_request *request,
                                struct application_models *models,
                                struct pv_error *err)
{
    struct run_label *labels = NULL;
    PV_TRY(api_query_labels(api, request, &labels, &models->n_labels, err));
    models->name = http_path_parameter(request, "name");
    models->labels = labels;
    return application_models_load(api, request, models, err);
}

static enum pv_code history_models_load(void *context,
                                        struct http_request *request,
                                        struct http_response *response,
                                        struct pv_error *err)
{
    static const char *const allowed[] = {"label*", NULL};
    (void)response;
    PV_TRY(http_check_query(request, allowed, err));
    return load_models(context, request, request->state, err);
}

static enum pv_code history_models_make(void *context,
                                        struct http_request *request,
                                        struct http_response *response,
                                        struct pv_error *err)
{
    (void)context;
    (void)response;
    return application_models_fit(request, request->state, err);
}

static enum pv_code history_models_keep(void *context,
                                        struct http_request *request,
                                        struct http_response *response,
                                        struct pv_error *err)
{
    (void)response;
    (void)err;
    return application_models_keep(context, request, request->state);
}

static enum pv_code history_models_answer(void *context,
                                          struct http_request *request,
                                          struct http_response *response,
                                          struct pv_error *err)
{
    const struct application_models *models = request->state;
    (void)context;
    if (models->stored.fitted == 0)
        return application_models_refuse(&models->stored, err);
    return tell_models(request, &models->stored, response, err);
}

const struct http_call history_models_get = {
    .state_bytes = sizeof(struct application_models),
    .steps = {{HTTP_IO, history_models_load},
              {HTTP_ANYWHERE, history_models_make},
              {HTTP_ANYWHERE, history_models_keep},
              {HTTP_ANYWHERE, history_models_answer}},
};
