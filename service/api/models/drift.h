#ifndef API_MODELS_DRIFT_H
#define API_MODELS_DRIFT_H

#include "codec/models/drift.h"
#include "store/history/run_durations.h"
#include "store/models/application_model.h"

/* So many of the runs that count less are listed, the newest. */
enum { HISTORY_WATCH_LISTED = 50 };

/*
 * Watch the observed runs (core/scaling/drift/drift.h): sets the weight of each row, which fits
 * honour, and says what to report. Names in *watch are borrowed from `seen`; the list lives in
 * `arena`. PV_E_MEMORY.
 */
enum pv_code history_watch(struct run_observations *seen,
                           struct arena *arena,
                           struct codec_watch *watch,
                           struct pv_error *err) PV_MUSTCHECK;

/*
 * The same for runs that an advice is drawn from: sets the weight of each. Nothing is listed, but
 * counted.
 */
enum pv_code history_watch_durations(struct run_duration_list *list,
                                     const unsigned of[],
                                     struct arena *scratch,
                                     struct codec_watch *watch,
                                     struct pv_error *err) PV_MUSTCHECK;

#endif
