#ifndef CORE_SCALING_LAWS_KINDS_H
#define CORE_SCALING_LAWS_KINDS_H

#include "core/scaling/model/law.h"

/* All kinds of models that there are, in the order in which they are listed. */
#define MODEL_KINDS(X)                                                                             \
    X(amdahl)                                                                                      \
    X(gustafson)                                                                                   \
    X(sun_ni)                                                                                      \
    X(usba)                                                                                        \
    X(usba_scaled)                                                                                 \
    X(ernest)                                                                                      \
    X(interpolation)                                                                               \
    X(load_per_executor)                                                                           \
    X(power_law)                                                                                   \
    X(memory_spill)                                                                                \
    X(memory_cliff)                                                                                \
    X(worker_load)                                                                                 \
    X(combined)                                                                                    \
    X(pooled)                                                                                      \
    X(ipso)

#define MODEL_KIND_DECLARE(name) extern const struct model_kind name##_kind;
MODEL_KINDS(MODEL_KIND_DECLARE)
#undef MODEL_KIND_DECLARE

extern const struct model_kind *const model_kinds[]; /* NULL-terminated */

/* NULL: unknown. */
const struct model_kind *model_find_kind(const char *name);

#endif
