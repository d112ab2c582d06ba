#include "core/geo/time_slot.h"

#include <criterion/criterion.h>
#include <float.h>

/* Three slots are survived when each is: 1 - 0.9^3. */
Test(geo_slot, longer_slots_are_several)
{
    cr_expect_float_eq(geo_time_slot_unreachable(0.1, 2, 6), 0.271, 1e-15);
    cr_expect_float_eq(geo_time_slot_unreachable(0.271, 6, 2), 0.1, 1e-15);
}

Test(geo_slot, the_same_length_changes_nothing)
{
    cr_expect_eq(geo_time_slot_unreachable(0.3, 0.7, 0.7), 0.3);
    cr_expect_eq(geo_time_slot_unreachable(0, 1, 60), 0);
    cr_expect_eq(geo_time_slot_unreachable(1, 60, 1), 1);
}

/* A probability far below 1e-16 of what 1 - p can hold. */
Test(geo_slot, small_probabilities_keep_their_digits)
{
    cr_expect_float_eq(geo_time_slot_unreachable(1e-20, 1, 60) / 60e-20, 1, 4 * DBL_EPSILON);
}
