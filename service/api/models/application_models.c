#include "api/models/application_models.h"

#include <stdio.h>
#include <string.h>

#include "api/models/drift.h"
#include "api/models/fitter.h"
#include "metrics/metrics.h"

METRIC_COUNTER(drifts,
               "provisor_drift_found_total",
               "Fits that found a drift of the history and were kept.",
               "");

/* Raised by whoever changes what a fit of the same runs gives: what is kept is then made anew. */
static const int fits_revision = 9;

/* Who wants the models: a reader or the fitter. */
struct asker {
    const struct principal *who;
    const char *request_id;
    struct arena *arena;
    bool may_fit;
};

/* What apart from the history decides about the models. */
static enum pv_code
make_recipe(const struct api *api, struct arena *arena, const char **recipe, struct pv_error *err)
{
    *recipe = arena_printf(arena, "fits %d, observations %lld", fits_revision,
                           (long long)api->config->observations_max);
    return *recipe == NULL ? pv_no_memory(err) : PV_OK;
}

/* --- what is missing --- */

static const struct model_candidate *first_unfitted(const struct model_selection *selection)
{
    for (size_t k = 0; k < selection->n; k++)
        if (selection->candidates[k].standing == MODEL_NOT_FITTED)
            return &selection->candidates[k];
    return NULL;
}

/* ", failed 1, without executors 2": of what there is. */
static const char *list_skipped(const struct run_observations *seen, struct arena *arena)
{
    const struct {
        size_t n;
        const char *what;
    } parts[] = {{seen->failed, "failed"},
                 {seen->without_problem_size, "without problem_size"},
                 {seen->without_executors, "without executors"},
                 {seen->without_duration, "without duration_s"}};
    const char *text = "";
    for (size_t i = 0; i < sizeof parts / sizeof *parts && text != NULL; i++)
        if (parts[i].n > 0)
            text = arena_printf(arena, "%s, %s %zu", text, parts[i].what, parts[i].n);
    return text;
}

/* One sentence: how many runs can be used, and what the kind that needs least lacks. */
static enum pv_code tell_refusal(const struct run_observations *seen,
                                 const struct model_selection *selection,
                                 struct arena *arena,
                                 struct application_model *model,
                                 struct pv_error *err)
{
    const struct model_candidate *unfitted = first_unfitted(selection);
    bool none = model->fitted == 0 && unfitted != NULL;
    const char *need = "every kind that fits needs more runs than it has parameters to be judged";
    if (seen->n == 0)
        need = "a model needs runs that succeeded with problem_size, executors and duration_s";
    else if (none)
        need = unfitted->detail;
    const char *skipped = list_skipped(seen, arena);
    const char *text =
        skipped == NULL
            ? NULL
            : arena_printf(arena, "%zu of the application's %lld runs can be used%s: %s", seen->n,
                           (long long)seen->runs, skipped, need);
    if (text == NULL)
        return pv_no_memory(err);
    enum pv_code code = none && unfitted->code == PV_E_SINGULAR ? PV_E_SINGULAR : PV_E_TOO_FEW;
    model->refusal_code = strview_of(pv_code_name(code));
    model->refusal = strview_of(text);
    return PV_OK;
}

enum pv_code application_models_refuse(const struct application_model *model, struct pv_error *err)
{
    bool singular = strview_is(model->refusal_code, pv_code_name(PV_E_SINGULAR));
    return pv_fail(err, singular ? PV_E_SINGULAR : PV_E_TOO_FEW, "%s", model->refusal.at);
}

/* --- fitting --- */

/* The runs that models are for: only those of the context. */
static enum pv_code keep_own(const struct run_observations *seen,
                             struct arena *arena,
                             struct run_observations *own,
                             struct pv_error *err)
{
    *own = *seen;
    own->rows = arena_array(arena, seen->n, sizeof *own->rows);
    own->labels = arena_array(arena, seen->n, sizeof *own->labels);
    if (own->rows == NULL || own->labels == NULL)
        return pv_no_memory(err);
    own->n = 0;
    for (size_t i = 0; i < seen->n; i++) {
        if (seen->rows[i].context > 1)
            continue;
        own->rows[own->n] = seen->rows[i];
        own->labels[own->n++] = seen->labels[i];
    }
    return PV_OK;
}

