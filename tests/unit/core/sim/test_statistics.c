#include "core/sim/statistics.h"

#include <criterion/criterion.h>
#include <math.h>

#include "base/rng.h"
#include "core/sim/clock.h"

static struct arena arena;

static void setup(void)
{
    arena_init(&arena, 0);
}

static void teardown(void)
{
    arena_fini(&arena);
}

TestSuite(sim_statistics, .init = setup, .fini = teardown);

/* Ten million tenths: plain summation is off in the tenth digit. Terms that cancel lose all. */
Test(sim_statistics, compensated_sums_are_exact_to_the_last_digit)
{
    struct compensated_sum sum = {0, 0};
    struct compensated_sum cancelling = {0, 0};
    double plain = 0;
    for (size_t i = 0; i < 10000000; i++) {
        compensated_sum_add(&sum, 0.1);
        plain += 0.1;
    }
    cr_expect_float_eq(compensated_sum_value(&sum), 1e6, 1e-9);
    cr_expect(fabs(plain - 1e6) > 1e-5);
    static const double terms[] = {1, 1e100, 1, -1e100};
    for (size_t i = 0; i < 4; i++)
        compensated_sum_add(&cancelling, terms[i]);
    cr_expect_eq(compensated_sum_value(&cancelling), 2);
}

Test(sim_statistics, moments_of_values_far_from_0)
{
    struct running_moments moments = {0};
    static const double values[] = {4, 7, 13, 16};
    cr_expect(isnan(running_moments_variance(&moments)));
    for (size_t i = 0; i < 4; i++)
        running_moments_add(&moments, 1e9 + values[i]);
    cr_expect_float_eq(moments.mean, 1e9 + 10, 1e-6);
    cr_expect_float_eq(running_moments_variance(&moments), 30, 1e-6,
                       "E(x^2) - E(x)^2 is all rounding");
    cr_expect_float_eq(running_moments_standard_error(&moments), sqrt(30.0 / 4), 1e-6);
}

Test(sim_statistics, merged_moments_are_those_of_all)
{
    struct rng rng = rng_make(1, 1);
    struct running_moments all = {0};
    struct running_moments parts[3] = {{0}};
    for (size_t i = 0; i < 1000; i++) {
        double value = rng_lognormal(&rng, 10, 1);
        running_moments_add(&all, value);
        running_moments_add(&parts[i % 7 < 2], value); /* the third one stays empty */
    }
    running_moments_merge(&parts[2], &parts[0]);
    running_moments_merge(&parts[2], &parts[1]);
    running_moments_merge(&parts[2], &(struct running_moments){0});
    cr_expect_eq(parts[2].n, 1000);
    cr_expect_float_eq(parts[2].mean, all.mean, 1e-9);
    cr_expect_float_eq(running_moments_variance(&parts[2]), running_moments_variance(&all), 1e-7);
}

/* 2 from 1 to 4, 5 from 4 to 6: the area is 16. */
Test(sim_statistics, averages_over_time)
{
    struct time_average busy = {0};
    cr_expect(isnan(time_average_until(&busy, 0)));
    time_average_set(&busy, 1, 2);
    time_average_set(&busy, 4, 5);
    cr_expect_float_eq(time_average_until(&busy, 6), 16.0 / 6, 1e-12);
    time_average_set(&busy, 6, 0);
    cr_expect_float_eq(time_average_until(&busy, 16), 1, 1e-12);
}

Test(sim_statistics, sorted_samples)
{
    const double values[] = {30, (double)NAN, 10, 20, 40};
    struct sorted_sample sample;
    cr_assert(sorted_sample_make(&sample, values, 5, &arena));
    cr_expect(sample.n == 4 && sample.absent == 1 && sample.mean == 25);
    cr_expect_eq(sorted_sample_quantile(&sample, 0), 10);
    cr_expect_eq(sorted_sample_quantile(&sample, 1), 40);
    cr_expect_float_eq(sorted_sample_quantile(&sample, 0.5), 25, 1e-12);
    cr_expect_float_eq(sorted_sample_quantile(&sample, 0.1), 13, 1e-12, "type 7");
    cr_expect_float_eq(sorted_sample_share_within(&sample, 20), 0.4, 1e-12);
    cr_assert(sorted_sample_make(&sample, values, 0, &arena));
    cr_expect(isnan(sample.mean) && isnan(sorted_sample_quantile(&sample, 0.5)) &&
              isnan(sorted_sample_share_within(&sample, 1)));
}

Test(sim_statistics, slots_of_time)
{
    struct sim_clock clock = {0};
    sim_clock_advance(&clock, 3);
    sim_clock_advance(&clock, 3);
    cr_expect_eq(clock.now_s, 3);
    cr_expect_eq(sim_clock_slot(0, 0.1), 0);
    cr_expect_eq(sim_clock_slot(0.3, 0.1), 3, "0.3/0.1 is 2.9999999999999996");
    cr_expect_eq(sim_clock_slot(0.31, 0.1), 4);
}
