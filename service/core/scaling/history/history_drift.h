#ifndef CORE_SCALING_HISTORY_HISTORY_DRIFT_H
#define CORE_SCALING_HISTORY_HISTORY_DRIFT_H

#include "core/scaling/drift/drift_detection.h"
#include "core/scaling/history/run_observations.h"

/* Whether an application has drifted, and which of its runs count less in fits. */

/* So many of the runs that count less are listed, the newest. */
enum { HISTORY_DRIFT_LISTED = 50 };

struct down_weighted_run {
    const struct run_evidence *run;
    const char *reason; /* a word */
    double weight;
    /* What it is read off; NAN: does not apply. */
    double duration_s;
    double promised_s;
    double deviations;
    double executors;
    double executors_asked;
    double executors_share;
    double failed_share;
};

struct history_drift {
    struct drift drift;
    const struct run_evidence *since; /* the first run of the new level; NULL: none */
    const struct run_evidence *detected;
    const struct down_weighted_run *down_weighted; /* newest first */
    size_t n_down_weighted;
    size_t down_weighted_in_all; /* n_down_weighted of them are listed */
    size_t faded;                /* runs from before a drift, which are not listed */
};

/*
 * Watch the runs (core/scaling/drift/drift_detection.h): sets the weight of each row, which fits
 * honour, and says what to report. Runs with other labels that make a difference
 * (observation.context) and with other cores per executor are groups of their own. What *found
 * points at is among the runs and in `arena`. PV_E_MEMORY.
 */
enum pv_code history_drift_find(struct run_observations *seen,
                                struct arena *arena,
                                struct history_drift *found,
                                struct pv_error *err) PV_MUSTCHECK;

/*
 * A drift that the model has not caught up with is reported, and one that came and went since
 * models were last fitted; but not one found in a history that is fitted for the first time, which
 * may be years back.
 */
bool history_drift_is_reported(const struct history_drift *found, bool fitted_before);

#endif
