#ifndef CORE_ADVICE_SPARK_HISTORY_H
#define CORE_ADVICE_SPARK_HISTORY_H

#include "base/arena.h"
#include "base/error.h"
#include "core/advice/history_extent.h"
#include "core/spark/configuration.h"

/*
 * What an application ran with, of its latest run that succeeded and has Spark properties, and the
 * bytes of its largest shuffle, of the nearest run, in proportion to the problem size where that is
 * larger.
 *
 * latest   newest first; nearest  nearest first; both may be empty, both are borrowed.
 * *before  points into `arena`. PV_E_MEMORY.
 */
enum pv_code spark_history_take(const struct run latest[],
                                size_t n_latest,
                                const struct run nearest[],
                                size_t n_nearest,
                                const struct history_extent *extent,
                                double problem_size,
                                struct arena *arena,
                                struct spark_before *before,
                                struct pv_error *err) PV_MUSTCHECK;

#endif
