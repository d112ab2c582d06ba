#include "core/geo/performance.h"

#include <criterion/criterion.h>
#include <math.h>

#include "base/rng.h"

enum { SAMPLES = 2000, CASES = 40 };
static const int64_t DAY_US = INT64_C(86400000000);
static const int64_t START_US = INT64_C(1700000000123456);
static const struct performance_terms WEEK = {.half_life_s = 7 * 86400, .points = 16};

static void expect_near(double got, double want, double tolerance, const char *what)
{
    cr_expect(fabs(got - want) <= tolerance * fmax(fabs(want), 1e-300), "%s: %.17g, not %.17g",
              what, got, want);
}

/* Speeds that spread over a factor of some ten, times over about a month. */
static void draw(struct rng *rng, struct performance_sample samples[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        samples[i] = (struct performance_sample){
            START_US + (int64_t)(30 * rng_uniform(rng) * (double)DAY_US),
            1e7 * exp(2.3 * rng_uniform(rng))};
}

static void add_all(struct performance *made,
                    const struct performance_terms *terms,
                    const struct performance_sample samples[],
                    size_t n)
{
    performance_init(made);
    for (size_t i = 0; i < n; i++)
        performance_add(made, terms, &samples[i]);
}

static void shuffle(struct rng *rng, struct performance_sample samples[], size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)((double)i * rng_uniform(rng));
        struct performance_sample held = samples[j];
        samples[j] = samples[i - 1];
        samples[i - 1] = held;
    }
}

static void expect_same(const struct performance *a, const struct performance *b)
{
    cr_assert_eq(a->n, b->n, "%zu bins and %zu", a->n, b->n);
    cr_expect_eq(a->level, b->level);
    cr_expect_eq(a->samples, b->samples);
    cr_expect_eq(a->newest_us, b->newest_us);
    cr_expect_eq(a->landmark_us, b->landmark_us);
    for (size_t i = 0; i < a->n; i++) {
        cr_expect_eq(a->index[i], b->index[i]);
        expect_near(a->weight[i], b->weight[i], 1e-12, "weight");
        expect_near(a->mass[i], b->mass[i], 1e-12, "mass");
    }
}

Test(performance, nothing_is_unknown)
{
    struct performance none;
    struct speeds speeds;
    performance_init(&none);
    performance_speeds(&none, &speeds);
    cr_expect_eq(speeds.n, 0);
    cr_expect_eq(performance_weight(&none, START_US), 0);
}

Test(performance, a_sample_counts_half_after_each_half_life)
{
    struct performance made;
    const struct performance_sample sample = {START_US, 5e6};
    add_all(&made, &WEEK, &sample, 1);
    expect_near(performance_weight(&made, START_US), 1, 1e-14, "at once");
    expect_near(performance_weight(&made, START_US + 7 * DAY_US), 0.5, 1e-14, "after a week");
    expect_near(performance_weight(&made, START_US + 21 * DAY_US), 0.125, 1e-14, "after three");
    expect_near(performance_weight(&made, START_US - DAY_US), 1, 1e-14, "never more than it was");
}

Test(performance, an_older_sample_counts_less_than_a_newer_one)
{
    struct performance made;
    struct speeds speeds;
    const struct performance_sample samples[] = {{START_US, 1e6}, {START_US + 14 * DAY_US, 4e6}};
    add_all(&made, &WEEK, samples, 2);
    performance_speeds(&made, &speeds);
    cr_assert_eq(speeds.n, 2);
    expect_near(speeds.probability[0], 0.2, 1e-14, "a quarter of the other's");
    expect_near(speeds.value[0], 1e6, 1e-14, "slow");
    expect_near(speeds.value[1], 4e6, 1e-14, "fast");
}

Test(performance, the_mean_is_that_of_the_samples)
{
    struct rng rng = rng_make(71, 0);
    for (size_t c = 0; c < CASES; c++) {
        struct performance_sample samples[SAMPLES];
        struct performance made;
        struct speeds speeds;
        double weight = 0;
        double mass = 0;
        draw(&rng, samples, SAMPLES);
        add_all(&made, &WEEK, samples, SAMPLES);
        for (size_t i = 0; i < SAMPLES; i++) {
            double w = exp2((double)(samples[i].at_us - START_US) / (7.0 * (double)DAY_US));
            weight += w;
            mass += w * samples[i].value;
        }
        performance_speeds(&made, &speeds);
        expect_near(speeds.mean, mass / weight, 1e-12, "mean");
        cr_expect_leq(speeds.n, WEEK.points);
        cr_expect_eq(made.samples, SAMPLES);
    }
}

