#ifndef API_ADVICE_APPLICATION_PREDICTION_H
#define API_ADVICE_APPLICATION_PREDICTION_H

#include "api/advice/advice_load.h"

/* What advice predicts of an application, for other calls to go by: zeros at first, to be ended
 * whatever became of it. */
struct application_prediction {
    struct advice_question question;
    struct advice_prediction prediction;
    bool none; /* it predicts nothing, or there is no memory for it */
};

/* Of that application, labels (borrowed) and size; goals are open. */
struct advice_question application_question(const struct api *api,
                                            const char *name,
                                            struct run_label *labels,
                                            size_t n_labels,
                                            double problem_size);

/* Two steps, at HTTP_ANYWHERE as advice_prediction_load and advice_prediction_make, of
 * predicted->question. PV_E_NOT_FOUND: the application has been deleted meanwhile. */
enum pv_code application_prediction_load(struct api *api,
                                         struct http_request *request,
                                         struct application_prediction *predicted,
                                         struct pv_error *err) PV_MUSTCHECK;
enum pv_code application_prediction_make(struct api *api,
                                         struct http_request *request,
                                         struct application_prediction *predicted,
                                         struct pv_error *err) PV_MUSTCHECK;

/* The curve over executors; NULL: none. Belongs to *predicted. */
const struct curve *application_prediction_curve(const struct application_prediction *predicted);

/* The curve of replayed runs, also if a model predicts better; NULL: none can be replayed. Belongs
 * to *predicted. */
const struct curve *application_prediction_replay(const struct application_prediction *predicted);

#endif