static enum pv_code find_axes(const struct run_observations *seen,
                              struct arena *arena,
                              struct codec_history_axes *axes,
                              struct pv_error *err)
{
    double *values = arena_array(arena, seen->n, sizeof *values);
    if (values == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < seen->n; i++)
        values[i] = seen->rows[i].problem_size;
    axes->n_sizes = surface_ticks(values, seen->n, HISTORY_MODEL_SIZES_MAX, axes->problem_sizes);
    for (size_t i = 0; i < seen->n; i++)
        values[i] = seen->rows[i].executors;
    axes->n_executors =
        surface_ticks(values, seen->n, HISTORY_MODEL_EXECUTORS_MAX, axes->executors);
    return PV_OK;
}

static enum pv_code write_document(const struct run_observations *seen,
                                   const struct codec_history_context *context,
                                   const struct model_selection *selection,
                                   const struct codec_watch *watch,
                                   struct arena *arena,
                                   struct application_model *model,
                                   struct pv_error *err)
{
    struct codec_history_models all = {.application = model->application,
                                       .history_version = seen->history_version,
                                       .runs = seen->runs,
                                       .looked_at = seen->looked_at,
                                       .used = seen->n,
                                       .failed = seen->failed,
                                       .without_problem_size = seen->without_problem_size,
                                       .without_executors = seen->without_executors,
                                       .without_duration = seen->without_duration,
                                       .context = *context,
                                       .selection = selection,
                                       .watch = watch};
    struct run_observations own;
    PV_TRY(keep_own(seen, arena, &own, err));
    if (own.n > 0)
        all.smallest = surface_smallest(own.rows, own.n);
    PV_TRY(find_axes(&own, arena, &all.axes, err));
    struct writer w;
    writer_init(&w, arena);
    codec_history_models_encode(&w, &all);
    model->document.at = writer_finish(&w, &model->document.n);
    return model->document.at == NULL ? pv_no_memory(err) : PV_OK;
}

/* Which labels a request asks about; n == 0: those of the latest run. */
struct asked_labels {
    const struct run_label *at;
    size_t n;
};

/* Group the runs by the labels that explain the time, and mark those of the context asked about. */
static enum pv_code find_context(const struct run_observations *seen,
                                 const struct asked_labels *asked,
                                 struct arena *arena,
                                 struct codec_history_context *context,
                                 struct pv_error *err)
{
    struct contexts found;
    size_t row = contexts_match(seen->labels, seen->n, asked->at, asked->n);
    *context = (struct codec_history_context){.asked = asked->n > 0};
    if (row == seen->n && asked->n > 0)
        return pv_fault(err, PV_PLACE_PARAMETER, "label", "not_found",
                        "none of the %zu runs that can be used has these labels", seen->n);
    PV_TRY(contexts_find(seen->rows, seen->labels, seen->n, arena, &found, err));
    if (found.n_keys == 0)
        return PV_OK;
    struct strview *keys = arena_array(arena, found.n_keys, sizeof *keys);
    if (keys == NULL)
        return pv_no_memory(err);
    memcpy(keys, found.keys, found.n_keys * sizeof *keys);
    contexts_assign(&found, row, seen->rows, seen->n);
    context->keys = keys;
    context->n_keys = found.n_keys;
    context->labels = &seen->labels[row];
    context->contexts = found.n;
    for (size_t i = 0; i < seen->n; i++)
        context->runs += seen->rows[i].context <= 1;
    return PV_OK;
}

/* Select for the context; where its runs are too few for any model, for runs of all labels. */
static enum pv_code select_for(const struct run_observations *seen,
                               struct codec_history_context *context,
                               struct arena *arena,
                               struct model_selection *selection,
                               struct pv_error *err)
{
    PV_TRY(model_select(seen->rows, seen->n, arena, selection, err));
    if (selection->selected != NULL || context->n_keys == 0)
        return PV_OK;
    context->ignored = true;
    for (size_t i = 0; i < seen->n; i++)
        seen->rows[i].context = 0;
    return model_select(seen->rows, seen->n, arena, selection, err);
}

