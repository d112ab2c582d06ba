#include "api/routes.h"

#include "api/api.h"
#include "api/shared/reply.h"
#include "codec/models/fit.h"
#include "codec/models/model.h"
#include "core/scaling/history/label_traits.h"
#include "core/scaling/selection/selection.h"

static const char *const no_parameters[] = {NULL};

static enum pv_code decode_fit(const struct config *config,
                               struct http_request *request,
                               struct codec_model_fit *sent,
                               struct pv_error *err)
{
    struct codec_document body;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_body_open(config, request, &body, err));
    codec_model_fit_decode(&body.top, (size_t)config->observations_max, sent);
    enum pv_code code = PV_OK;
    if (sent->labels != NULL) /* which point into the body */
        code = label_traits_set_all(sent->rows, sent->labels, sent->n, request->arena, err);
    enum pv_code closed = codec_close(&body);
    return closed == PV_OK ? code : closed;
}

/* What the core says of observations concerns them as a whole. */
static enum pv_code fault_at_observations(enum pv_code code, struct pv_error *err)
{
    if (code == PV_E_TOO_FEW || code == PV_E_SINGULAR || code == PV_E_DOMAIN)
        (void)pv_fault(err, PV_PLACE_POINTER, "/observations", pv_code_name(code), "%.*s", 190,
                       err->detail);
    return code;
}

static enum pv_code models_fit_decode(void *context,
                                      struct http_request *request,
                                      struct http_response *response,
                                      struct pv_error *err)
{
    struct api *api = context;
    (void)response;
    return decode_fit(api->config, request, request->state, err);
}

static enum pv_code models_fit_answer(void *context,
                                      struct http_request *request,
                                      struct http_response *response,
                                      struct pv_error *err)
{
    const struct codec_model_fit *sent = request->state;
    struct model_fit fit;
    struct model_selection selection;
    struct writer w;
    (void)context;
    PV_TRY(fault_at_observations(model_fit_or_select(sent->kind, sent->rows, sent->n, sent->weights,
                                                     request->arena, &selection, &fit, err),
                                 err));
    writer_init(&w, request->arena);
    codec_model_fit_encode(&w, &fit, sent->kind == NULL ? &selection : NULL);
    return api_reply(response, 200, &w, err);
}

const struct http_call models_fit = {
    .state_bytes = sizeof(struct codec_model_fit),
    .steps = {{HTTP_BODY, models_fit_decode}, {HTTP_COMPUTE, models_fit_answer}},
};

static enum pv_code decode_predict(const struct config *config,
                                   struct http_request *request,
                                   struct codec_model_predict *sent,
                                   struct pv_error *err)
{
    struct codec_document body;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_body_open(config, request, &body, err));
    codec_model_predict_decode(&body.top, (size_t)config->points_max, sent);
    return codec_close(&body);
}

static enum pv_code models_predict_decode(void *context,
                                          struct http_request *request,
                                          struct http_response *response,
                                          struct pv_error *err)
{
    struct api *api = context;
    (void)response;
    return decode_predict(api->config, request, request->state, err);
}

static enum pv_code models_predict_answer(void *context,
                                          struct http_request *request,
                                          struct http_response *response,
                                          struct pv_error *err)
{
    const struct codec_model_predict *sent = request->state;
    struct writer w;
    (void)context;
    struct model_spread spread = model_spread(&sent->model, sent->model.uncertainty.confidence);
    writer_init(&w, request->arena);
    writer_begin_object(&w);
    writer_key(&w, "predictions");
    writer_begin_array(&w);
    for (size_t i = 0; i < sent->n; i++) {
        struct model_prediction prediction;
        model_predict(&sent->model, &spread, sent->points[i].problem_size,
                      sent->points[i].executors, &prediction);
        codec_model_prediction_encode(&w, &sent->model, &sent->points[i], &prediction);
    }
    writer_end_array(&w);
    writer_end_object(&w);
    return api_reply(response, 200, &w, err);
}

const struct http_call models_predict = {
    .state_bytes = sizeof(struct codec_model_predict),
    .steps = {{HTTP_BODY, models_predict_decode}, {HTTP_COMPUTE, models_predict_answer}},
};
