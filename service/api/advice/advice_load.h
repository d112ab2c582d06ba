#ifndef API_ADVICE_ADVICE_LOAD_H
#define API_ADVICE_ADVICE_LOAD_H

#include "api/advice/prediction_cache.h"
#include "api/api.h"
#include "core/advice/answer.h"
#include "store/history/run.h"

/* Loads what advice is computed from, in two steps of one read transaction each. */

struct advice_limits advice_limits_of(const struct config *config);

/*
 * The cluster, which bounds *question, and the prediction: from the cache where it is fresh, else
 * computed from the nearest runs once the connection is given back. *item is to be released.
 *
 * PV_E_RETRY (http_defer): it has to be computed, which is no work for an io worker. Faults:
 * /application when there is no such application; at a name of a cluster that is not there; as
 * advice_cluster_apply; else as history_predict and profile_predict.
 */
enum pv_code advice_load_prediction(struct api *api,
                                    struct http_request *request,
                                    struct advice_question *question,
                                    struct advice_cluster *cluster,
                                    const struct prediction_item **item,
                                    struct pv_error *err) PV_MUSTCHECK;

/* Recorded runs, in the request's arena. */
struct advice_runs {
    const struct run *own; /* that the prediction is from, nearest first; the profile */
    size_t n_own;
    struct joint_running *running; /* one for each running job */
};

/* Faults: /running/i/application without such an application or without a usable run; /running
 * where jobs run and there is no run of the application itself. */
enum pv_code advice_load_runs(struct api *api,
                              struct http_request *request,
                              const struct advice_question *question,
                              const struct prediction_item *item,
                              struct advice_runs *runs,
                              struct pv_error *err) PV_MUSTCHECK;

#endif
