#ifndef API_SIMULATIONS_COMPARISON_LIMITS_H
#define API_SIMULATIONS_COMPARISON_LIMITS_H

#include "codec/scheduling/policy_comparison.h"
#include "config/config.h"

/* What the settings allow. */
struct codec_comparison_limits comparison_limits(const struct config *config);

/* Of a request that was checked when it was submitted, by a process whose settings may differ from
 * ours: all but memory, which is ours. */
struct codec_comparison_limits comparison_limits_again(const struct config *config);

#endif
