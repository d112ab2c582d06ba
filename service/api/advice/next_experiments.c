#include <math.h>

#include "api/advice/application_prediction.h"
#include "api/models/experiments.h"
#include "api/routes.h"
#include "api/shared/query.h"
#include "api/shared/reply.h"
#include "codec/history/run.h"

/* GET /v1/applications/{name}/next-experiments: which runs to make next. */

enum { COUNT_DEFAULT = 3 };

struct experiments_build {
    struct api_experiments asked;
    struct run_label *labels; /* asked for */
    struct application_prediction predicted;
};

static enum pv_code read_points(const struct api *api,
                                struct http_request *request,
                                struct experiment_bounds *bounds,
                                struct pv_error *err)
{
    double size;
    double *sizes = NULL;
    double *executors = NULL;
    size_t most = (size_t)api->config->experiment_points_max;
    PV_TRY(api_query_problem_size(request, &size, err));
    PV_TRY(api_query_counts(request, "executors", api->config->executors_max, EXPERIMENT_ASKED_MAX,
                            &executors, &bounds->n_executors, err));
    PV_TRY(api_query_problem_sizes(request, most, &sizes, &bounds->n_sizes, err));
    PV_TRY(api_query_count(request, "min_executors", &bounds->min_executors, err));
    PV_TRY(api_query_count(request, "max_executors", &bounds->max_executors, err));
    PV_TRY(api_query_count(request, "executors_step", &bounds->executors_step, err));
    bounds->problem_size = size;
    bounds->problem_sizes = sizes;
    bounds->executors = executors;
    if (bounds->max_executors > api->config->executors_max)
        return pv_fault(err, PV_PLACE_PARAMETER, "max_executors", "out_of_range",
                        "may be at most %lld", (long long)api->config->executors_max);
    return PV_OK;
}

/* Money becomes executor seconds; of two budgets the lesser holds. */
static enum pv_code
read_budget(struct http_request *request, struct api_experiments *asked, struct pv_error *err)
{
    double seconds = (double)NAN;
    double cost = (double)NAN;
    double price = (double)NAN;
    PV_TRY(api_query_number(request, "price_per_executor_hour", 0, 1e9, &price, err));
    PV_TRY(api_query_number(request, "max_cost", 0, 1e12, &cost, err));
    PV_TRY(api_query_number(request, "max_executor_s", 0, 1e15, &seconds, err));
    if (!isnan(cost) && isnan(price))
        return pv_fault(err, PV_PLACE_PARAMETER, "price_per_executor_hour", "required",
                        "max_cost needs it");
    asked->billing = billing_of_executors(price);
    asked->question.executor_s_max = fmin(seconds, cost / price * 3600);
    return PV_OK;
}

static enum pv_code read_question(struct api *api,
                                  struct http_request *request,
                                  struct experiments_build *build,
                                  struct pv_error *err)
{
    static const char *const allowed[] = {"label*",
                                          "problem_size",
                                          "executors",
                                          "problem_sizes",
                                          "min_executors",
                                          "max_executors",
                                          "executors_step",
                                          "count",
                                          "criterion",
                                          "confidence",
                                          "price_per_executor_hour",
                                          "max_cost",
                                          "max_executor_s",
                                          NULL};
    struct api_experiments *asked = &build->asked;
    size_t criterion = EXPERIMENTS_IMSE;
    int64_t count = RUN_UNKNOWN;
    double confidence = (double)NAN;
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(api_query_word(request, "criterion", codec_experiments_criteria, &criterion, err));
    PV_TRY(api_query_count(request, "count", &count, err));
    if (count > EXPERIMENTS_MAX)
        return pv_fault(err, PV_PLACE_PARAMETER, "count", "out_of_range", "may be at most %d",
                        EXPERIMENTS_MAX);
    PV_TRY(api_query_number(request, "confidence", 0, 1 - 1e-9, &confidence, err));
    *asked = api_experiments_of(api->config, (enum experiments_criterion)criterion,
                                count == RUN_UNKNOWN ? COUNT_DEFAULT : (size_t)count);
    if (!isnan(confidence))
        asked->question.confidence = confidence;
    PV_TRY(api_query_labels(api, request, &build->labels, &asked->models.n_labels, err));
    asked->models.labels = build->labels;
    asked->models.name = http_path_parameter(request, "name");
    PV_TRY(read_points(api, request, &asked->bounds, err));
    return read_budget(request, asked, err);
}

