#ifndef API_MODELS_APPLICATION_MODELS_H
#define API_MODELS_APPLICATION_MODELS_H

#include "api/api.h"
#include "codec/models/fitted_model.h"
#include "store/models/application_model.h"

/*
 * The models of the application of that name, of its history as it is now. They are fitted for a
 * version of a history and kept in the database for everybody: soon after runs came or went
 * (api/models/fitter.h), or by who asks before that, on a compute worker. A hundred runs that
 * arrive one after another thus cost one fit or two and not a hundred.
 *
 * *model lives in the request's arena. PV_E_NOT_FOUND: no such application; PV_E_RETRY
 * (http_defer): they have to be fitted, which is no work for an io worker. That no kind can be
 * fitted is an answer, which is kept too.
 */
enum pv_code application_models_load(struct api *api,
                                     struct http_request *request,
                                     const char *name,
                                     struct application_model *model,
                                     struct pv_error *err) PV_MUSTCHECK;

/*
 * The same for runs with labels, at least one: the models of the group that the newest of these
 * is in (core/scaling/history/label_group.h), fitted for this request. Deferred on an io worker; a
 * fault at parameter label where no run that can be used has them.
 */
enum pv_code application_models_of_labels(struct api *api,
                                          struct http_request *request,
                                          const char *name,
                                          const struct run_label labels[],
                                          size_t n,
                                          struct application_model *model,
                                          struct pv_error *err) PV_MUSTCHECK;

/*
 * The same for nobody in particular: fit what is kept of that team's application if it is behind,
 * and keep it. *fitted: it was. PV_E_NOT_FOUND; what the store answers where it cannot be kept.
 */
enum pv_code application_models_refresh(struct api *api,
                                        struct arena *arena,
                                        const char *team_id,
                                        const char *name,
                                        bool *fitted,
                                        struct pv_error *err) PV_MUSTCHECK;

/* One model out of the document that is kept, read back into `arena`; kind NULL: the one selected,
 * which there must be. PV_E_INTERNAL: it cannot be read; PV_E_MEMORY. */
enum pv_code application_models_read(struct arena *arena,
                                     const struct application_model *stored,
                                     const struct model_kind *kind,
                                     struct codec_history_model *model,
                                     struct pv_error *err) PV_MUSTCHECK;

/*
 * Fit every kind to the history as it is now, whether it changed or not; storing it is up to
 * the caller. Everything lives in the arena. PV_E_NOT_FOUND.
 */
enum pv_code application_models_refit(struct api *api,
                                      struct arena *arena,
                                      const struct principal *who,
                                      const char *request_id,
                                      const char *name,
                                      struct application_model *model,
                                      struct history_models *made,
                                      struct pv_error *err) PV_MUSTCHECK;

/* The answer, as an error, where the wanted models are not there: no kind can be selected, or none
 * that learns from the label group alone. */
static inline enum pv_code application_models_refuse(const struct application_model *model,
                                                     struct pv_error *err)
{
    bool singular = strview_is(model->refusal_code, pv_code_name(PV_E_SINGULAR));
    if (model->refusal.at == NULL) /* one is selected */
        return pv_fail(
            err, PV_E_TOO_FEW,
            "the selected model learns from runs with other labels, and the runs of this "
            "label group alone determine none: add runs with these labels");
    return pv_fail(err, singular ? PV_E_SINGULAR : PV_E_TOO_FEW, "%s", model->refusal.at);
}

#endif
