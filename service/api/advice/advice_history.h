#ifndef API_ADVICE_ADVICE_HISTORY_H
#define API_ADVICE_ADVICE_HISTORY_H

#include "api/advice/history_cache.h"
#include "api/api.h"
#include "codec/advice/advice.h"
#include "core/advice/joint_feasibility.h"

/*
 * What an advice knows: the curve of its application, from the cache where it is fresh, else from
 * the nearest runs; and the recorded runs of the jobs that already run.
 */

/*
 * The curve for the request; *item is to be released. Faults: /application when there is no such
 * application; PV_E_TOO_FEW when none of its runs can be replayed (detail counts them).
 */
enum pv_code advice_history_curve(struct api *api,
                                  struct http_request *request,
                                  const struct codec_advice_request *asked,
                                  const struct history_item **item,
                                  struct pv_error *err) PV_MUSTCHECK;

/* The stored runs that `history` of an application is from, nearest first; none where only a model
 * answers. They live in the request's arena. */
enum pv_code advice_history_runs(struct api *api,
                                 struct http_request *request,
                                 const struct codec_advice_request *asked,
                                 const struct history_item *history,
                                 int64_t problem_size,
                                 struct run_list *runs,
                                 struct pv_error *err) PV_MUSTCHECK;

/*
 * Schedule the recommended configuration with asked->running, of the runs that `history` is from.
 * *question and *outcome live in the request's arena, names[i] too (NUL-terminated). Faults:
 * /running/i/application without such an application or without a usable run.
 */
enum pv_code advice_history_beside(struct api *api,
                                   struct http_request *request,
                                   const struct codec_advice_request *asked,
                                   const struct history_item *history,
                                   const struct curve *curve,
                                   const struct advice *advice,
                                   struct joint_question *question,
                                   struct joint_outcome *outcome,
                                   struct pv_error *err) PV_MUSTCHECK;

#endif
