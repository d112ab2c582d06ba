#ifndef API_MODELS_APPLICATION_MODELS_H
#define API_MODELS_APPLICATION_MODELS_H

#include "api/api.h"
#include "codec/models/fitted_model.h"
#include "store/models/application_model.h"

/*
 * The models of an application, of its history as it is now. They are fitted for a version of a
 * history and kept in the database for everybody: soon after runs came or went
 * (api/models/fitter.h), or by who asks before that. A hundred runs that arrive one after another
 * thus cost one fit or two and not a hundred.
 *
 * A request takes the three steps below in this order, each in a step of its call; what they make
 * lives in the request's arena.
 */
struct application_models {
    const char *name; /* of the application */
    /* Those asked for: the models are then of the group that the newest run with these labels is
     * in (core/scaling/history/label_group.h), fitted for this request; none: of the latest run's.
     */
    const struct run_label *labels;
    size_t n_labels;

    struct application_model stored; /* the result; before fitting what is kept */
    struct run_observations seen;    /* where it is to be fitted */
    bool to_fit;
    bool to_keep;
};

/* At HTTP_IO: what is kept and, where that is behind, the runs. PV_E_NOT_FOUND: no such
 * application. */
enum pv_code application_models_load(struct api *api,
                                     struct http_request *request,
                                     struct application_models *models,
                                     struct pv_error *err) PV_MUSTCHECK;

/*
 * At HTTP_ANYWHERE; moves to HTTP_COMPUTE where there is something to fit. That no kind can be
 * fitted is an answer, which is kept too. A fault at parameter label where no run that can be used
 * has the labels.
 */
enum pv_code application_models_fit(struct http_request *request,
                                    struct application_models *models,
                                    struct pv_error *err) PV_MUSTCHECK;

/* At HTTP_ANYWHERE; moves to HTTP_IO where there is something to keep. What cannot be kept is
 * answered all the same: whoever asks next fits again. */
enum pv_code application_models_keep(struct api *api,
                                     struct http_request *request,
                                     struct application_models *models) PV_MUSTCHECK;

/*
 * The models for nobody in particular: fit what is kept of that team's application if it is behind,
 * and keep it. *fitted: it was. PV_E_NOT_FOUND; what the store answers where it cannot be kept.
 */
enum pv_code application_models_refresh(struct api *api,
                                        struct arena *arena,
                                        const char *team_id,
                                        const char *name,
                                        bool *fitted,
                                        struct pv_error *err) PV_MUSTCHECK;

/*
 * What predictions for advice need beside the models and takes long: the search for a process over
 * label groups (core/scaling/model/process_theta.h), kept where it is not of these runs already.
 * PV_E_NOT_FOUND; what the store answers.
 */
enum pv_code application_models_prepare(struct api *api,
                                        struct arena *arena,
                                        const char *team_id,
                                        const char *name,
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
