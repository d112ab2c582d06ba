#include "core/sim/occupancy.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"

enum { BINS = 8, SPANS = 400 };

static struct arena arena;

static struct occupancy make(uint32_t series, double origin_s)
{
    struct occupancy occupancy;
    arena_init(&arena, 0);
    cr_assert(occupancy_init(&occupancy, series, BINS, origin_s, &arena));
    return occupancy;
}

/* From 1 to 5 one, from 3 to 4 another one: bins of a second from 0 on. */
Test(occupancy, means_by_hand)
{
    static const double expected[] = {0, 1, 1, 2, 1};
    double means[BINS];
    struct occupancy occupancy = make(2, 0);
    occupancy_span(&occupancy, 1, 1, 5);
    occupancy_span(&occupancy, 1, 3, 4);
    cr_assert_eq(occupancy.width_s, 1);
    cr_assert_eq(occupancy_means(&occupancy, 1, 5, means), 5);
    for (int i = 0; i < 5; i++)
        cr_expect_float_eq(means[i], expected[i], 1e-12);
    cr_assert_eq(occupancy_means(&occupancy, 0, 5, means), 5);
    for (int i = 0; i < 5; i++)
        cr_expect_eq(means[i], 0);
    arena_fini(&arena);
}

/* Of the last bin only what lies before the end counts: 6.5 to 7 of 6 to 8, so that it is half. */
Test(occupancy, last_bin_ends_with_time)
{
    double means[BINS];
    struct occupancy occupancy = make(1, 0);
    occupancy_span(&occupancy, 0, 6.5, 7);
    occupancy_stretch(&occupancy, 15);
    cr_assert_eq(occupancy.width_s, 2);
    cr_assert_eq(occupancy_means(&occupancy, 0, 7, means), 4);
    cr_expect_float_eq(means[2], 0, 1e-12);
    cr_expect_float_eq(means[3], 0.5, 1e-12);
    arena_fini(&arena);
}

Test(occupancy, begins_at_its_origin)
{
    double means[BINS];
    struct occupancy occupancy = make(1, 1e9);
    occupancy_span(&occupancy, 0, 1e9 + 0.5, 1e9 + 4);
    cr_assert_eq(occupancy.width_s, 1);
    cr_assert_eq(occupancy_means(&occupancy, 0, 1e9 + 4, means), 4);
    cr_expect_float_eq(means[0], 0.5, 1e-12);
    cr_expect_float_eq(means[3], 1, 1e-12);
    arena_fini(&arena);
}

/* What a bin holds of random spans, one by one. */
static double direct(double spans[][2], double from_s, double until_s)
{
    double area = 0;
    for (int i = 0; i < SPANS; i++)
        area += fmax(0, fmin(spans[i][1], until_s) - fmax(spans[i][0], from_s));
    return area / (until_s - from_s);
}

/* In any order, and however often widths doubled on the way. */
Test(occupancy, order_of_changes_does_not_matter)
{
    double spans[SPANS][2];
    double rising[BINS];
    double falling[BINS];
    double last_s = 0;
    struct rng rng = rng_make(4, 4);
    struct occupancy one = make(1, 0);
    struct occupancy other;
    cr_assert(occupancy_init(&other, 1, BINS, 0, &arena));
    for (int i = 0; i < SPANS; i++) {
        spans[i][0] = (double)i * rng_uniform(&rng);
        spans[i][1] = spans[i][0] + 30 * rng_uniform(&rng);
        last_s = fmax(last_s, spans[i][1]);
    }
    for (int i = 0; i < SPANS; i++) {
        occupancy_span(&one, 0, spans[i][0], spans[i][1]);
        occupancy_span(&other, 0, spans[SPANS - 1 - i][0], spans[SPANS - 1 - i][1]);
    }
    uint32_t n = occupancy_means(&one, 0, last_s, rising);
    cr_assert_eq(occupancy_means(&other, 0, last_s, falling), n);
    cr_assert(n > BINS / 2 && n <= BINS);
    cr_expect_eq(one.width_s, other.width_s);
    for (uint32_t i = 0; i < n; i++) {
        double expected = direct(spans, i * one.width_s, fmin((i + 1) * one.width_s, last_s));
        cr_expect_float_eq(rising[i], expected, 1e-9);
        cr_expect_float_eq(falling[i], expected, 1e-9);
    }
    arena_fini(&arena);
}
