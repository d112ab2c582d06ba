#ifndef CORE_CONTROL_EXPLAIN_H
#define CORE_CONTROL_EXPLAIN_H

#include "base/finding.h"
#include "base/strview.h"
#include "core/control/simulation.h"

/* The best of n >= 1 runs: that in which most jobs are in time, then that with the least sum of
 * errors of late jobs, then the least mean error, then the first. Adds why, as a finding. */
size_t control_explain_best(const struct control_run runs[],
                            const struct control_result results[],
                            size_t n,
                            struct findings *why);

/* What to be careful about: jobs that no number of cores could end in time. names[i] belongs to job
 * i. */
void control_explain_warnings(const struct strview names[],
                              const struct control_model *model,
                              struct findings *warnings);

#endif
