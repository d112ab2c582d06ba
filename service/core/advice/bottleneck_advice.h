#ifndef CORE_ADVICE_BOTTLENECK_ADVICE_H
#define CORE_ADVICE_BOTTLENECK_ADVICE_H

#include "core/advice/advise.h"
#include "core/diagnosis/bottlenecks.h"
#include "core/spark/configuration.h"

/* At most so many bottlenecks are named in advice. */
enum { BOTTLENECKS_ADVISED = 3 };

/* Reasons (bottleneck) for those that cost the nearest run most, each with its cure. PV_E_MEMORY. */
enum pv_code bottlenecks_explain(const struct bottlenecks *bottlenecks,
                                 struct arena *arena,
                                 struct advice *advice,
                                 struct pv_error *err) PV_MUSTCHECK;

/* Spark properties that cure bottlenecks on so many cores, into room for BOTTLENECKS_ADVISED. Texts
 * are in `arena`. PV_E_MEMORY. */
enum pv_code bottleneck_cures(const struct bottlenecks *bottlenecks,
                              int64_t cores,
                              struct arena *arena,
                              struct spark_property_plan cures[],
                              size_t *n,
                              struct pv_error *err) PV_MUSTCHECK;

#endif
