#include "api/models/application_models.h"

#include <math.h>
#include <stdio.h>

#include "api/advice/advice_load.h"
#include "codec/models/drift.h"
#include "core/advice/history_prediction.h"
#include "core/scaling/laws/kinds.h"
#include "metrics/registry.h"
#include "store/history/application.h"
#include "store/history/run_durations.h"

METRIC_COUNTER(drifts,
               "provisor_drift_found_total",
               "Fits that found a drift of the history and were kept.",
               "");

/* Raised by whoever changes what a fit of the same runs gives: what is kept is then made anew. A
 * further kind of model needs no raise. */
static const int fits_revision = 12;

METRIC_COUNTER(fits,
               "provisor_fits_total",
               "Histories whose models were fitted, by cause: the arrival of runs, or a reader "
               "who came before.",
               "cause");

/* Who wants the models: a reader or the fitter. */
struct caller {
    const struct principal *who;
    const char *request_id;
    struct arena *arena;
};

/* What apart from the history decides about the models. */
static enum pv_code make_fingerprint(const struct api *api,
                                     struct arena *arena,
                                     const char **fingerprint,
                                     struct pv_error *err)
{
    size_t kinds = 0;
    while (model_kinds[kinds] != NULL)
        kinds++;
    *fingerprint = arena_printf(arena, "fits %d, kinds %zu, observations %lld", fits_revision,
                                kinds, (long long)api->config->observations_max);
    return *fingerprint == NULL ? pv_no_memory(err) : PV_OK;
}

/* --- fitting --- */

/* Fit, and write down what is kept: the document, and the event of a drift where one is due. */
static enum pv_code fit(const struct run_observations *seen,
                        const struct run_label labels[],
                        size_t n,
                        struct arena *arena,
                        struct application_model *model,
                        struct history_models *made,
                        struct pv_error *err)
{
    struct writer w;
    struct strview none = {NULL, 0};
    bool fitted_before = model->history_version != RUN_UNKNOWN;
    PV_TRY(history_models_fit(seen, labels, n, arena, made, err));
    model->history_version = seen->history_version;
    model->fitted = (int64_t)made->fitted;
    const struct model_candidate *selected = made->selection.selected;
    model->selected = selected == NULL ? none : strview_of(selected->kind->name);
    model->refusal_code = selected == NULL ? strview_of(pv_code_name(made->refusal_code)) : none;
    model->refusal = selected == NULL ? strview_of(made->refusal) : none;
    writer_init(&w, arena);
    codec_history_models_encode(&w, model->application, made);
    model->document.at = writer_finish(&w, &model->document.n);
    model->idle_evidence = made->idle.shown ? made->idle.evidence : (double)NAN;
    model->idle_counted = made->idle.counted;
    model->law_error = made->law_error;
    model->drift_event = none;
    if (history_drift_is_reported(&made->drift, fitted_before)) {
        writer_init(&w, arena);
        codec_drift_event_encode(&w, model->application, seen->history_version, &made->drift);
        model->drift_event.at = writer_finish(&w, &model->drift_event.n);
        model->drift_us = made->drift.detected->instant_us;
        if (model->drift_event.at == NULL)
            return pv_no_memory(err);
    }
    return model->document.at == NULL ? pv_no_memory(err) : PV_OK;
}

static enum pv_code store_models(struct api *api,
                                 const struct principal *who,
                                 const char *request_id,
                                 const struct application_model *model,
                                 struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    PV_TRY(store_begin(api->store, who, request_id, STORE_WRITE, &tx, err));
    PV_TRY(store_application_model_keep(tx, model, err));
    PV_TRY(store_commit(&tx, err));
    if (model->drift_event.at != NULL)
        metric_add(&drifts, 1, NULL);
    return PV_OK;
}

/* What is kept, and where it is behind (*current false) the runs to fit. */
static enum pv_code api_application_models_load(struct api *api,
                                                const struct caller *caller,
                                                const char *name,
                                                struct application_model *found,
                                                struct run_observations *seen,
                                                bool *current,
                                                struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    const char *fingerprint = NULL;
    PV_TRY(make_fingerprint(api, caller->arena, &fingerprint, err));
    PV_TRY(store_begin(api->store, caller->who, caller->request_id, STORE_READ, &tx, err));
    PV_TRY(store_application_model_find(tx, caller->arena, name, found, err));
    *current =
        found->history_version == found->history_now && strview_is(found->fingerprint, fingerprint);
    if (*current)
        return PV_OK;
    found->fingerprint = strview_of(fingerprint);
    return store_run_observations(tx, caller->arena, found->application_id,
                                  (size_t)api->config->observations_max, seen, err);
}

/* Current models, fitted now if need be (*fitted); the connection is not held meanwhile. */
static enum pv_code load_or_fit(struct api *api,
                                const struct caller *caller,
                                const char *name,
                                struct application_model *model,
                                bool *fitted,
                                struct pv_error *err)
{
    struct run_observations seen = {.n = 0};
    struct history_models made;
    bool current = false;
    *fitted = false;
    PV_TRY(api_application_models_load(api, caller, name, model, &seen, &current, err));
    if (current)
        return PV_OK;
    *fitted = true;
    return fit(&seen, NULL, 0, caller->arena, model, &made, err);
}

/* The application with what is kept, and the runs as they are now. */
static enum pv_code load_runs(struct api *api,
                              const struct caller *caller,
                              const char *name,
                              struct application_model *model,
                              struct run_observations *seen,
                              struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    PV_TRY(store_begin(api->store, caller->who, caller->request_id, STORE_READ, &tx, err));
    PV_TRY(store_application_model_find(tx, caller->arena, name, model, err));
    return store_run_observations(tx, caller->arena, model->application_id,
                                  (size_t)api->config->observations_max, seen, err);
}

