#ifndef CORE_ADVICE_SPARK_ADVICE_H
#define CORE_ADVICE_SPARK_ADVICE_H

#include "core/advice/history_prediction.h"
#include "core/spark/configuration.h"

/*
 * The Spark properties of advice: those of executors x cores_per_executor as recommended, with
 * memory and what cures a bottleneck. Properties that are enforced or preserved may start the job
 * with other executors: a warning, properties_differ, says so, for the prediction does not hold for
 * these.
 *
 * *made and the advice live in `arena`. PV_E_MEMORY.
 */
enum pv_code spark_advise(const struct history_prediction *prediction,
                          const struct spark_constraints *constraints,
                          int64_t cores_per_executor,
                          const struct memory_plan *memory,
                          struct arena *arena,
                          struct advice *advice,
                          struct spark_configuration *made,
                          struct pv_error *err) PV_MUSTCHECK;

/* How many executors the job is to keep, by spark.executor.instances that are preserved (or
 * enforced); RUN_UNKNOWN where that is open, or allocation is dynamic. */
int64_t spark_kept_executors(const struct spark_before *before,
                             const struct spark_constraints *constraints);

#endif