/*
 * A drift that the model has not caught up with is reported, and one that came and went since the
 * models were last kept; but not one found in a history that is fitted for the first time, which
 * may be years back. The store reports each once.
 */
static enum pv_code tell_drift(const struct run_observations *seen,
                               const struct codec_watch *watch,
                               struct arena *arena,
                               struct application_model *model,
                               struct pv_error *err)
{
    struct writer w;
    model->drift_event = (struct strview){NULL, 0};
    if (watch->drift.drifts == 0 ||
        (watch->drift.state != DRIFT_PRESENT && model->history_version == RUN_UNKNOWN))
        return PV_OK;
    writer_init(&w, arena);
    codec_drift_event_encode(&w, model->application, seen->history_version, watch);
    model->drift_event.at = writer_finish(&w, &model->drift_event.n);
    model->drift_us = watch->detected.instant_us;
    return model->drift_event.at == NULL ? pv_no_memory(err) : PV_OK;
}

static enum pv_code fit(struct run_observations *seen,
                        const struct asked_labels *asked,
                        struct arena *arena,
                        struct application_model *model,
                        struct model_selection *made,
                        struct pv_error *err)
{
    struct model_selection selection;
    struct codec_history_context context;
    struct codec_watch watch;
    PV_TRY(find_context(seen, asked, arena, &context, err));
    PV_TRY(history_watch(seen, arena, &watch, err));
    PV_TRY(tell_drift(seen, &watch, arena, model, err));
    PV_TRY(select_for(seen, &context, arena, &selection, err));
    *made = selection;
    model->history_version = seen->history_version;
    model->fitted = 0;
    for (size_t k = 0; k < selection.n; k++)
        model->fitted += selection.candidates[k].standing != MODEL_NOT_FITTED;
    model->selected = model->refusal_code = model->refusal = (struct strview){NULL, 0};
    if (selection.selected != NULL)
        model->selected = strview_of(selection.selected->kind->name);
    else
        PV_TRY(tell_refusal(seen, &selection, arena, model, err));
    return write_document(seen, &context, &selection, &watch, arena, model, err);
}

