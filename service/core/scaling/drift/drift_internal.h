#ifndef CORE_SCALING_DRIFT_DRIFT_INTERNAL_H
#define CORE_SCALING_DRIFT_DRIFT_INTERNAL_H

#include "core/scaling/drift/drift.h"
#include "core/scaling/model/fit_types.h"

/* Same N, m and context. */
bool watch_same_place(const struct observation *a, const struct observation *b);

/* Of n >= 1 values, sorted in place. */
double watch_median(double values[], size_t n);

/* The law that runs without repetitions are compared with; *fitted false: they determine none.
 * PV_E_MEMORY. */
enum pv_code watch_fit_law(const struct observation rows[],
                           size_t n,
                           struct arena *scratch,
                           struct model_fit *fit,
                           bool *fitted,
                           struct pv_error *err) PV_MUSTCHECK;

/* Weigh the outliers among runs first to n - 1, where nothing else took as much off. PV_E_MEMORY.
 */
enum pv_code watch_outliers(const struct watch_run runs[],
                            size_t first,
                            size_t n,
                            struct arena *scratch,
                            struct watch_verdict verdicts[],
                            struct pv_error *err) PV_MUSTCHECK;

#endif
