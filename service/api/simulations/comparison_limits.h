#ifndef API_SIMULATIONS_COMPARISON_LIMITS_H
#define API_SIMULATIONS_COMPARISON_LIMITS_H

#include "codec/scheduling/policy_comparison.h"
#include "config/config.h"

/* What the settings allow. workload: that of the request, borrowed; NULL: none has been looked up. */
struct codec_comparison_limits comparison_limits(const struct config *config,
                                                 const struct workload_summary *workload);

/* Of a request that was checked when it was submitted, by a process whose settings may differ from
 * ours: all but memory, which is ours. */
struct codec_comparison_limits comparison_limits_again(const struct config *config,
                                                       const struct workload_summary *workload);

#endif
