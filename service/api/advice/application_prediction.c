#include "api/advice/application_prediction.h"

struct advice_question application_question(const struct api *api,
                                            const char *name,
                                            struct run_label *labels,
                                            size_t n_labels,
                                            double problem_size)
{
    struct advice_question question = advice_question_open(api->config->executors_max);
    question.application = strview_of(name);
    question.labels = labels;
    question.n_labels = n_labels;
    question.problem_size = problem_size;
    return question;
}

static enum pv_code pass_over(struct application_prediction *predicted,
                              enum pv_code code,
                              const struct pv_error *why,
                              struct pv_error *err)
{
    if (code == PV_E_TOO_FEW || code == PV_E_LIMIT || code == PV_E_MEMORY) {
        predicted->none = true;
        return PV_OK;
    }
    /* The application is all that the question names, and it was there before. */
    if (code == PV_E_INVALID)
        return pv_fail(err, PV_E_NOT_FOUND, "there is no application of this name");
    if (code != PV_OK)
        *err = *why;
    return code;
}

enum pv_code application_prediction_load(struct api *api,
                                         struct http_request *request,
                                         struct application_prediction *predicted,
                                         struct pv_error *err)
{
    struct advice_cluster no_cluster;
    struct pv_error why = {0};
    enum pv_code code = advice_prediction_load(api, request, &predicted->question, &no_cluster,
                                               &predicted->prediction, &why);
    return pass_over(predicted, code, &why, err);
}

enum pv_code application_prediction_make(struct api *api,
                                         struct http_request *request,
                                         struct application_prediction *predicted,
                                         struct pv_error *err)
{
    struct pv_error why = {0};
    if (predicted->none)
        return PV_OK;
    enum pv_code code =
        advice_prediction_make(api, request, &predicted->question, &predicted->prediction, &why);
    predicted->none = code == PV_OK && predicted->prediction.item->prediction.lack != NULL;
    return pass_over(predicted, code, &why, err);
}

const struct curve *application_prediction_curve(const struct application_prediction *predicted)
{
    const struct prediction_item *item = predicted->prediction.item;
    return predicted->none || item == NULL ? NULL : &item->prediction.curve;
}

const struct curve *application_prediction_replay(const struct application_prediction *predicted)
{
    const struct prediction_item *item = predicted->prediction.item;
    bool none = predicted->none || item == NULL || item->prediction.replayed.n_points == 0;
    return none ? NULL : &item->prediction.replayed;
}
