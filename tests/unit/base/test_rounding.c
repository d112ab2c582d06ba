#include "base/rounding.h"

#include <criterion/criterion.h>
#include <math.h>

Test(whole, a_number_that_arithmetic_moved_off_an_integer_is_that_integer)
{
    cr_expect_eq(rounding_ceil(16 + 4e-15), 16);
    cr_expect_eq(rounding_floor(16 - 4e-15), 16);
    /* 0.7 + 0.1 is a little under 0.8, times 10 a little under 8; 3 x 1.1 a little over 3.3. */
    cr_expect_eq(rounding_floor((0.7 + 0.1) * 10), 8);
    cr_expect_eq(rounding_ceil(3 * 1.1 * 10), 33);
}

Test(whole, the_tolerance_is_absolute_below_one_and_relative_above)
{
    cr_expect_eq(rounding_ceil(0.9e-9), 0);
    cr_expect_eq(rounding_ceil(1.1e-9), 1);
    cr_expect_eq(rounding_floor(-0.9e-9), 0);
    cr_expect_eq(rounding_floor(-1.1e-9), -1);
    cr_expect_eq(rounding_ceil(1e6 + 0.9e-3), 1e6);
    cr_expect_eq(rounding_ceil(1e6 + 1.1e-3), 1e6 + 1);
    cr_expect_eq(rounding_floor(1e6 - 0.9e-3), 1e6);
    cr_expect_eq(rounding_floor(1e6 - 1.1e-3), 1e6 - 1);
}

Test(whole, others_are_rounded_as_usual)
{
    cr_expect_eq(rounding_ceil(2.5), 3);
    cr_expect_eq(rounding_floor(2.5), 2);
    cr_expect_eq(rounding_ceil(-2.5), -2);
    cr_expect_eq(rounding_floor(-2.5), -3);
}

Test(whole, infinities_and_nan_stay)
{
    cr_expect_eq(rounding_ceil(INFINITY), (double)INFINITY);
    cr_expect_eq(rounding_floor(-INFINITY), -(double)INFINITY);
    cr_expect(isnan(rounding_ceil(NAN)) && isnan(rounding_floor(NAN)));
}

Test(whole, a_time_is_no_shorter_than_what_it_is_made_of)
{
    /* Instants of 1e11 are 1.5e-5 apart. */
    double from = 99999999999.7;
    double to = from + 0.1003;
    cr_assert_lt(to - from, 0.1003);
    cr_expect_eq(rounding_elapsed(from, to, 0.1003), 0.1003);
    /* What is really shorter stays, and what is longer. */
    cr_expect_eq(rounding_elapsed(from, to, 0.2), to - from);
    cr_expect_eq(rounding_elapsed(from, to, 0.05), to - from);
    cr_expect_eq(rounding_elapsed(1, 2, 1.000001), 1);
}
