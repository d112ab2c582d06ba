#include "core/geo/plan.h"

const char *geo_reason_name(enum geo_reason reason)
{
    static const char *const names[GEO_REASONS] = {"not_admitted", "share_used",       "no_slot",
                                                   "bandwidth",    "rate_below_floor", "locality"};
    return names[reason];
}
