#include "api/models/refit_run.h"

#include <string.h>

#include "api/models/application_models.h"
#include "core/numerics/permutation.h"
#include "core/scaling/model/fit.h"
#include "store/history/application.h"
#include "threads/clock.h"

enum {
    SELECTIONS_MAX = 200, /* the share of one in two is then known to 3.5 % */
    POINTS_DEFAULT = 64   /* of those observed, where none are asked for */
};

/* What one attempt has in hand. */
struct refit {
    struct api *api;
    struct operation_run *run;
    struct codec_refit asked;
    struct application_model model;
    struct history_models fitted;
    struct warned_runs warned;
    const struct model_kind *kind;
    struct bootstrap_order order;
    struct bootstrap_result bootstrap;
    bool has_bootstrap;
    struct pv_error no_bootstrap;
    struct model_fit fit; /* where there is no bootstrap */
};

struct codec_refit_limits refit_limits(const struct config *config)
{
    int64_t most = config->refit_resamples_max;
    return (struct codec_refit_limits){config->refit_resamples < most ? config->refit_resamples
                                                                      : most,
                                       most, (size_t)config->refit_points_max};
}

/* --- what is asked --- */

/* Checked when it was submitted, by a process whose settings may differ from ours. */
static enum pv_code read_request(struct refit *refit, struct pv_error *err)
{
    const struct codec_refit_limits any = {1, INT32_MAX, INT32_MAX};
    struct strview text = refit->run->request;
    const struct codec_bounds bounds = {.depth = WRITER_DEPTH_MAX, .values = text.n};
    struct codec_document document;
    PV_TRY(codec_open(&document, text.at, text.n, &bounds, refit->run->arena, err));
    codec_refit_decode(&document.top, &any, &refit->asked);
    return codec_close(&document);
}

/* --- fit --- */

static enum pv_code removed(struct pv_error *err)
{
    pv_error_clear(err);
    return pv_fail(err, PV_E_NOT_FOUND, "the application was removed meanwhile");
}

static enum pv_code fit_all(struct refit *refit, struct pv_error *err)
{
    struct operation_run *run = refit->run;
    struct history_models *fitted = &refit->fitted;
    enum pv_code code = application_models_refit(refit->api, run->arena, &run->who, run->request_id,
                                                 run->application, &refit->model, fitted, err);
    /* Another one of that name is none that was asked for. */
    if (code == PV_OK && strcmp(refit->model.application_id, run->application_id) != 0)
        code = PV_E_NOT_FOUND;
    if (code == PV_E_NOT_FOUND)
        return removed(err);
    if (code != PV_OK)
        return code;
    refit->kind =
        refit->asked.kind != NULL ? refit->asked.kind : bootstrap_kind(&fitted->selection);
    return refit->kind == NULL ? application_models_refuse(&refit->model, err) : PV_OK;
}

/* The configurations observed, thinned where there are many. */
static enum pv_code choose_points(struct refit *refit, struct pv_error *err)
{
    const struct run_observations *own = &refit->fitted.own;
    return refit->asked.points != NULL
               ? PV_OK
               : bootstrap_observed_points(own->rows, own->n, POINTS_DEFAULT, refit->run->arena,
                                           &refit->asked.points, &refit->asked.n_points, err);
}

/* --- bootstrap --- */

/* Work for an application that is gone is in vain. What the database does not answer now it will
 * answer at the end. */
static enum pv_code check_alive(struct refit *refit, struct arena *scratch, struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct operation_run *run = refit->run;
    struct application *found = arena_calloc(scratch, 1, sizeof *found);
    store_tx_auto_t *tx = NULL;
    enum pv_code code = found == NULL ? PV_E_MEMORY : PV_OK;
    if (code == PV_OK)
        code = store_begin(run->store, &run->who, run->request_id, STORE_READ, &tx, NULL);
    if (code == PV_OK)
        code = store_application_find(tx, scratch, run->application, found, NULL);
    store_rollback(&tx);
    bool gone =
        code == PV_E_NOT_FOUND || (code == PV_OK && strcmp(found->id, run->application_id) != 0);
    arena_rewind(scratch, mark);
    return gone ? removed(err) : PV_OK;
}

static enum pv_code take_step(struct refit *refit,
                              struct bootstrap *bootstrap,
                              size_t at,
                              uint64_t *looked_ns,
                              struct arena *scratch,
                              struct pv_error *err)
{
    const uint64_t second_ns = 1000000000;
    PV_TRY(bootstrap_step(bootstrap, at, scratch, err));
    uint64_t now_ns = clock_monotonic_ns();
    if (now_ns - *looked_ns < second_ns)
        return PV_OK;
    *looked_ns = now_ns;
    return check_alive(refit, scratch, err);
}

