#include "core/scaling/laws/kinds.h"

#include <string.h>

#include "core/scaling/laws/amdahl.h"
#include "core/scaling/laws/combined.h"
#include "core/scaling/laws/ernest.h"
#include "core/scaling/laws/gustafson.h"
#include "core/scaling/laws/interpolation.h"
#include "core/scaling/laws/ipso/ipso_kind.h"
#include "core/scaling/laws/load_laws.h"
#include "core/scaling/laws/pooled.h"
#include "core/scaling/laws/sun_ni.h"
#include "core/scaling/laws/usba.h"
#include "core/scaling/laws/usba_scaled.h"

const struct model_kind *const model_kinds[] = {
    &amdahl_kind, &gustafson_kind,     &sun_ni_kind, &usba_kind,  &usba_scaled_kind,
    &ernest_kind, &interpolation_kind, &load_kind,   &power_kind, &spill_kind,
    &cliff_kind,  &combined_kind,      &pooled_kind, &ipso_kind,  NULL,
};

const struct model_kind *model_find_kind(const char *name)
{
    for (size_t i = 0; model_kinds[i] != NULL; i++)
        if (strcmp(model_kinds[i]->name, name) == 0)
            return model_kinds[i];
    return NULL;
}