static enum pv_code next_experiments_load(void *context,
                                          struct http_request *request,
                                          struct http_response *response,
                                          struct pv_error *err)
{
    struct experiments_build *build = request->state;
    (void)response;
    PV_TRY(read_question(context, request, build, err));
    return api_experiments_load(context, request, &build->asked, err);
}

static enum pv_code next_experiments_weigh(void *context,
                                           struct http_request *request,
                                           struct http_response *response,
                                           struct pv_error *err)
{
    struct experiments_build *build = request->state;
    (void)context;
    (void)response;
    PV_TRY(api_experiments_weigh(request, &build->asked, err));
    return api_experiments_region(request->arena, &build->asked, err);
}

/* What advice for these labels and executors predicts says how long runs take; without it the law
 * does. */
static enum pv_code next_experiments_load_prediction(void *context,
                                                     struct http_request *request,
                                                     struct http_response *response,
                                                     struct pv_error *err)
{
    struct experiments_build *build = request->state;
    const struct api_experiments *asked = &build->asked;
    struct advice_question *question = &build->predicted.question;
    (void)response;
    *question = application_question(context, asked->models.name, build->labels,
                                     asked->models.n_labels, asked->region.problem_size);
    if (asked->bounds.min_executors != RUN_UNKNOWN)
        question->goal.min_executors = asked->bounds.min_executors;
    if (asked->bounds.max_executors != RUN_UNKNOWN)
        question->goal.max_executors = asked->bounds.max_executors;
    return application_prediction_load(context, request, &build->predicted, err);
}

static enum pv_code next_experiments_predict(void *context,
                                             struct http_request *request,
                                             struct http_response *response,
                                             struct pv_error *err)
{
    struct experiments_build *build = request->state;
    (void)response;
    return application_prediction_make(context, request, &build->predicted, err);
}

static enum pv_code next_experiments_choose(void *context,
                                            struct http_request *request,
                                            struct http_response *response,
                                            struct pv_error *err)
{
    struct experiments_build *build = request->state;
    const struct curve *curve = application_prediction_curve(&build->predicted);
    (void)context;
    (void)response;
    if (curve != NULL)
        PV_TRY(api_experiments_predicted(curve, request->arena, &build->asked, err));
    PV_TRY(api_experiments_choose(request->arena, &build->asked, err));
    build->asked.reply.warned = history_models_warned(&build->asked.seen);
    return PV_OK;
}

static enum pv_code next_experiments_keep(void *context,
                                          struct http_request *request,
                                          struct http_response *response,
                                          struct pv_error *err)
{
    struct experiments_build *build = request->state;
    (void)response;
    (void)err;
    return application_models_keep(context, request, &build->asked.models);
}

static enum pv_code next_experiments_answer(void *context,
                                            struct http_request *request,
                                            struct http_response *response,
                                            struct pv_error *err)
{
    const struct experiments_build *build = request->state;
    struct writer w;
    (void)context;
    writer_init(&w, request->arena);
    codec_experiments_encode(&w, &build->asked.reply);
    return api_reply(response, 200, &w, err);
}

static void next_experiments_end(void *state)
{
    struct experiments_build *build = state;
    advice_prediction_end(&build->predicted.prediction);
}

const struct http_call next_experiments_get = {
    .state_bytes = sizeof(struct experiments_build),
    .steps = {{HTTP_IO, next_experiments_load},
              {HTTP_COMPUTE, next_experiments_weigh},
              {HTTP_ANYWHERE, next_experiments_load_prediction},
              {HTTP_ANYWHERE, next_experiments_predict},
              {HTTP_COMPUTE, next_experiments_choose},
              {HTTP_ANYWHERE, next_experiments_keep},
              {HTTP_ANYWHERE, next_experiments_answer}},
    .end = next_experiments_end,
};
