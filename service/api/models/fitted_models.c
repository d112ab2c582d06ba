#include <stdio.h>
#include <string.h>

#include "api/models/application_models.h"
#include "api/routes.h"
#include "api/shared/query.h"
#include "api/shared/reply.h"
#include "base/plural.h"
#include "codec/history/run.h"
#include "codec/models/fitted_model.h"
#include "core/scaling/laws/kinds.h"

/* GET /v1/applications/{name}/models and /speedup: what the history teaches of how it scales. */

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

/* --- the surface --- */

struct speedup_query {
    struct application_models models; /* first: the steps that make them know nothing else */
    const struct model_kind *kind;    /* NULL: the one selected */
    double *problem_sizes;            /* NULL: those observed */
    size_t n_sizes;
    double *executors;
    size_t n_executors;
};

static enum pv_code
read_kind(const struct http_request *request, const struct model_kind **kind, struct pv_error *err)
{
    const char *word = http_query(request, "model");
    *kind = word == NULL ? NULL : model_find_kind(word);
    if (word == NULL || (*kind != NULL && (*kind)->forms != MODEL_OF_STAGES))
        return PV_OK;
    char known[128] = "";
    size_t used = 0;
    for (size_t i = 0; model_kinds[i] != NULL && used < sizeof known; i++) {
        if (model_kinds[i]->forms == MODEL_OF_STAGES)
            continue; /* fitted to measured stages, it cannot be compared with others */
        int n = snprintf(known + used, sizeof known - used, "%s%s", i == 0 ? "" : ", ",
                         model_kinds[i]->name);
        used += n > 0 ? (size_t)n : 0;
    }
    return pv_fault(err, PV_PLACE_PARAMETER, "model", "not_allowed", "must be one of: %s", known);
}

static enum pv_code read_asked(const struct api *api,
                               struct http_request *request,
                               struct speedup_query *asked,
                               struct pv_error *err)
{
    static const char *const allowed[] = {"label*", "model", "problem_sizes", "executors", NULL};
    size_t most = (size_t)api->config->points_max;
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(read_kind(request, &asked->kind, err));
    PV_TRY(api_query_counts(request, "problem_sizes", CODEC_PROBLEM_SIZE_MAX, most,
                            &asked->problem_sizes, &asked->n_sizes, err));
    return api_query_counts(request, "executors", API_QUERY_COUNT_MAX, most, &asked->executors,
                            &asked->n_executors, err);
}

static enum pv_code choose_model(struct http_request *request,
                                 const struct speedup_query *asked,
                                 struct codec_history_model *model,
                                 struct pv_error *err)
{
    const struct application_model *stored = &asked->models.stored;
    if (stored->fitted == 0 || (asked->kind == NULL && stored->selected.at == NULL))
        return application_models_refuse(stored, err);
    PV_TRY(application_models_read(request->arena, stored, asked->kind, model, err));
    if (!model->fitted)
        return pv_fault(err, PV_PLACE_PARAMETER, "model", "not_fitted", "%.180s", model->why);
    return PV_OK;
}

static enum pv_code
check_points(const struct api *api, const struct codec_speedup *speedup, struct pv_error *err)
{
    size_t points;
    size_t most = (size_t)api->config->points_max;
    if (!__builtin_mul_overflow(speedup->n_sizes, speedup->n_executors, &points) && points <= most)
        return PV_OK;
    return pv_fault(err, PV_PLACE_PARAMETER, "executors", "too_many_items",
                    "%zu problem size%s by %zu executor count%s are more than %zu point%s",
                    speedup->n_sizes, PLURAL(speedup->n_sizes), speedup->n_executors,
                    PLURAL(speedup->n_executors), most, PLURAL(most));
}

/* What reading the models back and writing points down come to, in bytes and points of a
 * millisecond. */
static bool is_light(const struct api *api, const struct speedup_query *asked)
{
    enum { LIGHT_POINTS = 500 };
    size_t points = 0;
    bool given = asked->problem_sizes != NULL && asked->executors != NULL;
    return asked->models.stored.document.n <= (size_t)api->config->inline_body_bytes &&
           (!given || (!__builtin_mul_overflow(asked->n_sizes, asked->n_executors, &points) &&
                       points <= LIGHT_POINTS));
}

static enum pv_code history_speedup_load(void *context,
                                         struct http_request *request,
                                         struct http_response *response,
                                         struct pv_error *err)
{
    struct speedup_query *asked = request->state;
    (void)response;
    PV_TRY(read_asked(context, request, asked, err));
    return load_models(context, request, &asked->models, err);
}

static enum pv_code history_speedup_answer(void *context,
                                           struct http_request *request,
                                           struct http_response *response,
                                           struct pv_error *err)
{
    struct api *api = context;
    const struct speedup_query *asked = request->state;
    const struct application_model *stored = &asked->models.stored;
    struct codec_history_model model;
    struct writer w;
    if (!is_light(api, asked))
        PV_TRY(http_move(request, HTTP_COMPUTE));
    PV_TRY(choose_model(request, asked, &model, err));
    bool sizes = asked->problem_sizes != NULL;
    bool counts = asked->executors != NULL;
    struct codec_speedup speedup = {
        .application = stored->application,
        .history_version = stored->history_version,
        .selected = strview_is(stored->selected, model.model.kind->name),
        .model = &model.model,
        .smallest = &model.smallest,
        .problem_sizes = sizes ? asked->problem_sizes : model.axes.problem_sizes,
        .n_sizes = sizes ? asked->n_sizes : model.axes.n_sizes,
        .executors = counts ? asked->executors : model.axes.executors,
        .n_executors = counts ? asked->n_executors : model.axes.n_executors,
        .executors_max = (double)api->config->executors_max};
    PV_TRY(check_points(api, &speedup, err));
    writer_init(&w, request->arena);
    codec_speedup_encode(&w, &speedup);
    return api_reply(response, 200, &w, err);
}

const struct http_call history_speedup_get = {
    .state_bytes = sizeof(struct speedup_query),
    .steps = {{HTTP_IO, history_speedup_load},
              {HTTP_ANYWHERE, history_models_make},
              {HTTP_ANYWHERE, history_models_keep},
              {HTTP_ANYWHERE, history_speedup_answer}},
};
