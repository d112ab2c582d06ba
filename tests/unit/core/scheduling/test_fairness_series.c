#include "core/scheduling/slots/fairness_series.h"

#include <criterion/criterion.h>

/* Two jobs from 0 on; the first holds two slots, the second one from 1 on. At 1/4: 2 and 0, index 1/2.
 * At 2: 2 and 1/2, (2.5)^2 / (2 x 4.25). From 4 on the second is alone. */
Test(fairness_series, by_hand)
{
    struct arena arena;
    struct fairness_series series;
    arena_init(&arena, 0);
    cr_assert(fairness_series_begin(&series, 2, 0, &arena));
    fairness_series_arrive(&series, 0, 0);
    fairness_series_arrive(&series, 1, 0);
    fairness_series_hold(&series, 0, 0, 2);
    fairness_series_advance(&series, 1);
    fairness_series_hold(&series, 1, 1, 1);
    fairness_series_advance(&series, 4);
    fairness_series_end(&series, 0);
    fairness_series_advance(&series, 8);
    const struct fairness_points *points = &series.points;
    cr_assert_eq(points->step_s, 1.0 / 16); /* 128 values; at 1/32 they would be 256 */
    cr_assert_eq(points->n, 128);
    cr_expect_eq(points->values[0], 1);
    cr_expect_float_eq(points->values[4], 0.5, 1e-12);
    cr_expect_float_eq(points->values[32], 6.25 / 8.5, 1e-12);
    cr_expect_eq(points->values[64], 1);
    arena_fini(&arena);
}

Test(fairness_series, long_gaps_make_no_more_values)
{
    struct arena arena;
    struct fairness_series series;
    arena_init(&arena, 0);
    cr_assert(fairness_series_begin(&series, 1, 5, &arena));
    fairness_series_advance(&series, 1e12);
    cr_expect_leq(series.points.n, FAIRNESS_SAMPLES_MAX);
    cr_expect_gt(series.points.n, FAIRNESS_SAMPLES_MAX / 2 - 1);
    cr_expect_lt(series.points.start_s + (double)(series.points.n - 1) * series.points.step_s,
                 1e12);
    for (size_t i = 0; i < series.points.n; i++)
        cr_expect_eq(series.points.values[i], 1);
    arena_fini(&arena);
}

/* Jobs that have ended are passed over, and dropped in halves: not one by one. */
Test(fairness_series, very_many_jobs_end_last_first, .timeout = 10)
{
    enum { JOBS = 400000 };
    struct arena arena;
    struct fairness_series series;
    arena_init(&arena, 0);
    cr_assert(fairness_series_begin(&series, JOBS, 0, &arena));
    for (size_t i = 0; i < JOBS; i++)
        fairness_series_arrive(&series, i, 0);
    fairness_series_hold(&series, 0, 0, 1);
    for (size_t i = JOBS; i-- > 1;)
        fairness_series_end(&series, i);
    fairness_series_advance(&series, 1);
    cr_expect_eq(series.points.values[1], 1);
    fairness_series_end(&series, 0);
    cr_expect_eq(series.n_active, 0);
    arena_fini(&arena);
}
