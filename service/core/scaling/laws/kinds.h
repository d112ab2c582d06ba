#ifndef CORE_SCALING_LAWS_KINDS_H
#define CORE_SCALING_LAWS_KINDS_H

#include "core/scaling/model/law.h"

/* All kinds of models that there are. */
extern const struct model_kind *const model_kinds[]; /* NULL-terminated */

/* NULL: unknown. */
const struct model_kind *model_find_kind(const char *name);

#endif
