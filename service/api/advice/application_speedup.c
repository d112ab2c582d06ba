#include <math.h>
#include <stdio.h>

#include "api/advice/application_prediction.h"
#include "api/models/application_models.h"
#include "api/routes.h"
#include "api/shared/query.h"
#include "api/shared/reply.h"
#include "base/plural.h"
#include "codec/history/run.h"
#include "codec/models/fitted_model.h"
#include "core/scaling/laws/kinds.h"

/* GET /v1/applications/{name}/speedup: times and speedups over problem size and executors. */

struct speedup_query {
    struct application_models models;
    struct run_label *labels;      /* asked for */
    const struct model_kind *kind; /* NULL: the replay if advice replays, else the one selected */
    double *problem_sizes;         /* NULL at first: those observed */
    size_t n_sizes;
    double *executors; /* likewise */
    size_t n_executors;
    struct codec_history_model model;
    /* Predictions of advice for the largest size observed, which decides whether the surface is
     * replayed, for each problem size, and for that of the base. */
    struct application_prediction *predicted;
    size_t n_predicted, n_loaded, n_made;
    struct arena kept; /* what they are made of, over turns of the step that makes them */
    bool has_kept;
};

/* Each problem size costs as much as a recommendation. */
enum { SIZES_PREDICTED_MAX = 8 };

static enum pv_code
read_kind(const struct http_request *request, const struct model_kind **kind, struct pv_error *err)
{
    const char *word = http_query(request, "model");
    *kind = word == NULL ? NULL : model_find_kind(word);
    if (word == NULL || (*kind != NULL && (*kind)->forms != MODEL_OF_STAGES))
        return PV_OK;
    char known[192] = "";
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
    PV_TRY(api_query_problem_sizes(request, most, &asked->problem_sizes, &asked->n_sizes, err));
    return api_query_counts(request, "executors", API_QUERY_COUNT_MAX, most, &asked->executors,
                            &asked->n_executors, err);
}

static enum pv_code
choose_model(struct http_request *request, struct speedup_query *asked, struct pv_error *err)
{
    const struct application_model *stored = &asked->models.stored;
    struct codec_history_model *model = &asked->model;
    if (stored->fitted == 0 || (asked->kind == NULL && stored->selected.at == NULL))
        return application_models_refuse(stored, err);
    PV_TRY(application_models_read(request->arena, stored, asked->kind, model, err));
    if (!model->fitted)
        return pv_fault(err, PV_PLACE_PARAMETER, "model", "not_fitted", "%.180s", model->why);
    if (asked->problem_sizes == NULL) {
        asked->problem_sizes = model->axes.problem_sizes;
        asked->n_sizes = model->axes.n_sizes;
    }
    if (asked->executors == NULL) {
        asked->executors = model->axes.executors;
        asked->n_executors = model->axes.n_executors;
    }
    return PV_OK;
}

static enum pv_code
check_points(const struct api *api, const struct speedup_query *asked, struct pv_error *err)
{
    size_t points;
    size_t most = (size_t)api->config->points_max;
    if (!__builtin_mul_overflow(asked->n_sizes, asked->n_executors, &points) && points <= most)
        return PV_OK;
    return pv_fault(err, PV_PLACE_PARAMETER, "executors", "too_many_items",
                    "%zu problem size%s by %zu executor count%s are more than %zu point%s",
                    asked->n_sizes, PLURAL(asked->n_sizes), asked->n_executors,
                    PLURAL(asked->n_executors), most, PLURAL(most));
}

