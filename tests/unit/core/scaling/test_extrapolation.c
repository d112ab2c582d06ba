/* How far a question lies from what was observed, by hand. */
#include "core/scaling/model/extrapolation.h"

#include <criterion/criterion.h>
#include <math.h>

static struct gap_axis axis_of(const double values[], size_t n)
{
    double copy[2 * GAP_VALUES_MAX];
    struct gap_axis axis;
    for (size_t i = 0; i < n; i++)
        copy[i] = values[i];
    gap_axis_make(copy, n, &axis);
    return axis;
}

static void expect_axis(const struct gap_axis *axis, const double values[], size_t n)
{
    cr_assert_eq(axis->n, n);
    for (size_t i = 0; i < n; i++)
        cr_expect_eq(axis->values[i], values[i]);
}

Test(extrapolation, an_axis_has_each_value_once)
{
    struct gap_axis axis = axis_of((const double[]){8, 2, 4, 2, 8 * (1 + 1e-10)}, 5);
    expect_axis(&axis, (const double[]){2, 4, 8}, 3);
    gap_axis_add(&axis, 4 * (1 - 1e-10));
    expect_axis(&axis, (const double[]){2, 4, 8}, 3);
    gap_axis_add(&axis, 3);
    gap_axis_add(&axis, 1);
    gap_axis_add(&axis, 16);
    expect_axis(&axis, (const double[]){1, 2, 3, 4, 8, 16}, 6);
    axis = axis_of(NULL, 0);
    cr_expect_eq(axis.n, 0);
    axis = axis_of((const double[]){5}, 1);
    expect_axis(&axis, (const double[]){5}, 1);
}

/* Of 127 values 64 are kept: every second one, both ends among them. A full axis takes no more. */
Test(extrapolation, of_many_values_evenly_spread_ones_are_kept)
{
    double values[127];
    for (size_t i = 0; i < 127; i++)
        values[i] = (double)(127 - i);
    struct gap_axis axis = axis_of(values, 127);
    cr_assert_eq(axis.n, 64);
    for (size_t i = 0; i < 64; i++)
        cr_expect_eq(axis.values[i], 1.0 + 2.0 * (double)i);
    gap_axis_add(&axis, 2);
    cr_expect_eq(axis.n, 64);
}

/* In widths of the range, at least one doubling. */
Test(extrapolation, overshoot_of_a_range)
{
    const double wide[] = {2, 32}, single[] = {8, 8}, unknown[] = {(double)NAN, (double)NAN};
    cr_expect_eq(gap_overshoot(wide, 2), 0);
    cr_expect_eq(gap_overshoot(wide, 32), 0);
    cr_expect_float_eq(gap_overshoot(wide, 64), 0.25, 1e-12);
    cr_expect_float_eq(gap_overshoot(wide, 1), 0.25, 1e-12);
    cr_expect_float_eq(gap_overshoot(single, 32), 2, 1e-12);
    cr_expect_float_eq(gap_overshoot(single, 4), 1, 1e-12);
    cr_expect_eq(gap_overshoot(unknown, 4), 0);
}

/* sqrt(a b / (a + b)) between neighbours; beyond the ends sqrt(a), more by the widths of the range. */
Test(extrapolation, gaps_within_and_beyond)
{
    const struct gap_axis axis = axis_of((const double[]){2, 8, 32}, 3);
    cr_expect_eq(gap_at(&axis, 8), 0);
    cr_expect_eq(gap_at(&axis, 8 * (1 + 1e-10)), 0);
    cr_expect_float_eq(gap_at(&axis, 4), sqrt(log(2) / 2), 1e-12);
    cr_expect_float_eq(gap_at(&axis, 16), sqrt(log(2) / 2), 1e-12);
    cr_expect_float_eq(gap_at(&axis, 5), sqrt(log(2.5) * log(1.6) / log(4)), 1e-12);
    cr_expect_float_eq(gap_at(&axis, 64), sqrt(log(2)) * 1.25, 1e-12);
    cr_expect_float_eq(gap_at(&axis, 1), sqrt(log(2)) * 1.25, 1e-12);
    const struct gap_axis one = axis_of((const double[]){8}, 1), none = {.n = 0};
    cr_expect_float_eq(gap_at(&one, 32), sqrt(log(4)) * 3, 1e-12);
    cr_expect_eq(gap_at(&none, 32), 0);
}

/* Below the least count errors are larger, of longer times twice as much. */
Test(extrapolation, below_the_least_count_errors_count_more)
{
    const struct gap_axis axis = axis_of((const double[]){4, 8}, 2), none = {.n = 0};
    static const double counts[] = {3.9, 4, 4 * (1 - 1e-10), 6, 9};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct gap_weight weight = gap_below(&axis, counts[i]);
        cr_expect_eq(weight.longer, i == 0 ? 2.5 : 1);
        cr_expect_eq(weight.shorter, i == 0 ? 1.25 : 1);
    }
    cr_expect_eq(gap_below(&none, 1).longer, 1);
}