static enum pv_code keep(struct api *api,
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

static bool is_current(const struct application_model *model, const char *recipe)
{
    return model->history_version == model->history_now && strview_is(model->recipe, recipe);
}

/* What is kept, and where it is behind (*current false) the runs to fit. */
static enum pv_code look_up(struct api *api,
                            struct store_tx *tx,
                            struct arena *arena,
                            const char *name,
                            bool may_fit,
                            struct application_model *found,
                            struct run_observations *seen,
                            bool *current,
                            struct pv_error *err)
{
    const char *recipe = NULL;
    PV_TRY(make_recipe(api, arena, &recipe, err));
    PV_TRY(store_application_model_find(tx, arena, name, found, err));
    *current = is_current(found, recipe);
    if (*current)
        return PV_OK;
    if (!may_fit)
        return PV_E_DEFER;
    found->recipe = strview_of(recipe);
    return store_run_observations(tx, arena, found->application_id,
                                  (size_t)api->config->observations_max, seen, err);
}

/* Current models, fitted now if need be (*fitted); the connection is not held meanwhile. */
static enum pv_code find_or_fit(struct api *api,
                                const struct asker *asker,
                                const char *name,
                                struct application_model *model,
                                bool *fitted,
                                struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    struct run_observations seen = {.n = 0};
    struct model_selection selection;
    bool current = false;
    enum pv_code code =
        store_begin(api->store, asker->who, asker->request_id, STORE_READ, &tx, err);
    if (code == PV_OK)
        code = look_up(api, tx, asker->arena, name, asker->may_fit, model, &seen, &current, err);
    store_rollback(&tx);
    *fitted = code == PV_OK && !current;
    if (!*fitted)
        return code;
    const struct asked_labels latest = {NULL, 0};
    return fit(&seen, &latest, asker->arena, model, &selection, err);
}

enum pv_code application_models_load(struct api *api,
                                     struct http_request *request,
                                     const char *name,
                                     struct application_model *model,
                                     struct pv_error *err)
{
    const struct asker asker = {&request->principal, request->request_id, request->arena,
                                request->may_compute};
    struct application_model found;
    bool fitted = false;
    PV_TRY(find_or_fit(api, &asker, name, &found, &fitted, err));
    if (fitted) {
        fitter_count(FIT_FOR_READER);
        /* What cannot be kept is answered all the same: whoever asks next fits again. */
        (void)!keep(api, asker.who, asker.request_id, &found, NULL);
    }
    *model = found;
    return PV_OK;
}

enum pv_code application_models_of_labels(struct api *api,
                                          struct http_request *request,
                                          const char *name,
                                          const struct run_label labels[],
                                          size_t n,
                                          struct application_model *model,
                                          struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    struct run_observations seen = {.n = 0};
    struct model_selection selection;
    const struct asked_labels asked = {labels, n};
    if (!request->may_compute)
        return PV_E_DEFER;
    PV_TRY(api_read(api, request, &tx, err));
    PV_TRY(store_application_model_find(tx, request->arena, name, model, err));
    PV_TRY(store_run_observations(tx, request->arena, model->application_id,
                                  (size_t)api->config->observations_max, &seen, err));
    store_rollback(&tx);
    PV_TRY(fit(&seen, &asked, request->arena, model, &selection, err));
    /* A refit is one of the latest run's context. */
    model->refit = (struct strview){NULL, 0};
    return PV_OK;
}

enum pv_code application_models_own_runs(struct run_observations *seen,
                                         const struct run_label labels[],
                                         size_t n,
                                         struct arena *arena,
                                         struct run_observations *own,
                                         struct pv_error *err)
{
    const struct asked_labels asked = {labels, n};
    struct codec_history_context context;
    struct codec_watch watch; /* read by nobody: it weighs the runs */
    PV_TRY(find_context(seen, &asked, arena, &context, err));
    PV_TRY(history_watch(seen, arena, &watch, err));
    return keep_own(seen, arena, own, err);
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
    const struct asker asker = {&team, "", arena, true};
    struct application_model found;
    PV_TRY(find_or_fit(api, &asker, name, &found, fitted, err));
    return *fitted ? keep(api, &team, "", &found, err) : PV_OK;
}

enum pv_code application_models_read(struct arena *arena,
                                     const struct application_model *stored,
                                     const struct model_kind *kind,
                                     struct codec_history_model *model,
                                     struct pv_error *err)
{
    const struct codec_bounds bounds = {.depth = WRITER_DEPTH_MAX, .values = stored->document.n};
    json_t *json = NULL;
    struct pv_error why = {0};
    enum pv_code code = codec_parse(stored->document.at, stored->document.n, &bounds, &json, &why);
    if (code == PV_OK) {
        struct codec_reader reader = {arena, &why};
        struct codec_node top = codec_top(&reader, json);
        codec_history_model_decode(&top, kind, model);
        code = codec_result(&reader);
    }
    json_decref(json);
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
                                      struct application_refit *made,
                                      struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    const char *recipe = NULL;
    PV_TRY(make_recipe(api, arena, &recipe, err));
    PV_TRY(store_begin(api->store, who, request_id, STORE_READ, &tx, err));
    PV_TRY(store_application_model_find(tx, arena, name, &made->model, err));
    PV_TRY(store_run_observations(tx, arena, made->model.application_id,
                                  (size_t)api->config->observations_max, &made->seen, err));
    store_rollback(&tx);
    made->model.recipe = strview_of(recipe);
    const struct asked_labels latest = {NULL, 0};
    struct run_observations seen = made->seen;
    PV_TRY(fit(&seen, &latest, arena, &made->model, &made->selection, err));
    return keep_own(&seen, arena, &made->seen, err);
}
