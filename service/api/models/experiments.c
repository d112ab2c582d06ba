#include "api/models/experiments.h"

#include <math.h>

#include "api/models/drift.h"

struct api_experiments
api_experiments_of(const struct config *config, enum experiments_criterion criterion, size_t count)
{
    return (struct api_experiments){.bounds = {.problem_size = (double)NAN,
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
                                    .price_per_executor_hour = (double)NAN};
}

static enum pv_code choose(struct arena *arena,
                           const struct observation rows[],
                           size_t n,
                           const struct model *model,
                           struct api_experiments *asked,
                           struct pv_error *err)
{
    PV_TRY(
        experiment_region_make(&asked->bounds, rows, n, model != NULL, arena, &asked->region, err));
    asked->question.allowed = asked->region.allowed;
    asked->question.n_allowed = asked->region.n_allowed;
    asked->question.asked = asked->region.asked;
    asked->question.n_asked = asked->region.n_asked;
    PV_TRY(experiments_choose(rows, n, model, &asked->question, arena, &asked->plan, err));
    asked->reply.runs = n;
    asked->reply.price_per_executor_hour = asked->price_per_executor_hour;
    asked->reply.question = &asked->question;
    asked->reply.region = &asked->region;
    asked->reply.plan = &asked->plan;
    return PV_OK;
}

enum pv_code api_experiments_plan_rows(struct arena *arena,
                                       const struct observation rows[],
                                       size_t n,
                                       struct api_experiments *asked,
                                       struct pv_error *err)
{
    asked->reply = (struct codec_experiments){.model = NULL};
    return choose(arena, rows, n, NULL, asked, err);
}

static enum pv_code load_models(struct api *api,
                                struct http_request *request,
                                const char *name,
                                const struct api_experiments *asked,
                                struct application_model *stored,
                                struct pv_error *err)
{
    return asked->n_labels == 0 ? application_models_load(api, request, name, stored, err)
                                : application_models_of_labels(api, request, name, asked->labels,
                                                               asked->n_labels, stored, err);
}

static enum pv_code load_runs(struct api *api,
                              struct http_request *request,
                              const struct application_model *stored,
                              struct run_observations *seen,
                              struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    PV_TRY(api_read(api, request, &tx, err));
    return store_run_observations(tx, request->arena, stored->application_id,
                                  (size_t)api->config->observations_max, seen, err);
}

enum pv_code api_experiments_plan(struct api *api,
                                  struct http_request *request,
                                  const char *name,
                                  struct api_experiments *asked,
                                  struct pv_error *err)
{
    struct application_model stored;
    struct run_observations all = {.n = 0}, seen = {.n = 0};
    struct codec_history_model kept;
    struct codec_watch watch; /* read by nobody: it weighs the runs */
    if (!request->may_compute)
        return PV_E_DEFER;
    enum pv_code code = load_models(api, request, name, asked, &stored, err);
    if (code == PV_OK)
        code = load_runs(api, request, &stored, &all, err);
    bool selected = code == PV_OK && stored.selected.at != NULL;
    if (selected)
        code = application_models_read(request->arena, &stored, NULL, &kept, err);
    if (selected && code == PV_OK && kept.of_context) {
        code = application_models_own_runs(&all, asked->labels, asked->n_labels, request->arena,
                                           &seen, err);
    } else if (code == PV_OK) {
        code = history_watch(&all, request->arena, &watch, err);
        seen = all;
    }
    if (code != PV_OK)
        return code;
    asked->reply = (struct codec_experiments){.application = stored.application,
                                              .history_version = stored.history_version,
                                              .no_model = selected ? NULL : stored.refusal.at};
    code = choose(request->arena, seen.rows, seen.n, selected ? &kept.model : NULL, asked, err);
    if (code == PV_OK && asked->plan.from_model)
        asked->reply.model = kept.model.kind->name;
    else if (code == PV_OK && selected)
        asked->reply.no_model = "the selected one has no time > 0 where it is asked about";
    return code;
}
