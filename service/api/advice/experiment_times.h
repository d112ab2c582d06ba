#ifndef API_ADVICE_EXPERIMENT_TIMES_H
#define API_ADVICE_EXPERIMENT_TIMES_H

#include "api/advice/advice_load.h"
#include "api/models/experiments.h"

/*
 * How long the runs that may be made next take: what advice for these problem sizes predicts, by
 * replay or by a model, from the same cache.
 */

/* Sizes beyond are predicted from those nearest to them. */
enum { EXPERIMENT_TIMES_SIZES_MAX = EXPERIMENT_SIZES_MAX + 1 };

/* Zeros at first; to be ended whatever became of it. */
struct experiment_times {
    double problem_sizes[EXPERIMENT_TIMES_SIZES_MAX]; /* ascending */
    struct advice_prediction predictions[EXPERIMENT_TIMES_SIZES_MAX];
    bool done[EXPERIMENT_TIMES_SIZES_MAX]; /* there is a prediction, or can be none */
    size_t n;
};
void experiment_times_end(struct experiment_times *times);

/*
 * A step of its own, at HTTP_ANYWHERE: asked->question.predicted for asked->region. Moves to
 * HTTP_IO and to HTTP_COMPUTE for each size that is not in the cache; a size that nothing can be
 * predicted of is passed over. What is predicted is good until the request ends.
 *
 * question  as of advice; its problem size is replaced
 * own       a prediction at hand, of one size; NULL: none
 */
enum pv_code experiment_times_predict(struct api *api,
                                      struct http_request *request,
                                      const struct advice_question *question,
                                      const struct history_prediction *own,
                                      struct api_experiments *asked,
                                      struct experiment_times *times,
                                      struct pv_error *err) PV_MUSTCHECK;

#endif
