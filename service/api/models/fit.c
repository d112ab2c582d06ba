#include "api/routes.h"

#include "api/api.h"
#include "api/shared/reply.h"
#include "codec/models/fit.h"
#include "codec/models/model.h"
#include "core/scaling/model/fit.h"

static enum pv_code open_body(const struct config *config,
                              struct http_request *request,
                              json_t **json,
                              struct pv_error *err)
{
    static const char *const no_parameters[] = {NULL};
    PV_TRY(http_check_query(request, no_parameters, err));
    return api_parse(config, request, json, err);
}

static enum pv_code decode_fit(const struct config *config,
                               struct http_request *request,
                               struct codec_model_fit *asked,
                               struct pv_error *err)
{
    json_t *json = NULL;
    PV_TRY(open_body(config, request, &json, err));
    struct codec_reader reader = {request->arena, err};
    struct codec_node top = codec_top(&reader, json);
    codec_model_fit_decode(&top, (size_t)config->observations_max, asked);
    json_decref(json);
    return codec_result(&reader);
}

/* What the core says of observations concerns them as a whole. */
static enum pv_code fault_at_observations(enum pv_code code, struct pv_error *err)
{
    if (code == PV_E_TOO_FEW || code == PV_E_SINGULAR || code == PV_E_DOMAIN)
        (void)pv_fault(err, PV_PLACE_POINTER, "/observations", pv_code_name(code), "%.*s", 190,
                       err->detail);
    return code;
}

/* What the kind that can say most lacks, where auto finds none. */
static enum pv_code refuse_all(const struct model_selection *selection, struct pv_error *err)
{
    for (size_t k = 0; k < selection->n; k++) {
        const struct model_candidate *candidate = &selection->candidates[k];
        if (candidate->standing == MODEL_NOT_FITTED && candidate->code != PV_E_INVALID)
            return pv_fail(err, candidate->code, "%s: %s", selection->message, candidate->detail);
    }
    return pv_fail(err, PV_E_TOO_FEW, "%s", selection->message);
}

/* The kind that was asked for, or the one that is selected; *selection then is how. */
static enum pv_code fit_asked(const struct codec_model_fit *asked,
                              struct arena *arena,
                              struct model_selection *selection,
                              struct model_fit *fit,
                              struct pv_error *err)
{
    if (asked->kind != NULL)
        return model_fit(asked->kind, asked->rows, asked->n, asked->weights, arena, fit, err);
    PV_TRY(model_select(asked->rows, asked->n, arena, selection, err));
    if (selection->selected == NULL)
        return refuse_all(selection, err);
    *fit = selection->selected->fit;
    return PV_OK;
}

enum pv_code models_fit(void *context,
                        struct http_request *request,
                        struct http_response *response,
                        struct pv_error *err)
{
    struct api *api = context;
    struct codec_model_fit asked;
    struct model_fit fit;
    struct model_selection selection;
    struct writer w;
    enum pv_code code = decode_fit(api->config, request, &asked, err);
    if (code != PV_OK)
        return code;
    code = fit_asked(&asked, request->arena, &selection, &fit, err);
    if (code != PV_OK)
        return fault_at_observations(code, err);
    writer_init(&w, request->arena);
    codec_model_fit_encode(&w, &fit, asked.kind == NULL ? &selection : NULL);
    return api_reply(response, 200, &w, err);
}

static enum pv_code decode_predict(const struct config *config,
                                   struct http_request *request,
                                   struct codec_model_predict *asked,
                                   struct pv_error *err)
{
    json_t *json = NULL;
    PV_TRY(open_body(config, request, &json, err));
    struct codec_reader reader = {request->arena, err};
    struct codec_node top = codec_top(&reader, json);
    codec_model_predict_decode(&top, (size_t)config->points_max, asked);
    json_decref(json);
    return codec_result(&reader);
}

enum pv_code models_predict(void *context,
                            struct http_request *request,
                            struct http_response *response,
                            struct pv_error *err)
{
    struct api *api = context;
    struct codec_model_predict asked;
    struct writer w;
    PV_TRY(decode_predict(api->config, request, &asked, err));
    struct model_spread spread = model_spread(&asked.model, asked.model.uncertainty.confidence);
    writer_init(&w, request->arena);
    writer_begin_object(&w);
    writer_key(&w, "predictions");
    writer_begin_array(&w);
    for (size_t i = 0; i < asked.n; i++) {
        struct model_prediction prediction;
        model_predict(&asked.model, &spread, asked.points[i].problem_size,
                      asked.points[i].executors, &prediction);
        codec_model_prediction_encode(&w, &asked.model, &asked.points[i], &prediction);
    }
    writer_end_array(&w);
    writer_end_object(&w);
    return api_reply(response, 200, &w, err);
}