static enum pv_code
take_steps(struct refit *refit, struct bootstrap *bootstrap, struct pv_error *err)
{
    struct arena scratch;
    size_t steps = bootstrap_steps(bootstrap);
    size_t stride = permutation_step(steps);
    uint64_t looked_ns = clock_monotonic_ns();
    enum pv_code code = PV_OK;
    arena_init_beside(&scratch, refit->run->arena,
                      (size_t)refit->api->config->request_memory_bytes_max);
    for (size_t i = 0, at = 0; code == PV_OK && i < steps; i++, at = (at + stride) % steps) {
        if (!operation_progress(refit->run, (int64_t)i, (int64_t)steps, "resamples"))
            code = pv_fail(err, PV_E_CANCELLED, "the refit was cancelled");
        else
            code = take_step(refit, bootstrap, at, &looked_ns, &scratch, err);
    }
    arena_fini(&scratch);
    return code;
}

/* A kind that could be fitted but of whose errors nothing is known is an answer, too. */
static enum pv_code
fit_plainly(struct refit *refit, const struct pv_error *why, struct pv_error *err)
{
    const struct run_observations *seen = &refit->fitted.own;
    refit->no_bootstrap = *why;
    return model_fit(refit->kind, seen->rows, seen->n, refit->asked.weights, refit->run->arena,
                     &refit->fit, err);
}

static enum pv_code make_bootstrap(struct refit *refit, struct pv_error *err)
{
    const struct codec_refit *asked = &refit->asked;
    struct bootstrap *bootstrap = NULL;
    struct pv_error why = {.code = PV_OK};
    refit->order = (struct bootstrap_order){
        .kind = refit->kind,
        .weights = asked->weights,
        .rows = refit->fitted.own.rows,
        .n = refit->fitted.own.n,
        .points = asked->points,
        .n_points = asked->n_points,
        .resamples = (size_t)asked->resamples,
        .selections = asked->resamples < SELECTIONS_MAX ? (size_t)asked->resamples : SELECTIONS_MAX,
        .confidence = asked->confidence,
        .seed = (uint64_t)asked->seed};
    enum pv_code code = bootstrap_begin(&refit->order, refit->run->arena, &bootstrap, &why);
    if (code == PV_E_MEMORY)
        return pv_no_memory(err);
    if (code != PV_OK)
        return fit_plainly(refit, &why, err);
    PV_TRY(take_steps(refit, bootstrap, err));
    PV_TRY(bootstrap_finish(bootstrap, refit->run->arena, &refit->bootstrap, err));
    refit->has_bootstrap = true;
    return PV_OK;
}

/* --- the end --- */

static void refit_run_describe(struct refit *refit, struct codec_refit_result *made)
{
    refit->warned = history_models_warned(&refit->fitted.own);
    *made = (struct codec_refit_result){
        .operation_id = refit->run->key.id,
        .refitted_us = clock_wall_us(),
        .application = refit->run->application,
        .history_version = refit->model.history_version,
        .history_version_now = refit->model.history_version,
        .runs = refit->fitted.own.runs,
        .used = refit->fitted.own.n,
        .warned = &refit->warned,
        .asked = &refit->asked,
        .selection = &refit->fitted.selection,
        .fit = refit->has_bootstrap ? refit->bootstrap.fit : &refit->fit,
        .bootstrap = refit->has_bootstrap ? &refit->bootstrap : NULL,
        .no_bootstrap = refit->no_bootstrap.detail};
}

static enum pv_code write_text(struct refit *refit,
                               const struct codec_refit_result *made,
                               void (*encode)(struct writer *, const struct codec_refit_result *),
                               struct strview *text,
                               struct pv_error *err)
{
    struct writer w;
    writer_init(&w, refit->run->arena);
    encode(&w, made);
    text->at = writer_finish(&w, &text->n);
    return text->at == NULL ? pv_no_memory(err) : PV_OK;
}

/* Models, intervals and the end of the operation take effect together. */
static enum pv_code store_refit(struct refit *refit, struct pv_error *err)
{
    struct operation_run *run = refit->run;
    struct codec_refit_result made;
    store_tx_auto_t *tx = NULL;
    struct strview summary = {NULL, 0};
    struct strview result = {NULL, 0};
    refit_run_describe(refit, &made);
    PV_TRY(write_text(refit, &made, codec_refit_summary_encode, &summary, err));
    PV_TRY(store_begin(run->store, &run->who, run->request_id, STORE_WRITE, &tx, err));
    PV_TRY(store_application_model_keep(tx, &refit->model, err));
    PV_TRY(store_application_refit_keep(tx, run->application_id, made.history_version, summary,
                                        &made.history_version_now, err));
    PV_TRY(write_text(refit, &made, codec_refit_result_encode, &result, err));
    return operation_commit(run, &tx, result, err);
}

enum pv_code
refit_run(void *context, struct operation_run *run, struct strview *result, struct pv_error *err)
{
    struct refit *refit = arena_calloc(run->arena, 1, sizeof *refit);
    if (refit == NULL)
        return pv_no_memory(err);
    refit->api = context;
    refit->run = run;
    *result = (struct strview){NULL, 0};
    PV_TRY(read_request(refit, err));
    PV_TRY(fit_all(refit, err));
    PV_TRY(choose_points(refit, err));
    PV_TRY(make_bootstrap(refit, err));
    return store_refit(refit, err);
}
