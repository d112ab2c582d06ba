#ifndef CORE_SCALING_LAWS_IPSO_IPSO_KIND_H
#define CORE_SCALING_LAWS_IPSO_IPSO_KIND_H

#include "core/scaling/laws/ipso/ipso.h"
#include "core/scaling/model/fit_types.h"

/*
 * IPSO as a kind of model: fitted to stage measures, its durations are times after initialization.
 * Parameters in the order of enum ipso_parameter: eta alpha delta beta gamma task_time_s
 * task_exponent, and what else a prediction needs.
 */
extern const struct model_kind ipso_kind;

/* What a fit found, as warnings. Also used where a slice of a history is diagnosed. */
void ipso_warn(const struct ipso_fit *found, struct model_fit *fit);

#endif