/* --- for a request, step by step --- */

enum pv_code application_models_load(struct api *api,
                                     struct http_request *request,
                                     struct application_models *models,
                                     struct pv_error *err)
{
    const struct caller caller = {&request->principal, request->request_id, request->arena};
    bool current = false;
    models->seen = (struct run_observations){.n = 0};
    if (models->n_labels > 0)
        PV_TRY(load_runs(api, &caller, models->name, &models->stored, &models->seen, err));
    else
        PV_TRY(api_application_models_load(api, &caller, models->name, &models->stored,
                                           &models->seen, &current, err));
    models->to_fit = !current;
    return PV_OK;
}

enum pv_code application_models_fit(struct http_request *request,
                                    struct application_models *models,
                                    struct pv_error *err)
{
    struct history_models made;
    if (!models->to_fit)
        return PV_OK;
    PV_TRY(http_move(request, HTTP_COMPUTE));
    PV_TRY(fit(&models->seen, models->labels, models->n_labels, request->arena, &models->stored,
               &made, err));
    models->to_fit = false;
    models->to_keep = models->n_labels == 0;
    if (models->to_keep)
        metric_add(&fits, 1, METRIC_LABELS("reader"));
    else
        models->stored.refit = (struct strview){NULL, 0}; /* one is of the latest run's group */
    return PV_OK;
}

enum pv_code application_models_keep(struct api *api,
                                     struct http_request *request,
                                     struct application_models *models)
{
    if (!models->to_keep)
        return PV_OK;
    PV_TRY(http_move(request, HTTP_IO));
    models->to_keep = false;
    (void)!store_models(api, &request->principal, request->request_id, &models->stored, NULL);
    return PV_OK;
}

enum pv_code application_models_refresh(struct api *api,
                                        struct arena *arena,
                                        const char *team_id,
                                        const char *name,
                                        bool *fitted,
                                        struct pv_error *err)
{
    struct principal team = {.scopes = 0};
    (void)snprintf(team.team_id, sizeof team.team_id, "%s", team_id);
    const struct caller caller = {&team, "", arena};
    struct application_model found;
    PV_TRY(load_or_fit(api, &caller, name, &found, fitted, err));
    if (!*fitted)
        return PV_OK;
    PV_TRY(store_models(api, &team, "", &found, err));
    metric_add(&fits, 1, METRIC_LABELS("arrival"));
    return PV_OK;
}

/* The runs as a question without labels is answered from. */
static enum pv_code load_latest(struct api *api,
                                const struct principal *team,
                                struct arena *arena,
                                const char *name,
                                struct application *application,
                                struct run_observations *seen,
                                struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    PV_TRY(store_begin(api->store, team, "", STORE_READ, &tx, err));
    PV_TRY(store_application_find(tx, arena, name, application, err));
    return store_run_durations(tx, arena, application, MODEL_RUNS_MAX, seen, err);
}

enum pv_code application_models_prepare(struct api *api,
                                        struct arena *arena,
                                        const char *team_id,
                                        const char *name,
                                        struct pv_error *err)
{
    struct principal team = {.scopes = 0};
    struct application application;
    struct run_observations seen;
    struct label_group group;
    const struct process_theta *theta;
    store_tx_auto_t *tx = NULL;
    (void)snprintf(team.team_id, sizeof team.team_id, "%s", team_id);
    PV_TRY(load_latest(api, &team, arena, name, &application, &seen, err));
    PV_TRY(label_group_of_explaining(&seen, NULL, 0, arena, &group, err));
    PV_TRY(history_learn_theta(&seen, arena, &theta, err));
    if (theta == NULL || theta->kept)
        return PV_OK;
    PV_TRY(store_begin(api->store, &team, "", STORE_WRITE, &tx, err));
    PV_TRY(store_theta_keep(tx, application.id, theta, err));
    return store_commit(&tx, err);
}

enum pv_code application_models_read(struct arena *arena,
                                     const struct application_model *stored,
                                     const struct model_kind *kind,
                                     struct codec_history_model *model,
                                     struct pv_error *err)
{
    const struct codec_bounds bounds = {.depth = WRITER_DEPTH_MAX, .values = stored->document.n};
    struct codec_document document;
    struct pv_error why = {0};
    enum pv_code code =
        codec_open(&document, stored->document.at, stored->document.n, &bounds, arena, &why);
    if (code == PV_OK) {
        codec_history_model_decode(&document.top, kind, model);
        code = codec_close(&document);
    }
    if (code == PV_E_MEMORY)
        return pv_fail(err, code, "%s", why.detail);
    if (code != PV_OK)
        return pv_fail(err, PV_E_INTERNAL, "the models kept for the application cannot be read");
    return PV_OK;
}

enum pv_code application_models_refit(struct api *api,
                                      struct arena *arena,
                                      const struct principal *who,
                                      const char *request_id,
                                      const char *name,
                                      struct application_model *model,
                                      struct history_models *made,
                                      struct pv_error *err)
{
    const struct caller caller = {who, request_id, arena};
    const char *fingerprint = NULL;
    struct run_observations seen = {.n = 0};
    PV_TRY(make_fingerprint(api, arena, &fingerprint, err));
    PV_TRY(load_runs(api, &caller, name, model, &seen, err));
    model->fingerprint = strview_of(fingerprint);
    return fit(&seen, NULL, 0, arena, model, made, err);
}
