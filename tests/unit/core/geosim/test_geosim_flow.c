#include "core/geosim/comparison.h"

#include <criterion/criterion.h>
#include <math.h>

#include "core/sim/statistics.h"

static struct arena arena;

static void setup(void)
{
    arena_init(&arena, 0);
}

static void teardown(void)
{
    arena_fini(&arena);
}

TestSuite(geosim_flow, .init = setup, .fini = teardown);

Test(geosim_flow, repetitions_are_averaged_by_workflow)
{
    const double one[] = {10, 20, 30};
    const double two[] = {20, (double)NAN, 10};
    const double *const runs[] = {one, two};
    double mean[3];
    comparison_average(runs, 2, 3, mean);
    cr_expect_eq(mean[0], 15);
    cr_expect(isnan(mean[1]), "what was given up once has no mean");
    cr_expect_eq(mean[2], 20);
}

Test(geosim_flow, reduction_is_a_share_of_the_other)
{
    const double flow[] = {10, 30, (double)NAN, 5};
    const double other[] = {40, 20, 20, (double)NAN};
    double cut[4];
    comparison_reduction(flow, other, 4, cut);
    cr_expect_eq(cut[0], 0.75);
    cr_expect_eq(cut[1], -0.5, "it takes longer");
    cr_expect(isnan(cut[2]) && isnan(cut[3]));
}

Test(geosim_flow, quantiles_and_points_of_the_distribution)
{
    const double figures[] = {40, 10, (double)NAN, 20, 30};
    struct sorted_sample sample;
    cr_assert(sorted_sample_make(&sample, figures, 5, &arena));
    cr_expect_eq(sample.n, 4);
    cr_expect_eq(sample.absent, 1);
    cr_expect_eq(sample.mean, 25);
    cr_expect_eq(sorted_sample_quantile(&sample, 0), 10);
    cr_expect_eq(sorted_sample_quantile(&sample, 0.5), 25, "type 7: between 20 and 30");
    cr_expect_float_eq(sorted_sample_quantile(&sample, 0.9), 37, 1e-12);
    cr_expect_eq(sorted_sample_share_within(&sample, 20), 0.4,
                 "2 of 5: the one without a figure counts");
    cr_expect_eq(sorted_sample_share_within(&sample, 9.9), 0);
    cr_expect_eq(sorted_sample_share_within(&sample, 1e9), 0.8);
}

Test(geosim_flow, nothing_has_no_figures)
{
    struct sorted_sample sample;
    cr_assert(sorted_sample_make(&sample, NULL, 0, &arena));
    cr_expect(isnan(sample.mean));
    cr_expect(isnan(sorted_sample_quantile(&sample, 0.5)));
    cr_expect(isnan(sorted_sample_share_within(&sample, 1)));
}