/* Questions about the problem sizes, unless a model was asked for. */
static enum pv_code prepare_predictions(const struct api *api,
                                        struct http_request *request,
                                        struct speedup_query *asked,
                                        struct pv_error *err)
{
    size_t n = asked->n_sizes + 2;
    if (asked->kind != NULL || asked->n_sizes > SIZES_PREDICTED_MAX)
        return PV_OK;
    struct application_prediction *predicted = arena_calloc(request->arena, n, sizeof *predicted);
    if (predicted == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        double size = i == 0       ? asked->model.model.uncertainty.problem_size[1]
                      : i == n - 1 ? asked->model.smallest.problem_size
                                   : asked->problem_sizes[i - 1];
        predicted[i].question = application_question(api, asked->models.name, asked->labels,
                                                     asked->models.n_labels, size);
    }
    asked->predicted = predicted;
    asked->n_predicted = n;
    return PV_OK;
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

static enum pv_code speedup_load(void *context,
                                 struct http_request *request,
                                 struct http_response *response,
                                 struct pv_error *err)
{
    struct speedup_query *asked = request->state;
    struct application_models *models = &asked->models;
    (void)response;
    PV_TRY(read_asked(context, request, asked, err));
    PV_TRY(api_query_labels(context, request, &asked->labels, &models->n_labels, err));
    models->name = http_path_parameter(request, "name");
    models->labels = asked->labels;
    return application_models_load(context, request, models, err);
}

static enum pv_code speedup_fit(void *context,
                                struct http_request *request,
                                struct http_response *response,
                                struct pv_error *err)
{
    struct speedup_query *asked = request->state;
    (void)context;
    (void)response;
    return application_models_fit(request, &asked->models, err);
}

static enum pv_code speedup_keep(void *context,
                                 struct http_request *request,
                                 struct http_response *response,
                                 struct pv_error *err)
{
    struct speedup_query *asked = request->state;
    (void)response;
    (void)err;
    return application_models_keep(context, request, &asked->models);
}

static enum pv_code speedup_read_model(void *context,
                                       struct http_request *request,
                                       struct http_response *response,
                                       struct pv_error *err)
{
    struct speedup_query *asked = request->state;
    (void)response;
    if (!is_light(context, asked))
        PV_TRY(http_move(request, HTTP_COMPUTE));
    PV_TRY(choose_model(request, asked, err));
    PV_TRY(check_points(context, asked, err));
    return prepare_predictions(context, request, asked, err);
}

/* Does advice replay at the largest size observed? So one surface agrees with another, whatever
 * sizes they have. */
static bool is_replayed(const struct application_prediction *largest)
{
    const struct curve *curve = application_prediction_curve(largest);
    return curve != NULL && curve->model_kind == NULL;
}

/* One after the other, so that the histories of two are not held at the same time. Continues where
 * it was when it moved. */
static enum pv_code predict_sizes(struct api *api,
                                  struct http_request *request,
                                  struct speedup_query *asked,
                                  struct pv_error *err)
{
    for (; asked->n_made < asked->n_predicted; asked->n_made++) {
        struct application_prediction *predicted = &asked->predicted[asked->n_made];
        if (asked->n_made == 1 && !is_replayed(&asked->predicted[0]))
            return PV_OK;
        if (asked->n_loaded == asked->n_made) {
            PV_TRY(application_prediction_load(api, request, predicted, err));
            asked->n_loaded++;
        }
        PV_TRY(application_prediction_make(api, request, predicted, err));
    }
    return PV_OK;
}

static enum pv_code speedup_predict(void *context,
                                    struct http_request *request,
                                    struct http_response *response,
                                    struct pv_error *err)
{
    struct api *api = context;
    struct speedup_query *asked = request->state;
    struct arena *own = request->arena;
    (void)response;
    if (asked->n_predicted == 0)
        return PV_OK;
    if (!asked->has_kept)
        arena_init_beside(&asked->kept, own, (size_t)api->config->request_memory_bytes_max);
    asked->has_kept = true;
    request->arena = &asked->kept;
    enum pv_code code = predict_sizes(api, request, asked, err);
    request->arena = own;
    return code;
}

/* Can the runs be replayed for every problem size? */
static bool all_replayed(const struct speedup_query *asked)
{
    bool all = asked->n_predicted > 0 && asked->n_made == asked->n_predicted;
    for (size_t i = 0; all && i < asked->n_predicted; i++)
        all = application_prediction_replay(&asked->predicted[i]) != NULL;
    return all;
}

static enum pv_code speedup_answer(void *context,
                                   struct http_request *request,
                                   struct http_response *response,
                                   struct pv_error *err)
{
    struct api *api = context;
    const struct speedup_query *asked = request->state;
    const struct application_model *stored = &asked->models.stored;
    const struct model *model = &asked->model.model;
    size_t n = all_replayed(asked) ? asked->n_predicted : 0;
    struct writer w;
    if (n > 0 || !is_light(api, asked))
        PV_TRY(http_move(request, HTTP_COMPUTE));
    struct predicted_times *times = arena_array(request->arena, n, sizeof *times);
    if (times == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        PV_TRY(curve_predicted_times(application_prediction_replay(&asked->predicted[i]),
                                     model->uncertainty.confidence, RUN_UNKNOWN, request->arena,
                                     &times[i], err));
    struct speedup_surface surface = speedup_surface_make(model, times, n);
    struct codec_speedup speedup = {
        .application = stored->application,
        .history_version = stored->history_version,
        .predictor = n > 0 ? "replay" : model->kind->name,
        .selected = n > 0 || strview_is(stored->selected, model->kind->name),
        .surface = &surface,
        .smallest = &asked->model.smallest,
        .problem_sizes = asked->problem_sizes,
        .n_sizes = asked->n_sizes,
        .executors = asked->executors,
        .n_executors = asked->n_executors,
        .executors_max = (double)api->config->executors_max,
        .warned = n > 0 ? &application_prediction_replay(&asked->predicted[0])->warned
                        : &asked->model.warned};
    writer_init(&w, request->arena);
    codec_speedup_encode(&w, &speedup);
    return api_reply(response, 200, &w, err);
}

static void speedup_end(void *state)
{
    struct speedup_query *asked = state;
    for (size_t i = 0; i < asked->n_predicted; i++)
        advice_prediction_end(&asked->predicted[i].prediction);
    if (asked->has_kept)
        arena_fini(&asked->kept);
}

const struct http_call application_speedup_get = {
    .state_bytes = sizeof(struct speedup_query),
    .steps = {{HTTP_IO, speedup_load},
              {HTTP_ANYWHERE, speedup_fit},
              {HTTP_ANYWHERE, speedup_keep},
              {HTTP_ANYWHERE, speedup_read_model},
              {HTTP_ANYWHERE, speedup_predict},
              {HTTP_ANYWHERE, speedup_answer}},
    .end = speedup_end,
};
