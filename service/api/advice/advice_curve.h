#ifndef API_ADVICE_ADVICE_CURVE_H
#define API_ADVICE_ADVICE_CURVE_H

#include "api/advice/history_cache.h"
#include "codec/advice/advice.h"
#include "config/config.h"
#include "store/history/run_durations.h"

/* The curve that an advice chooses from, within the configured bounds, out of runs that are loaded.
 */

/* Models are fitted to so many of the latest runs. */
enum { ADVICE_MODEL_RUNS_MAX = 250 };

/*
 * The curve of the replays of n >= 1 runs, nearest in size first; where the request leaves size or
 * cores open, the first one fills in. curve->points lives in `arena`. Fails as curve_predict, and
 * PV_E_TOO_FEW where size or cores stay unknown.
 */
enum pv_code advice_curve_replay(const struct config *config,
                                 const struct codec_advice_request *asked,
                                 const struct run runs[],
                                 size_t n,
                                 struct arena *arena,
                                 struct curve *curve,
                                 struct pv_error *err) PV_MUSTCHECK;

/*
 * `of` is observation.context of each duration; NULL: all are of one.
 *
 * The better of the replay's curve, where there is one in item->curve, and a model's; the latest
 * run fills in where there is none. Fills in item->curve and item->predictor. Fails as
 * predictor_choose.
 */
enum pv_code advice_curve_choose(const struct config *config,
                                 const struct codec_advice_request *asked,
                                 const struct run_duration_list *durations,
                                 const unsigned of[],
                                 bool has_replay,
                                 struct history_item *item,
                                 struct pv_error *err) PV_MUSTCHECK;

#endif
