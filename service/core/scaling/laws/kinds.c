#include "core/scaling/laws/kinds.h"

#include <string.h>

#define MODEL_KIND_ADDRESS(name) &name##_kind,
const struct model_kind *const model_kinds[] = {MODEL_KINDS(MODEL_KIND_ADDRESS) NULL};

const struct model_kind *model_find_kind(const char *name)
{
    for (size_t i = 0; model_kinds[i] != NULL; i++)
        if (strcmp(model_kinds[i]->name, name) == 0)
            return model_kinds[i];
    return NULL;
}
