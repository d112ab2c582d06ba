#ifndef CORE_GEO_PLANNERS_FLUTTER_H
#define CORE_GEO_PLANNERS_FLUTTER_H

#include "core/geo/placement.h"

/* Flutter's placement (described in flutter.c), which Mantri and Dolly build on: costs are seconds.
 * The allocation is open. false: out of memory. */
bool flutter_make(struct placement *placement, struct allocation *allocation);

#endif
