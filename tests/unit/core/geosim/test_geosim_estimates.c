#include "core/geosim/estimates.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "core/geosim/draws.h"

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* E(1 + s z given 1 + s z > c) with c GEOSIM_LEAST_SHARE, in closed form. */
static double mean_of_truncated(double s)
{
    double z = (GEOSIM_LEAST_SHARE - 1) / s;
    double above = erfc(z / sqrt(2)) / 2;
    return 1 + s * exp(-z * z / 2) / sqrt(2 * acos(-1.0)) / above;
}

/* However few the points, planners know the mean that draws have. */
Test(geosim_estimates, the_mean_is_exact)
{
    static const double spreads[] = {0.2, 0.5, 0.85};
    for (size_t i = 0; i < sizeof spreads / sizeof *spreads; i++) {
        for (size_t n = 1; n <= SPEEDS_POINTS_MAX; n++) {
            struct speeds speeds;
            geosim_estimate_normal(&(struct geosim_normal){200, spreads[i]}, n, &speeds);
            cr_expect(speeds.n <= n);
            cr_expect_float_eq(speeds.mean, 200 * mean_of_truncated(spreads[i]), 1e-9);
        }
    }
}

Test(geosim_estimates, points_are_equally_likely)
{
    struct speeds speeds;
    geosim_estimate_normal(&(struct geosim_normal){10, 0.2}, 8, &speeds);
    cr_assert_eq(speeds.n, 8);
    for (size_t i = 0; i < 8; i++) {
        cr_expect_float_eq(speeds.probability[i], 0.125, 1e-12);
        cr_expect_float_eq(speeds.value[i] + speeds.value[7 - i], 20, 1e-4, "even about the mean");
    }
}

/* Nothing is at the cut, and the lowest of 8 points is what the lowest eighth of draws comes to. */
Test(geosim_estimates, the_lowest_point_is_the_mean_of_the_lowest_draws)
{
    enum { N = 200000 };
    static double drawn[N];
    const struct geosim_normal normal = {10, 0.85};
    struct rng rng = rng_make(1, 1);
    struct speeds speeds;
    double sum = 0;
    double below;
    for (size_t i = 0; i < N; i++)
        drawn[i] = geosim_normal_draw(&normal, &rng);
    qsort(drawn, N, sizeof *drawn, ascending);
    for (size_t i = 0; i < N / 8; i++)
        sum += drawn[i];
    below = sum / (N / 8);
    geosim_estimate_normal(&normal, 8, &speeds);
    cr_expect_float_eq(speeds.value[0], below, 0.01 * below);
    cr_expect_gt(speeds.value[0], 2 * 10 * GEOSIM_LEAST_SHARE);
    geosim_estimate_normal(&normal, 32, &speeds);
    cr_expect_eq(speeds.n, 32, "no two points fall together");
}

Test(geosim_estimates, without_spread_there_is_one_point)
{
    struct speeds speeds;
    geosim_estimate_normal(&(struct geosim_normal){10, 0}, 8, &speeds);
    cr_expect_eq(speeds.n, 1);
    cr_expect_eq(speeds.value[0], 10);
}

/* Draws have the mean and spread that planners are told, within 4 standard errors. */
Test(geosim_estimates, draws_come_from_what_is_estimated)
{
    const struct geosim_normal normal = {100, 0.6};
    const size_t n = 20000;
    struct speeds speeds;
    double power = 0;
    double transfer = 0;
    geosim_estimate_normal(&normal, 32, &speeds);
    for (size_t i = 0; i < n; i++) {
        const struct draw_key of = {i % 100, i / 100, 3, 0};
        power += draw_power(1, &of, &normal) / (double)n;
        transfer += draw_transfer(1, &of, 7, &normal) / (double)n;
    }
    double error = 4 * sqrt(speeds.variance / (double)n);
    cr_expect_float_eq(power, speeds.mean, error);
    cr_expect_float_eq(transfer, speeds.mean, error);
}

/* Each of what a draw depends on makes it another; nothing else does. */
Test(geosim_estimates, luck_is_keyed)
{
    const struct geosim_normal normal = {100, 0.3};
    const struct draw_key of = {1, 2, 3, 4};
    double power = draw_power(9, &of, &normal);
    cr_expect_eq(draw_power(9, &of, &normal), power);
    cr_expect_neq(draw_power(8, &of, &normal), power);
    cr_expect_neq(draw_power(9, &(struct draw_key){0, 2, 3, 4}, &normal), power);
    cr_expect_neq(draw_power(9, &(struct draw_key){1, 0, 3, 4}, &normal), power);
    cr_expect_neq(draw_power(9, &(struct draw_key){1, 2, 0, 4}, &normal), power);
    cr_expect_neq(draw_power(9, &(struct draw_key){1, 2, 3, 0}, &normal), power);
    cr_expect_neq(draw_transfer(9, &of, 0, &normal), draw_transfer(9, &of, 1, &normal));
}

/* The slots before an outage are geometric: mean (1 - p)/p. */
Test(geosim_estimates, outages_come_with_their_probability)
{
    const size_t n = 20000;
    const double p = 0.1;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += draw_slots_until_outage(5, i % 50, i / 50, p);
    cr_expect_float_eq(sum / (double)n, 9, 4 * sqrt((1 - p) / p / p / (double)n));
    cr_expect_eq(draw_slots_until_outage(5, 0, 0, 1), 0);
    cr_expect(isinf(draw_slots_until_outage(5, 0, 0, 0)));
}
