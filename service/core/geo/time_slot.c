#include "core/geo/time_slot.h"

#include <math.h>

double geo_time_slot_unreachable(double probability, double slot_s, double asked_s)
{
    /* Exact where the lengths are the same, and precise where the probability is small. */
    if (slot_s == asked_s || probability <= 0 || probability >= 1)
        return probability;
    return -expm1(asked_s / slot_s * log1p(-probability));
}
