#ifndef CORE_ADVICE_HISTORY_LIMITS_H
#define CORE_ADVICE_HISTORY_LIMITS_H

#include "core/advice/history_prediction.h"

/*
 * Where a history does not allow an answer: nothing can be predicted from it, predictions of runs left out are off by more than
 * limits->error_percent, the runs are of different jobs (core/advice/unrelated_runs.h), or the
 * problem size is far away: more than limits->extrapolation times as large or small as that of a single
 * run, more than its square beyond those of several, which show how the work grows. Or the interval
 * of the recommendation is wider than ADVISE_INTERVAL_WIDEST, or an end of it is unknown. A number
 * that stands on nothing is worse than none, so no count is advised then.
 */
enum history_lack {
    HISTORY_SUFFICES,
    HISTORY_STREAMING, /* a streaming application has no duration that a deadline could be for */
    HISTORY_SESSION,
    HISTORY_UNUSABLE,
    HISTORY_UNRELATED,
    HISTORY_ERRS,
    HISTORY_FAR,
    HISTORY_WIDE
};

enum history_lack history_limits_find(const struct history_prediction *prediction,
                                      const struct advise_choice *recommendation,
                                      const struct advice_limits *limits);

/*
 * confidence  of the intervals.
 *
 * Make *advice one whose verdict is unknown: without alternatives, with the reason
 * history_insufficient and what data would help. What it points at lives in `arena`. PV_E_MEMORY.
 */
enum pv_code history_limits_refuse(const struct history_prediction *prediction,
                                   const struct advice_limits *limits,
                                   enum history_lack lack,
                                   double confidence,
                                   struct arena *arena,
                                   struct advice *advice,
                                   struct pv_error *err) PV_MUSTCHECK;

/* A warning, poor_model, where predictions of runs left out are off by more than half of what is
 * allowed. PV_E_MEMORY. */
enum pv_code history_limits_warn(const struct history_prediction *prediction,
                                 const struct advice_limits *limits,
                                 struct advice *advice,
                                 struct pv_error *err) PV_MUSTCHECK;

#endif
