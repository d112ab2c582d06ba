#ifndef CORE_DIAGNOSIS_EXPLAIN_H
#define CORE_DIAGNOSIS_EXPLAIN_H

#include "core/diagnosis/diagnosis.h"
#include "core/scaling/model/describe.h"

/* What a diagnosis means, in words with their numbers. */

/* The six steps of the paper's procedure (IPSO section 2.5.2) as they went for this series:
 * workload, measurements, curve, trend, type, exponents. */
void diagnosis_explain_steps(const struct diagnosis_slice *slice, struct findings *steps);

/* What keeps the speedup from growing as the executors do, worst first: where an executor's time
 * goes at the largest count. Empty without stages. */
void diagnosis_explain_causes(const struct diagnosis_slice *slice, struct findings *causes);

/* The best load of an executor and what ends it; nothing where loads cannot be compared. */
void diagnosis_explain_load(const struct diagnosis_best_load *best, struct findings *findings);

/* What would explain more. unmeasured: runs whose stages are still to be measured. */
void diagnosis_explain_missing(const struct diagnosis *diagnosis,
                               size_t unmeasured,
                               struct findings *missing);

/* "fixed_size", "linear" .. as on the wire. */
const char *diagnosis_trend_name(enum diagnosis_trend trend);

#endif
