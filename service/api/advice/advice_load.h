#ifndef API_ADVICE_ADVICE_LOAD_H
#define API_ADVICE_ADVICE_LOAD_H

#include "api/advice/prediction_cache.h"
#include "api/api.h"
#include "core/advice/answer.h"
#include "store/history/run.h"

/* Loads what advice is computed from, in two steps of one read transaction each. */

/* Models are fitted to so many of the latest runs. */
enum { MODEL_RUNS_MAX = 250 };

struct advice_limits advice_limits_of(const struct config *config);

/*
 * The prediction of one request while it is loaded and made: zeros at first, to be ended whatever
 * became of it.
 */
struct advice_prediction {
    const struct prediction_item *item; /* NULL: not there yet */
    struct prediction_item *making;
    struct advice_history history; /* to make it from; in `loaded` */
    struct arena loaded;
    bool is_loaded;
    uint64_t read_ns, epoch; /* when loading began, of the clock and of the cache */
};
void advice_prediction_end(struct advice_prediction *prediction);

/*
 * At HTTP_ANYWHERE: the cluster, which bounds *question, and the prediction from the cache where it
 * is fresh, else what it is to be made from, for which it moves to HTTP_IO.
 *
 * Faults: /application when there is no such application; at a name of a cluster that is not there;
 * as advice_cluster_apply.
 */
enum pv_code advice_prediction_load(struct api *api,
                                    struct http_request *request,
                                    struct advice_question *question,
                                    struct advice_cluster *cluster,
                                    struct advice_prediction *prediction,
                                    struct pv_error *err) PV_MUSTCHECK;

/* At HTTP_ANYWHERE: prediction->item, for which it moves to HTTP_COMPUTE where it has to be made.
 * Faults as history_predict and profile_predict. */
enum pv_code advice_prediction_make(struct api *api,
                                    struct http_request *request,
                                    const struct advice_question *question,
                                    struct advice_prediction *prediction,
                                    struct pv_error *err) PV_MUSTCHECK;

/* Loads the history for history_predict, with at most `most` runs to be replayed, into `arena`. */
enum pv_code advice_history_load(struct store_tx *tx,
                                 struct arena *arena,
                                 const struct application *application,
                                 const struct advice_question *question,
                                 size_t most,
                                 struct advice_history *history,
                                 struct pv_error *err) PV_MUSTCHECK;

/* Recorded runs, in the request's arena. */
struct advice_runs {
    const struct run *own; /* that the prediction is from, nearest first; the profile */
    size_t n_own;
    struct joint_running *running; /* one for each running job */
};

/* At HTTP_ANYWHERE; moves to HTTP_IO where there is something to load. Faults:
 * /running/i/application without such an application or without a usable run; /running where jobs
 * run and there is no run of the application itself. */
enum pv_code advice_load_runs(struct api *api,
                              struct http_request *request,
                              const struct advice_question *question,
                              const struct prediction_item *item,
                              struct advice_runs *runs,
                              struct pv_error *err) PV_MUSTCHECK;

#endif