Test(performance, order_does_not_matter)
{
    struct rng rng = rng_make(72, 0);
    for (size_t c = 0; c < CASES; c++) {
        struct performance_sample samples[SAMPLES];
        struct performance first;
        struct performance second;
        draw(&rng, samples, SAMPLES);
        add_all(&first, &WEEK, samples, SAMPLES);
        shuffle(&rng, samples, SAMPLES);
        add_all(&second, &WEEK, samples, SAMPLES);
        expect_same(&first, &second);
    }
}

/* What two writers keep apart is what one would have kept. */
Test(performance, merging_is_adding)
{
    struct rng rng = rng_make(73, 0);
    struct performance_sample samples[SAMPLES];
    struct performance whole;
    struct performance left;
    struct performance right;
    draw(&rng, samples, SAMPLES);
    add_all(&whole, &WEEK, samples, SAMPLES);
    add_all(&left, &WEEK, samples, SAMPLES / 3);
    add_all(&right, &WEEK, samples + SAMPLES / 3, SAMPLES - SAMPLES / 3);
    performance_merge(&left, &WEEK, &right);
    expect_same(&whole, &left);
}

Test(performance, bins_stay_within_the_bound_whatever_comes)
{
    struct rng rng = rng_make(74, 0);
    for (size_t points = 2; points <= PERFORMANCE_BINS_MAX; points++) {
        const struct performance_terms terms = {.half_life_s = 3600, .points = points};
        struct performance made;
        struct speeds speeds;
        double last = 0;
        performance_init(&made);
        for (size_t i = 0; i < 300; i++) {
            const struct performance_sample sample = {START_US, exp2(60 * rng_uniform(&rng) - 30)};
            performance_add(&made, &terms, &sample);
            cr_assert_leq(made.n, points);
        }
        performance_speeds(&made, &speeds);
        cr_assert_gt(speeds.n, 0);
        for (size_t i = 0; i < speeds.n; i++) {
            cr_expect_gt(speeds.value[i], last);
            last = speeds.value[i];
        }
    }
}

Test(performance, the_least_and_the_greatest_double_are_taken)
{
    struct performance made;
    struct speeds speeds;
    const struct performance_terms two = {.half_life_s = 1, .points = 2};
    const struct performance_sample samples[] = {{0, 5e-324}, {0, 1e18}, {0, 1}};
    add_all(&made, &two, samples, 3);
    performance_speeds(&made, &speeds);
    cr_expect_leq(made.n, 2);
    expect_near(speeds.mean, (1e18 + 1) / 3, 1e-12, "mean");
}

/* Bins that were widened by values long gone become narrow again. */
Test(performance, what_has_faded_leaves_no_trace)
{
    struct rng rng = rng_make(75, 0);
    struct performance made;
    struct performance fresh;
    const struct performance_terms terms = {.half_life_s = 60, .points = 8};
    performance_init(&made);
    performance_init(&fresh);
    for (size_t i = 0; i < 500; i++) {
        const struct performance_sample sample = {START_US, exp2(50 * rng_uniform(&rng))};
        performance_add(&made, &terms, &sample);
    }
    cr_assert_gt(made.level, 0);
    for (size_t i = 0; i < 8; i++) {
        const struct performance_sample sample = {START_US + DAY_US, 1e6 * (1 + 0.05 * (double)i)};
        performance_add(&made, &terms, &sample);
        performance_add(&fresh, &terms, &sample);
    }
    cr_expect_eq(made.samples, 508, "all are counted");
    made.samples = fresh.samples;
    expect_same(&made, &fresh);
}

Test(performance, another_half_life_holds_from_the_newest_sample_on)
{
    struct performance made;
    const struct performance_sample samples[] = {{START_US, 1e6}, {START_US + 7 * DAY_US, 1e6}};
    const struct performance_terms day = {.half_life_s = 86400, .points = 16};
    const struct performance_sample third = {START_US + 8 * DAY_US, 1e6};
    add_all(&made, &WEEK, samples, 2);
    performance_add(&made, &day, &third);
    expect_near(performance_weight(&made, third.at_us), (1 + 0.5) / 2 + 1, 1e-12, "weight");
}

Test(performance, it_is_forgotten_when_it_says)
{
    struct rng rng = rng_make(76, 0);
    struct performance_sample samples[100];
    struct performance made;
    draw(&rng, samples, 100);
    add_all(&made, &WEEK, samples, 100);
    int64_t forgotten_us = performance_forgotten_us(&made);
    cr_expect_gt(forgotten_us, made.newest_us + 60 * DAY_US);
    cr_expect_eq(performance_weight(&made, forgotten_us + 1000), 0);
    expect_near(performance_weight(&made, forgotten_us - 1000), PERFORMANCE_FORGOTTEN, 1e-6,
                "last");
}
