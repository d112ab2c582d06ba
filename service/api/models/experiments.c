#include "api/models/experiments.h"

#include <math.h>

struct api_experiments
api_experiments_of(const struct config *config, enum experiments_criterion criterion, size_t count)
{
    return (struct api_experiments){.bounds = {.problem_size = (double)NAN,
                                               .executors_included = (double)NAN,
                                               .min_executors = RUN_UNKNOWN,
                                               .max_executors = RUN_UNKNOWN,
                                               .executors_step = RUN_UNKNOWN,
                                               .executors_max = config->executors_max,
                                               .points_max = (size_t)config->experiment_points_max},
                                    .question = {.criterion = criterion,
                                                 .count = count,
                                                 .confidence = 0.95,
                                                 .executor_s_max = (double)NAN,
                                                 .doubt = EFFECTS_DOUBT},
                                    .billing = billing_of_executors((double)NAN)};
}

enum pv_code
api_experiments_region(struct arena *arena, struct api_experiments *asked, struct pv_error *err)
{
    PV_TRY(experiment_region_make(&asked->bounds, asked->seen.rows, asked->seen.n, asked->has_model,
                                  arena, &asked->region, err));
    asked->question.allowed = asked->region.allowed;
    asked->question.n_allowed = asked->region.n_allowed;
    asked->question.asked = asked->region.asked;
    asked->question.n_asked = asked->region.n_asked;
    return PV_OK;
}

enum pv_code api_experiments_predicted(const struct curve *curve,
                                       struct arena *arena,
                                       struct api_experiments *asked,
                                       struct pv_error *err)
{
    return curve_predicted_times(curve, asked->question.confidence,
                                 (int64_t)asked->region.asked[0].executors, arena,
                                 &asked->question.predicted, err);
}

enum pv_code
api_experiments_choose(struct arena *arena, struct api_experiments *asked, struct pv_error *err)
{
    const struct run_observations *seen = &asked->seen;
    const struct model *model = asked->has_model ? &asked->kept.model : NULL;
    PV_TRY(
        experiments_choose(seen->rows, seen->n, model, &asked->question, arena, &asked->plan, err));
    asked->reply.runs = seen->n;
    asked->reply.billing = asked->billing;
    asked->reply.question = &asked->question;
    asked->reply.region = &asked->region;
    asked->reply.plan = &asked->plan;
    if (model != NULL && asked->plan.from_model)
        asked->reply.model = model->kind->name;
    else if (model != NULL)
        asked->reply.no_model = "the selected one has no time > 0 where it is asked about";
    return PV_OK;
}

enum pv_code api_experiments_load(struct api *api,
                                  struct http_request *request,
                                  struct api_experiments *asked,
                                  struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    PV_TRY(application_models_load(api, request, &asked->models, err));
    PV_TRY(api_read(api, request, &tx, err));
    return store_run_observations(tx, request->arena, asked->models.stored.application_id,
                                  (size_t)api->config->observations_max, &asked->all, err);
}

enum pv_code api_experiments_weigh(struct http_request *request,
                                   struct api_experiments *asked,
                                   struct pv_error *err)
{
    const struct application_models *models = &asked->models;
    const struct application_model *stored = &models->stored;
    struct history_drift drift; /* read by nobody: it weighs the runs */
    PV_TRY(http_move(request, HTTP_COMPUTE));
    PV_TRY(application_models_fit(request, &asked->models, err));
    asked->has_model = stored->selected.at != NULL;
    if (asked->has_model)
        PV_TRY(application_models_read(request->arena, stored, NULL, &asked->kept, err));
    asked->seen = asked->all;
    if (asked->has_model && asked->kept.of_context)
        PV_TRY(history_models_runs(&asked->all, models->labels, models->n_labels, request->arena,
                                   &asked->seen, err));
    else
        PV_TRY(history_drift_find(&asked->seen, request->arena, &drift, err));
    asked->reply =
        (struct codec_experiments){.application = stored->application,
                                   .history_version = stored->history_version,
                                   .no_model = asked->has_model ? NULL : stored->refusal.at};
    return PV_OK;
}
