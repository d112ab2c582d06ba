#include "core/geo/speeds.h"

#include <criterion/criterion.h>
#include <math.h>

#include "base/rng.h"

enum { CASES = 300 };

static struct speeds draw(struct rng *rng, size_t n)
{
    struct speed_point points[200];
    struct speeds made;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        /* On a coarse grid, so that values of two meet now and then. */
        points[i] = (struct speed_point){1 + floor(40 * rng_uniform(rng)), rng_uniform(rng)};
        sum += points[i].probability;
    }
    for (size_t i = 0; i < n; i++)
        points[i].probability /= sum;
    speeds_make(points, n, &made);
    return made;
}

static void expect_near(double got, double want, const char *what)
{
    cr_expect(fabs(got - want) <= 1e-12 * fmax(1, fabs(want)), "%s: %.17g, not %.17g", what, got,
              want);
}

static void expect_sound(const struct speeds *s)
{
    double sum = 0;
    double mean = 0;
    double variance = 0;
    for (size_t i = 0; i < s->n; i++) {
        cr_assert(s->probability[i] > 0);
        cr_assert(i == 0 || s->value[i] > s->value[i - 1], "values rise");
        sum += s->probability[i];
        mean += s->probability[i] * s->value[i];
    }
    for (size_t i = 0; i < s->n; i++)
        variance += s->probability[i] * pow(s->value[i] - mean, 2);
    expect_near(sum, 1, "sum");
    expect_near(s->mean, mean, "mean");
    expect_near(s->variance, variance, "variance");
}

Test(geo_speeds, joins_equal_values_and_drops_what_never_happens)
{
    struct speed_point points[] = {{8, 0.25}, {2, 0.5}, {5, 0}, {8, 0.25}};
    struct speeds made;
    speeds_make(points, 4, &made);
    cr_assert_eq(made.n, 2);
    cr_expect_eq(made.value[0], 2);
    cr_expect_eq(made.probability[1], 0.5);
    cr_expect_eq(made.mean, 5);
    cr_expect_eq(made.variance, 9);
}

Test(geo_speeds, nothing_is_unknown)
{
    struct speeds made;
    speeds_make(NULL, 0, &made);
    cr_expect_eq(made.n, 0);
}

/* Against every combination of two. */
Test(geo_speeds, sums_minima_and_maxima_are_those_of_all_pairs)
{
    struct rng rng = rng_make(11, 0);
    for (size_t i = 0; i < CASES; i++) {
        struct speeds a = draw(&rng, 1 + (size_t)(6 * rng_uniform(&rng)));
        struct speeds b = draw(&rng, 1 + (size_t)(6 * rng_uniform(&rng)));
        double sum = 0;
        double least = 0;
        double greatest = 0;
        double below = 0; /* P(max <= 20) */
        for (size_t k = 0; k < a.n; k++) {
            for (size_t l = 0; l < b.n; l++) {
                double p = a.probability[k] * b.probability[l];
                sum += p * (a.value[k] + b.value[l]);
                least += p * fmin(a.value[k], b.value[l]);
                greatest += p * fmax(a.value[k], b.value[l]);
                below += p * (fmax(a.value[k], b.value[l]) <= 20);
            }
        }
        struct speeds made;
        speeds_add(&a, &b, &made);
        expect_sound(&made);
        expect_near(made.mean, sum, "sum");
        speeds_min(&a, &b, &made);
        expect_sound(&made);
        expect_near(made.mean, least, "least");
        expect_near(speeds_min_mean(&a, &b), least, "mean of the least");
        speeds_max(&a, &b, &made);
        expect_sound(&made);
        expect_near(made.mean, greatest, "greatest");
        expect_near(speeds_max_mean(&a, &b), greatest, "mean of the greatest");
        double got = 0;
        for (size_t k = 0; k < made.n && made.value[k] <= 20; k++)
            got += made.probability[k];
        expect_near(got, below, "distribution of the greatest");
        cr_expect(speeds_max_upper_bound(a.mean, a.variance, b.mean, b.variance) >=
                  greatest - 1e-12);
    }
}

Test(geo_speeds, compression_keeps_the_mean_and_moves_no_value_by_more_than_a_bin)
{
    struct rng rng = rng_make(12, 0);
    for (size_t i = 0; i < CASES; i++) {
        struct speed_point points[200];
        double mean = 0;
        double low = HUGE_VAL;
        double high = 0;
        for (size_t k = 0; k < 200; k++) {
            points[k] = (struct speed_point){rng_lognormal(&rng, 1e6, 1.5), 1.0 / 200};
            mean += points[k].value / 200;
            low = fmin(low, points[k].value);
            high = fmax(high, points[k].value);
        }
        struct speeds made;
        speeds_make(points, 200, &made);
        cr_assert(made.n <= SPEEDS_POINTS_MAX);
        expect_sound(&made);
        expect_near(made.mean, mean, "mean");
        cr_expect(made.value[0] - low <= (high - low) / SPEEDS_POINTS_MAX);
        cr_expect(high - made.value[made.n - 1] <= (high - low) / SPEEDS_POINTS_MAX);
    }
}

Test(geo_speeds, sums_of_many_points_keep_mean_and_ends)
{
    struct rng rng = rng_make(13, 0);
    for (size_t i = 0; i < CASES; i++) {
        struct speeds a = draw(&rng, 30);
        struct speeds b = draw(&rng, 30);
        struct speeds made;
        speeds_add(&a, &b, &made);
        cr_assert(made.n <= SPEEDS_POINTS_MAX);
        expect_sound(&made);
        expect_near(made.mean, a.mean + b.mean, "mean of the sum");
        cr_expect(made.variance <= a.variance + b.variance + 1e-9, "compression adds no spread");
    }
}

Test(geo_speeds, scaling_scales)
{
    struct speed_point points[] = {{2, 0.5}, {4, 0.5}};
    struct speeds made;
    speeds_make(points, 2, &made);
    speeds_scale(&made, 0.5);
    cr_expect_eq(made.mean, 1.5);
    cr_expect_eq(made.variance, 0.25);
    cr_expect_eq(made.value[1], 2);
}
