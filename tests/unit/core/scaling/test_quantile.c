#include "core/numerics/quantile.h"

#include <criterion/criterion.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

static const double values[] = {1, 2, 4, 8, 8, 20};
enum { N = sizeof values / sizeof *values };

Test(quantile, percentiles_are_those_of_gsl)
{
    for (double p = 0; p <= 1; p += 0.01)
        cr_expect_float_eq(quantile_of_sorted(values, N, p),
                           gsl_stats_quantile_from_sorted_data(values, 1, N, p), 1e-12, "%g", p);
    cr_expect_eq(quantile_of_sorted(values, 1, 0.9), 1);
    cr_expect(isnan(quantile_of_sorted(values, 0, 0.5)));
}

/* As many as there are come back one by one, and nothing lies beyond the ends. */
Test(quantile, midpoints_are_the_values)
{
    for (size_t i = 0; i < N; i++)
        cr_expect_eq(quantile_midpoint(values, N, ((double)i + 0.5) / N), values[i]);
    cr_expect_eq(quantile_midpoint(values, N, 0.01), 1);
    cr_expect_eq(quantile_midpoint(values, N, 0.99), 20);
}

Test(quantile, the_median_of_any_order)
{
    double even[] = {5, 1, 9, 3};
    double odd[] = {5, 1, 9};
    cr_expect_eq(quantile_median(even, 4), 4);
    cr_expect_eq(quantile_median(odd, 3), 5);
    cr_expect(isnan(quantile_median(odd, 0)));
}
